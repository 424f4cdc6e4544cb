"""What a threat model remembers: trials, and what attacks observed in them."""

from collections.abc import Hashable, Mapping
from dataclasses import replace

import numpy as np

from tapas.threat_models._trials import Phase, Release, Trial


class Ledger:
    """Trials, observations and failures; the views of one threat model share it.

    This one lives in memory. A subclass may keep entries elsewhere by overriding the methods that
    `keep` something and `trial`.
    """

    def __init__(self) -> None:
        self.fresh_rounds = 0
        self.probed = False
        self._trials: dict[Phase, dict[int, Trial]] = {"train": {}, "test": {}}
        self._observations: dict[tuple[Hashable, Phase], dict[int, np.ndarray]] = {}
        self._failures: dict[Phase, dict[int, str]] = {"train": {}, "test": {}}

    def indices(self, phase: Phase) -> list[int]:
        """Trials that were played, in order."""
        return sorted(self._trials[phase])

    def has_trial(self, phase: Phase, index: int) -> bool:
        """Whether the trial was played."""
        return index in self._trials[phase]

    def trial(self, phase: Phase, index: int) -> Trial:
        """The trial, with its data where that was kept."""
        return self._trials[phase][index]

    def has_data(self, phase: Phase, index: int) -> bool:
        """Whether the data released in the trial was kept."""
        trial = self._trials[phase].get(index)
        return trial is not None and trial.release.data is not None

    def observations(self, key: Hashable, phase: Phase) -> dict[int, np.ndarray]:
        """What the attacks known by `key` observed, by trial index."""
        return self._observations.setdefault((key, phase), {})

    def keep(self, trial: Trial, observations: Mapping[Hashable, np.ndarray] | None = None) -> None:
        """Remember a trial and what attacks observed in it.

        The fitted mechanism is not kept: a replay brings it back.
        """
        if not self.has_data(trial.phase, trial.index):
            kept = replace(trial, release=Release(trial.release.data))
            self._trials[trial.phase][trial.index] = kept
        for key, observation in (observations or {}).items():
            self.observations(key, trial.phase)[trial.index] = observation

    def failures(self, phase: Phase) -> dict[int, str]:
        """Trials in which the mechanism failed, with what it said."""
        return self._failures[phase]

    def keep_failure(self, phase: Phase, index: int, message: str) -> None:
        """Remember that the mechanism failed."""
        self._failures[phase][index] = message

    def next_round(self) -> int:
        """A round number that no earlier request used."""
        self.fresh_rounds += 1
        return self.fresh_rounds
