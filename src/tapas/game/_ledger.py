"""What is remembered of a game: trials, and what attacks observed in them."""

from collections.abc import Mapping, Sequence

import numpy as np

from tapas.datasets import TabularDataset
from tapas.game._address import Phase
from tapas.game._observation import Observation
from tapas.game._release import Release, Trial
from tapas.game._rows import Rows

__all__ = ["Ledger"]

_NOTHING = Release(None)
_ABOUT_A_TABLE = 1024  # bytes that a table takes beside its values


class Ledger:
    """Trials, observations and failures of one game; this one lives in memory.

    A subclass may keep entries elsewhere by overriding the methods that `keep` something and
    `trial`.

    Attributes
    ----------
    fresh_rounds : int
        How many requests of fresh trials there were.
    probed : bool
        Whether the mechanism was probed.
    held : int
        Bytes of released tables in memory.
    made_of : str or None
        What the game was made of when it was played last; objects that share a ledger agree in it.
    """

    def __init__(self) -> None:
        self.made_of: str | None = None
        self.fresh_rounds = 0
        self.probed = False
        self.held = 0
        self._secrets: dict[Phase, Rows] = {"train": Rows(), "test": Rows()}
        self._notes: dict[Phase, Rows] = {"train": Rows(), "test": Rows()}  # group, made with
        self._data: dict[Phase, dict[int, Release]] = {"train": {}, "test": {}}
        self._observations: dict[tuple[str, Phase], Rows] = {}
        self._queries: dict[tuple[str, Phase], int] = {}
        self._failures: dict[Phase, dict[int, str]] = {"train": {}, "test": {}}
        self._looks: list[tuple[int, str]] = []  # how many trials, judged by what
        # The same for most trials: one mapping stands for all of them.
        self._made_with: dict[tuple[tuple[str, str], ...], int] = {}
        self._versions: list[Mapping[str, str]] = []

    def indices(self, phase: Phase) -> list[int]:
        """Trials that were played, in order."""
        return list(self._secrets[phase])

    def played(self, phase: Phase, count: int) -> np.ndarray:
        """Which of the first `count` trials were played."""
        return self._secrets[phase].held(count)

    def has_trial(self, phase: Phase, index: int) -> bool:
        """Whether the trial was played."""
        return index in self._secrets[phase]

    def trial(self, phase: Phase, index: int) -> Trial:
        """The trial, with its data where that was kept."""
        return self.outline(phase, index)

    def outline(self, phase: Phase, index: int) -> Trial:
        """The trial; what was released in it may be left out."""
        group, versions = self._notes[phase][index].tolist()
        release = self._data[phase].get(index, _NOTHING)
        secrets = self._secrets[phase][index]
        return Trial(phase, index, release, secrets, group, self._versions[versions])

    def secrets(self, phase: Phase, indices: Sequence[int]) -> np.ndarray:
        """The secrets of trials, a row for each."""
        return self._secrets[phase].at(indices)

    def groups(self, phase: Phase, indices: Sequence[int]) -> np.ndarray:
        """Which trials share their background."""
        return self._notes[phase].at(indices)[:, 0]

    def has_data(self, phase: Phase, index: int) -> bool:
        """Whether the data released in the trial was kept."""
        return index in self._data[phase]

    def observations(self, key: str, phase: Phase) -> Rows:
        """What observers known by `key` saw, by trial index."""
        return self._observations.setdefault((key, phase), Rows())

    def queries(self, key: str, phase: Phase) -> int:
        """How many records observers known by `key` asked the released models of a phase about."""
        return self._queries.get((key, phase), 0)

    def keep(self, trial: Trial, observations: Mapping[str, Observation] | None = None) -> None:
        """Remember a trial and what was observed in it.

        The fitted mechanism is not kept: a replay brings it back.
        """
        phase, index = trial.phase, trial.index
        if not self.has_data(phase, index):
            self._secrets[phase].keep(index, trial.secrets)
            self._notes[phase].keep(index, np.array([trial.group, self._numbered(trial.made_with)]))
            if trial.release.data is not None:
                self._data[phase][index] = Release(trial.release.data)
                if isinstance(trial.release.data, TabularDataset):
                    self.held += _ABOUT_A_TABLE + trial.release.data.nbytes
        for key, observation in (observations or {}).items():
            self._observations.setdefault((key, phase), Rows()).keep(index, observation.values)
            asked = self._queries.get((key, phase), 0)
            self._queries[key, phase] = asked + observation.queries

    def _numbered(self, versions: Mapping[str, str]) -> int:
        number = self._made_with.setdefault(tuple(versions.items()), len(self._versions))
        if number == len(self._versions):
            self._versions.append(versions)
        return number

    def failures(self, phase: Phase) -> dict[int, str]:
        """Trials in which the mechanism failed, with what it said."""
        return self._failures[phase]

    def keep_failure(self, phase: Phase, index: int, message: str, *, lasting: bool = True) -> None:
        """Remember that the mechanism failed; beyond this run only where it is lasting."""
        self._failures[phase][index] = message

    def look(self, num_trials: int, by: str = "") -> int:
        """Note that results of so many test trials are seen; return which look that is.

        Looking again at as many trials, judged `by` the same attacks after the same training, is no
        other look.
        """
        if (num_trials, by) not in self._looks:
            self._looks.append((num_trials, by))
        return self.look_at(num_trials, by)

    def look_at(self, num_trials: int, by: str = "") -> int:
        """Which look at so many test trials was or would be."""
        known, look = self._looks, (num_trials, by)
        return 1 + (known.index(look) if look in known else len(known))

    def count_looks(self, other: "Ledger") -> None:
        """Let looks at another ledger of the same trials count as looks at this one."""
        for num_trials, by in other._looks:
            self.look(num_trials, by)

    def anew(self) -> "Ledger":
        """A ledger without trials; a look at either of the two is a look at both."""
        fresh = Ledger()
        fresh._looks = self._looks
        return fresh

    def next_round(self) -> int:
        """A round number that no earlier request used."""
        self.fresh_rounds += 1
        return self.fresh_rounds
