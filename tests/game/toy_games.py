"""A game of numbers that says which trials were played, and observers of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tapas._random import TrialPart, stream
from tapas._spec import Spec
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import MechanismError
from tapas.game import (
    MEMBERSHIP,
    Address,
    Briefing,
    Goal,
    Phase,
    Release,
    Setting,
    TableBriefing,
    Trial,
)

DESCRIPTION = DataDescription([{"name": "x", "type": "real"}], "toy")


def table(*values: float) -> TabularDataset:
    return TabularDataset([[value] for value in values], DESCRIPTION)


@dataclass(frozen=True, eq=False)
class Toy:
    """Releases ``rows`` times the number of the trial; secrets are whether it is even."""

    seed: int = 5
    at_once: int = 1
    available: int | None = None
    failing: tuple[int, ...] = ()
    rows: int = 3
    shows_mechanism: bool = False
    targets: int = 2
    seconds: float | None = None
    played: list[tuple[Phase, int, int]] = field(default_factory=list)

    label = "toy"
    data_label = "numbers"
    relation = None
    draws_from_globals = False

    @property
    def spec(self) -> Spec:
        return Spec("toy", {"seed": self.seed})

    @property
    def goal(self) -> Goal:
        return MEMBERSHIP

    @property
    def setting(self) -> Setting:
        return Setting("Toy", "table", MEMBERSHIP, mechanism=self.shows_mechanism)

    @property
    def target_labels(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.targets)))

    def trials_at_once(self, phase: Phase) -> int:
        return self.at_once

    def for_threads(self) -> "Toy":
        return self

    def within(self, seconds: float | None) -> "Toy":
        return replace(self, seconds=seconds)

    def rounds(self, phase: Phase) -> int | None:
        return self.available

    def briefing(self, phase: Phase) -> Briefing:
        return TableBriefing(self.goal, table(*range(self.targets)))

    def judged(self, phase: Phase) -> np.ndarray:
        return np.ones(self.targets, dtype=bool)

    def play(self, addresses: Sequence[Address]) -> list[Trial]:
        indices = [address.index for address in addresses]
        first = indices[0]
        assert indices == list(range(first, first + len(indices)))
        assert first % self.at_once == 0
        return [self._play(address) for address in addresses]

    def _play(self, address: Address) -> Trial:
        self.played.append((address.phase, address.index, address.round))
        if address.index in self.failing:
            raise MechanismError(f"no luck in {address.index}")
        number = address.index + 100 * address.round
        secrets = np.array([(number + target) % 2 == 0 for target in range(self.targets)])
        mechanism = f"fitted {number}" if self.shows_mechanism else None
        release = Release(table(*[number] * self.rows), mechanism)
        return Trial(address.phase, address.index, release, secrets, address.index // 2)

    def caution(self, address: Address) -> str | None:
        return None

    def observation_rng(self, address: Address) -> np.random.Generator:
        return address.stream(TrialPart.OBSERVATION)

    def fitting_rng(self) -> np.random.Generator:
        return stream(self.seed)


@dataclass(frozen=True, eq=False)
class Mean:
    """Sees the mean of a release, times a factor, less each target."""

    factor: float = 1.0
    seen: list[float] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"mean-{self.factor}"

    def __call__(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        mean = float(release.table.data["x"].mean())
        self.seen.append(mean)
        return np.array([self.factor * mean - target for target in range(len(briefing.targets))])
