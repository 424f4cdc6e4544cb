"""The pieces of one round of the game: its address, what is released, what is kept."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tapas._random import integer_seed, stream
from tapas.datasets import TabularDataset

Phase = Literal["train", "test"]
_PHASE_NUMBERS = {"train": 0, "test": 1}

# Parts of a trial that have a random stream of their own.
BACKGROUND, SECRET, PLACEMENT, MECHANISM, OBSERVATION, PROBE = range(6)


@dataclass(frozen=True)
class Address:
    """Where a trial lives; everything random in it follows from this.

    Attributes
    ----------
    seed : int
        The threat model's.
    phase : {"train", "test"}
    index : int
    round : int
        0 for remembered trials; another number for each request of fresh ones.
    """

    seed: int
    phase: Phase
    index: int
    round: int = 0

    @property
    def training(self) -> bool:
        """Whether the attacker, rather than the evaluator, plays this trial."""
        return self.phase == "train"

    def stream(self, part: int) -> np.random.Generator:
        """The random stream of one part of the trial."""
        return stream(self.seed, self.round, _PHASE_NUMBERS[self.phase], self.index, part)

    def integer(self, part: int) -> int:
        """A seed for foreign code that plays one part of the trial."""
        return integer_seed(self.stream(part))

    def at(self, index: int) -> "Address":
        """The address of another trial of the same phase and round."""
        return Address(self.seed, self.phase, index, self.round)


@dataclass(frozen=True, eq=False)
class Release:
    """What the adversary gets to see.

    Attributes
    ----------
    data : Dataset
        The synthetic data.
    mechanism : object, optional
        The fitted generator, in a white-box setting.
    """

    data: Any
    mechanism: Any = None


@dataclass(frozen=True, eq=False)
class Trial:
    """One round: the release, and the secret of every target.

    Attributes
    ----------
    phase, index
        Which round it was.
    release : Release
    secrets : ndarray
        One value per target: membership, or the value of the sensitive attribute.
    group : int
        Trials of the same group share their background and are not independent.
    """

    phase: Phase
    index: int
    release: Release
    secrets: np.ndarray
    group: int


@dataclass(frozen=True, eq=False)
class Briefing:
    """All that an attack is told before it sees releases.

    Attributes
    ----------
    goal : str
        "membership", "attribute", or "label" for a user's own goal.
    targets : TabularDataset or None
        One row per target. For attribute inference the sensitive value is missing in all.
    attribute : str or None
    attribute_values : tuple
        Values that the attribute may take, in the order of score columns.
    auxiliary : Dataset or None
        Data that the attacker holds.
    """

    goal: str
    targets: TabularDataset | None = None
    attribute: str | None = None
    attribute_values: tuple[Any, ...] = ()
    auxiliary: Any = None

    def only(self, position: int) -> "Briefing":
        """The briefing about one of the targets."""
        if self.targets is None:
            return self
        return replace(self, targets=self.targets.take([position]))
