"""The sections of an audit file."""

import builtins
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from tapas.datasets import Reading
from tapas.results import GATE_METRICS, Claim, Gate

GateMetric = Literal[GATE_METRICS]  # type: ignore[valid-type]
Share = Annotated[float, Field(ge=0, le=1)]
Ends = Annotated[list[int | float | str], Field(min_length=2, max_length=2)]
OpenShare = Annotated[float, Field(gt=0, lt=1)]
_GOALS = ("membership", "attribute", "canaries", "property")
_Part = TypeVar("_Part", bound="Part")


class Part(BaseModel):
    """A section of the file: no unknown key, no silent conversion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def _named(value: Any) -> Any:
    """A bare name stands for a component without parameters."""
    return {"use": value} if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """One thing stands for a list of one."""
    return [value] if isinstance(value, (dict, str)) else value


def bare_goal(value: Any) -> Any:
    """A bare name stands for a goal without parameters."""
    return {value: {}} if isinstance(value, str) else value


def given(part: "Part", names: tuple[str, ...]) -> list[str]:
    """Which of some keys of a section are given."""
    return [name for name in names if getattr(part, name) is not None]


def exactly_one(part: _Part, names: tuple[str, ...], what: str) -> _Part:
    """Refuse a section in which none, or more than one, of some keys is given."""
    came_in = given(part, names)
    if len(came_in) != 1:
        came = " and ".join(came_in) or "none"
        raise ValueError(f"{what} needs exactly one of {', '.join(names)}; got {came}")
    return part


class ComponentPart(Part):
    """Something made by name."""

    use: str = Field(description="Name from `tapas list`, or package.module:Name")
    parameters: dict[str, Any] = Field(default={}, description="Arguments of its constructor")
    label: str | None = Field(default=None, description="Display name")


Component = Annotated[ComponentPart, BeforeValidator(_named)]


class GeneratorPart(Part):
    """The mechanism that makes synthetic data."""

    use: str | None = Field(default=None, description="Name, or package.module:Name")
    command: list[str] | None = Field(
        default=None,
        description="A program: reads CSV, is told the number of records, writes CSV",
    )
    parameters: dict[str, Any] = Field(default={}, description="Arguments of its constructor")
    label: str | None = None
    records: PositiveInt | None = Field(
        default=None, description="Size of each release; that of the private data by default"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "GeneratorPart":
        if self.command is not None and len(self.command) != 1:
            raise ValueError(
                "command names one program, which is told the number of records; put further "
                "arguments into a small script"
            )
        return exactly_one(self, ("use", "command"), "a generator")


Generator = Annotated[GeneratorPart, BeforeValidator(_named)]


class ShownPart(Part):
    """Which part of its scores a model shows."""

    top: PositiveInt | None = Field(
        default=None, description="The largest so many; 1 is the confidence alone"
    )
    decimals: NonNegativeInt | None = Field(default=None, description="To so many decimals")


class EndpointPart(Part):
    """A service that is asked by a function."""

    use: str = Field(description="The function, as package.module:name")
    classes: Annotated[list[str | int | float | bool], Field(min_length=2)] = Field(
        description="In the order of its scores"
    )
    outputs: Literal["scores", "logits", "log_scores", "labels"] | None = None
    batch: PositiveInt = Field(default=64, description="Records in one call")
    per_second: PositiveFloat | None = Field(default=None, description="Calls, at most")
    answers: str = Field(default="answers.sqlite", description="File that answers are kept in")


class ModelPart(Part):
    """A classifier that is about to be released."""

    use: str | None = Field(
        default=None,
        description="A scikit-learn classifier as package.module:Name, trained on data.table",
    )
    file: str | None = Field(default=None, description="A trained model: an ONNX file")
    endpoint: EndpointPart | None = Field(default=None, description="A model behind a service")
    parameters: dict[str, Any] = Field(default={}, description="Arguments of its constructor")
    label: str | None = None
    class_column: str = Field(description="The column that the model predicts")
    access: Literal["scores", "labels", "parameters"] = Field(
        default="scores", description="What the release shows"
    )
    shown: ShownPart | None = Field(
        default=None, description="Which part of the scores, where not all are shown"
    )
    trainer: Component | None = Field(
        default=None,
        description="For a file or endpoint: a scikit-learn classifier, to train shadow models of",
    )
    shadows: NonNegativeInt | None = Field(
        default=None,
        description="Models that the attacker trains: 16, or 0 for a file without trainer",
    )
    known_share: Share = Field(
        default=0.5, description="Share of the records whose membership the attacker knows"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "ModelPart":
        if self.use is not None and self.trainer is not None:
            raise ValueError(
                "trainer goes with file or endpoint: shadow models are of the kind that use names"
            )
        if self.use is None and self.trainer is None and self.shadows:
            raise ValueError(
                "a file or endpoint cannot be trained again: name a trainer for the shadow models, "
                "or set shadows: 0"
            )
        return exactly_one(self, ("use", "file", "endpoint"), "a model")

    @property
    def num_shadows(self) -> int:
        """Models that the attacker trains."""
        if self.shadows is not None:
            return self.shadows
        return 0 if self.use is None and self.trainer is None else 16


class PredictionsPart(Part):
    """What a model said of records, in data.table: there is no model to ask."""

    member: str = Field(default="member", description="The column that says who was trained on")
    label: str = Field(default="label", description="The column of true classes")
    outputs: Literal["scores", "logits", "log_scores"] | None = Field(
        default=None, description="What the columns of scores hold, if that cannot be told"
    )
    name: str | None = Field(default=None, description="Display name")
    known_share: Share = Field(
        default=0.5, description="Share of the records whose membership the attacker knows"
    )


class ReadPart(Part):
    """How files are read, where that cannot be found from them; see docs/datasets.md."""

    delimiter: str | None = Field(default=None, description="Between two cells: ; or a tab, say")
    decimal: Literal[".", ","] | None = Field(default=None, description="The mark before decimals")
    encoding: str | None = Field(default=None, description="Such as cp1252")
    quote: str = Field(default='"', description="What cells are quoted with")
    header: bool | None = Field(default=None, description="Whether the first row holds the names")
    index: str | bool | None = Field(
        default=None, description="The column that labels records and is not looked at; false: none"
    )
    dates: str | None = Field(
        default=None, description="day-first, month-first, text, or a format such as %d.%m.%y"
    )
    skip_rows: NonNegativeInt = Field(default=0, description="Lines above the table")
    sheet: str | None = Field(default=None, description="Of an Excel file")
    missing: list[str] = Field(default=[], description="Further cells that mean missing")

    def reading(self) -> Reading:
        """The choices as the reader of tables takes them."""
        return Reading(**{**self.model_dump(), "missing": tuple(self.missing)})

    @model_validator(mode="after")
    def _possible(self) -> "ReadPart":
        self.reading()
        return self


class ReleasePart(Part):
    """A table that was released, or is about to be: nothing is run."""

    file: str | Annotated[list[str], Field(min_length=1)] = Field(
        description="The synthetic table, or several to compare"
    )
    reference: str | None = Field(
        default=None,
        description="More records of the population that were not used; by default part of "
        "data.holdout",
    )
    read: ReadPart | None = Field(
        default=None, description="How these files are read; like data.read by default"
    )
    label: str | None = None
    known_share: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.5, description="Share of the records whose membership the attacker knows"
    )

    @property
    def files(self) -> dict[str, str]:
        """Every released table, by its key in the audit file."""
        if isinstance(self.file, str):
            return {"release.file": self.file}
        return {f"release.file[{place}]": file for place, file in enumerate(self.file)}

    @model_validator(mode="after")
    def _label_of_one(self) -> "ReleasePart":
        if self.label is not None and len(self.files) > 1:
            raise ValueError("label is for one file: several are called by their names")
        return self


class ImportedPart(Part):
    """Releases that somebody else made, with their secrets: nothing is run."""

    folder: str = Field(description="Where the releases are, CSV or Parquet")
    labels: str = Field(
        description="A table with one row per release: file, phase (train or test), group "
        "(equal where private data is shared), and a column per target with its secret"
    )
    label: str | None = None
    relation: Literal["add/remove", "replace"] | None = Field(
        default=None, description="Which neighbours were played, if that is known"
    )
    independent: bool = Field(
        default=False, description="Each release was made from private data of its own"
    )


class TargetsPart(Part):
    """Whose privacy is tested: rows, vulnerable and random ones, or made-up records."""

    rows: list[NonNegativeInt] | None = Field(default=None, min_length=1, description="Positions")
    vulnerable: PositiveInt | None = Field(
        default=None, description="So many, those furthest from all others"
    )
    exposed: PositiveInt | None = Field(
        default=None, description="So many, those highest on the map of an earlier run"
    )
    map: str | None = Field(
        default=None, description="For exposed: the exposure-map.csv of that run"
    )
    random: PositiveInt | None = Field(default=None, description="So many others, by the seed")
    made: PositiveInt | None = Field(
        default=None, description="So many made-up records, rare combinations that stand out"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "TargetsPart":
        drawn = bool(given(self, ("vulnerable", "exposed", "random")))
        if (self.exposed is None) != (self.map is None):
            raise ValueError("exposed goes with map, the exposure-map.csv of an earlier run")
        kinds = drawn + (self.rows is not None) + (self.made is not None)
        if kinds != 1:
            came = "several" if kinds else "none"
            raise ValueError(
                f"targets needs rows, or else vulnerable, exposed and random, or else made; got "
                f"{came}"
            )
        return self


class DataPart(Part):
    """The private table."""

    table: str | None = Field(default=None, description="CSV, TSV, Parquet, Excel or JSON lines")
    sample: Literal["census", "clinic"] | None = Field(default=None, description="Built-in table")
    schema_file: str | None = Field(
        default=None,
        alias="schema",
        description="JSON file; by default the one beside the table, or inferred",
    )
    holdout: str | None = Field(
        default=None,
        description="For models and releases: a table of records that were not used for them",
    )
    read: ReadPart = ReadPart()
    drop: list[str] = Field(default=[], description="Columns to leave out, where they are")
    leave_out: list[str | int] = Field(
        default=[],
        description="Records of the table to leave out: rows from 0, or what the index column says",
    )
    bounds: dict[str, Ends] | Literal["table"] | None = Field(
        default=None,
        description="Lowest and highest of number columns, for generators with differential "
        "privacy: what is known without the data. table reads them off it, to try one out: the "
        "guarantee does not cover that",
    )
    rows: PositiveInt | None = Field(default=None, description="Use so many rows, drawn by seed")
    targets: TargetsPart | None = Field(
        default=None,
        description="By default 50 vulnerable and 50 random ones, together at most a tenth of a "
        "private dataset",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "DataPart":
        if self.holdout is not None and self.table is None:
            raise ValueError("holdout goes with table: a sample is split in halves")
        if self.schema_file is not None and self.table is None:
            raise ValueError("schema goes with table: a sample has its own")
        return exactly_one(self, ("table", "sample"), "data")


class KnowledgePart(Part):
    """What the attacker knows."""

    data: Literal["auxiliary", "exact", "identifiers"] = Field(
        default="auxiliary",
        description="Other records of the population; or all but the secret; or others, and all "
        "columns of the private records but the sensitive one",
    )
    split: OpenShare = Field(default=0.5, description="Share of the table that the attacker holds")
    records: PositiveInt | None = Field(
        default=None, description="Size of each private dataset (not with exact)"
    )
    mechanism: Literal["black-box", "no-box", "white-box"] = "black-box"


class MembershipPart(Part):
    """Is the target in the data?"""

    pairs: bool = Field(default=True, description="Play each background with and without it")
    replace: bool = Field(default=False, description="The target takes the place of another row")


class AttributePart(Part):
    """Which value does the target's sensitive attribute have?"""

    column: str
    values: list[str | int | float] | None = Field(default=None, min_length=2)
    distribution: list[float] | None = None


