"""Sections of an audit file that say what is audited."""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from tapas.audit._config_data import ReadPart
from tapas.audit._config_parts import Component, Part, Share, exactly_one, named


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


Generator = Annotated[GeneratorPart, BeforeValidator(named)]


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
        description="A scikit-learn classifier or regressor as package.module:Name, trained on "
        "data.table",
    )
    file: str | None = Field(
        default=None,
        description="A trained model: an ONNX file, or one saved by a booster of xgboost (.json, "
        ".ubj) or lightgbm (.txt)",
    )
    classes: Annotated[list[str | int | float | bool], Field(min_length=2)] | None = Field(
        default=None, description="For a file that does not name its classes: in their order"
    )
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
        description="For a file or endpoint: a scikit-learn classifier, to train shadow models of; "
        "a regressor where a file predicts numbers",
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
        if self.classes is not None and self.file is None:
            raise ValueError("classes goes with file: other models say what they predict")
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
        default=0.5,
        description="Share of the records whose membership the attacker knows; without a "
        "reference, share of the holdout that is known or the reference, half each, and the "
        "private records are split as what is left of the holdout: a third is known at 0.5",
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
