"""All that is known of a phase: what was observed, and the secrets behind it."""

from dataclasses import dataclass, replace

import numpy as np

from tapas.errors import IncompatibleAttackError
from tapas.game._briefing import TableBriefing
from tapas.game._goal import Goal

__all__ = ["Board"]


@dataclass(frozen=True, eq=False)
class Board:
    """Observations of releases, with their secrets.

    Attributes
    ----------
    values : ndarray, (releases, targets, ...)
        What an attack observed; the second axis has length 1 where it is the same for all targets.
    secrets : ndarray, (releases, targets)
    groups : ndarray of int, (releases,)
        Releases of one group share their background.
    goal : Goal
    judged : ndarray of bool, (targets,)
        Which of the targets are those that the attack will be judged by, in the same order; the
        others are records that serve for learning only.
    briefing : TableBriefing or None
        What is known of these targets; None where they are not records of a table.
    """

    values: np.ndarray
    secrets: np.ndarray
    groups: np.ndarray
    goal: Goal
    judged: np.ndarray
    briefing: TableBriefing | None = None

    @classmethod
    def empty(cls, goal: Goal) -> "Board":
        """Nothing to learn from."""
        nothing = np.empty((0, 0))
        return cls(nothing, nothing, np.empty(0, dtype=int), goal, np.empty(0, dtype=bool))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def num_targets(self) -> int:
        """How many secrets each release has."""
        return self.secrets.shape[1]

    @property
    def is_about_judged(self) -> bool:
        """Whether it is the judged targets themselves that can be learnt about."""
        return bool(self.judged.all())

    @property
    def told(self) -> TableBriefing:
        """The briefing, for an attack that cannot learn without."""
        if self.briefing is None:
            raise IncompatibleAttackError("the attack is about records of a table, and got none")
        return self.briefing

    def of_targets(self, chosen: np.ndarray | slice) -> "Board":
        """The part about some targets."""
        shared = self.values.shape[1] != self.num_targets
        return replace(
            self,
            values=self.values if shared else self.values[:, chosen],
            secrets=self.secrets[:, chosen],
            judged=self.judged[chosen],
            briefing=self.briefing and self.briefing.only(np.arange(self.num_targets)[chosen]),
        )

    def of_target(self, position: int) -> "Board":
        """The part about one target."""
        return self.of_targets(slice(position, position + 1))

    def of_releases(self, chosen: np.ndarray | slice) -> "Board":
        """The part about some releases."""
        return replace(
            self,
            values=self.values[chosen],
            secrets=self.secrets[chosen],
            groups=self.groups[chosen],
        )

    @property
    def references(self) -> "Board":
        """The judged targets alone."""
        return self if self.is_about_judged else self.of_targets(self.judged)

    @property
    def rehearsal(self) -> "Board":
        """Records to learn from: those that are not judged, or all where there are no others."""
        return self if self.is_about_judged else self.of_targets(~self.judged)
