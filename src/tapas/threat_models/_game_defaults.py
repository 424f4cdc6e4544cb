"""What most games have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Self

import numpy as np

from tapas import __version__
from tapas._random import TrialPart, stream
from tapas._spec import Spec, attributes_of, spec_of
from tapas.game import Address, Phase, Relation


class GameDefaults(ABC):
    """A game whose trials are played one by one, by means that take a seed.

    A subclass is a frozen dataclass; what it says of itself in `_identity` tells it from others.
    """

    seed: int

    @property
    @abstractmethod
    def target_labels(self) -> tuple[str, ...]:
        """Display names of those that attacks are judged by."""

    @property
    def relation(self) -> Relation | None:
        """Which neighbours are played: none."""
        return None

    @property
    def inputs_alone(self) -> np.ndarray | None:
        """What targets tell of their secrets without any release: not known."""
        return None

    @property
    def draws_from_globals(self) -> bool:
        """Whether trials use the global random generators."""
        return False

    def trials_at_once(self, phase: Phase) -> int:
        """Each trial is played by itself."""
        return 1

    def for_threads(self) -> Self:
        """The same game."""
        return self

    def within(self, seconds: float | None) -> Self:
        """The same game: nothing is run that could take long."""
        return self

    def judged(self, phase: Phase) -> np.ndarray:
        """All targets, in both phases."""
        return np.ones(len(self.target_labels), dtype=bool)

    def observation_rng(self, address: Address) -> np.random.Generator:
        """What an observer draws from."""
        return address.stream(TrialPart.OBSERVATION)

    def fitting_rng(self) -> np.random.Generator:
        """What an attack draws from when it learns."""
        return stream(self.seed)

    def caution(self, address: Address) -> str | None:
        """There is nothing to probe."""
        return None

    @property
    def spec(self) -> Spec:
        """Identity by value."""
        return spec_of(self)

    def _identity(self) -> Mapping[str, object]:
        return {name: one for name, one in attributes_of(self).items() if not name.startswith("_")}

    def __spec__(self) -> Mapping[str, object]:
        return {**self._identity(), "version": __version__}


def names_of(members: np.ndarray, rows: np.ndarray) -> tuple[str, ...]:
    """Display names of judged records: where they came from."""
    sides = np.where(members, "member", "non-member")
    return tuple(f"{side} {row}" for side, row in zip(sides, rows, strict=True))
