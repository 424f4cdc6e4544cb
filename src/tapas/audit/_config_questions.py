"""Sections of an audit file that say what is asked: knowledge, goal, trials, claim, gates."""

import builtins
from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from tapas.audit._config_parts import Part, Share, exactly_one, given
from tapas.results import GATE_METRICS, Claim, Gate, refuse_idle

GateMetric = Literal[GATE_METRICS]  # type: ignore[valid-type]
OpenShare = Annotated[float, Field(gt=0, lt=1)]
_GOALS = ("membership", "attribute", "canaries", "property")


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
    shares: Annotated[list[Share], Field(min_length=2)] = Field(
        default=[0.3, 0.7],
        description="Shares without and with the property, or any number of shares to tell apart",
    )
    records: Annotated[int, Field(ge=2)] = Field(
        default=500, description="Training records of each model"
    )


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
    """When to stop before all trials are played; by default where a claim is contradicted."""

    claim: bool = Field(
        default=True,
        description="As soon as the claim is contradicted; false, and no width, plays all trials",
    )
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
        refuse_idle(Gate(**self.model_dump()))
        return self