class CanariesPart(Part):
    """Which of many targets are in the data? All are judged together, from one run or a few."""

    replace: bool = Field(default=False, description="They take the places of other rows")


class PropertyPart(Part):
    """For models: which share of the training records has a value?"""

    column: str
    value: str | int | float
    shares: Annotated[list[Share], Field(min_length=2, max_length=2)] = Field(
        default=[0.3, 0.7], description="Shares without and with the property"
    )
    records: PositiveInt = Field(default=500, description="Training records of each model")


class GoalPart(Part):
    """What the attacker wants to learn."""

    membership: MembershipPart | None = None
    attribute: AttributePart | None = None
    canaries: CanariesPart | None = None
    property: PropertyPart | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "GoalPart":
        return exactly_one(self, _GOALS, "a goal")

    @builtins.property
    def kind(self) -> str:
        """The goal that is given."""
        return given(self, _GOALS)[0]


class StopEarlyPart(Part):
    """When to stop before all trials are played."""

    claim: bool = Field(default=True, description="As soon as the claim is contradicted")
    width: PositiveFloat | None = Field(default=None, description="Interval narrow enough")
    every: Annotated[int, Field(ge=2)] = Field(default=50, description="Trials between two looks")
    confidence: OpenShare = 0.95


class TrialsPart(Part):
    """How often the game is played."""

    train: NonNegativeInt = Field(default=200, description="For training the attacks")
    test: PositiveInt = Field(default=200, description="For judging them")
    timeout: PositiveFloat | None = Field(default=None, description="Seconds for one run")
    attack_timeout: PositiveFloat | None = Field(
        default=None,
        description="Seconds for an attack to begin, look at one release, learn, judge",
    )
    max_failures: NonNegativeInt = Field(default=0, description="Failing runs that are tolerated")
    keep_data: bool | None = Field(
        default=None,
        description="Keep released tables in the run folder; by default small or slow ones",
    )
    stop_early: StopEarlyPart | None = None


class ClaimPart(Part):
    """What the mechanism is said to guarantee."""

    epsilon: Annotated[float, Field(ge=0)]
    delta: Annotated[float, Field(ge=0, lt=1)] = 0.0
    family: Literal["gaussian"] | None = Field(
        default=None,
        description="Gaussian differential privacy is claimed; bounds hold if the mechanism is so",
    )

    @model_validator(mode="after")
    def _possible(self) -> "ClaimPart":
        Claim(**self.model_dump())
        return self


class GatePart(Part):
    """A limit for every attack and target together; judged by interval ends."""

    metric: GateMetric
    at_most: float
    fpr: Share = 0.01
    confidence: OpenShare = 0.95
    above: Share = Field(default=0.5, description="The AUC above which exposed_people are counted")

    @model_validator(mode="after")
    def _possible(self) -> "GatePart":
        Gate(**self.model_dump())
        return self
