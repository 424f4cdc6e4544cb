"""Where a trial lives: everything random in it follows from its address."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tapas._random import TrialPart, integer_seed, trial_stream

__all__ = ["PHASES", "Address", "Phase"]

Phase = Literal["train", "test"]
PHASES: tuple[Phase, ...] = ("train", "test")


@dataclass(frozen=True)
class Address:
    """Where a trial lives.

    Attributes
    ----------
    seed : int
        The game's.
    phase : {"train", "test"}
        Whether the attacker or the evaluator plays it.
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

    def stream(self, part: TrialPart) -> np.random.Generator:
        """The random stream of one part of the trial."""
        return trial_stream(self.seed, self.round, PHASES.index(self.phase), self.index, part)

    def integer(self, part: TrialPart) -> int:
        """A seed for foreign code that plays one part of the trial."""
        return integer_seed(self.stream(part))

    def at(self, index: int) -> "Address":
        """The address of another trial of the same phase and round."""
        return Address(self.seed, self.phase, index, self.round)
