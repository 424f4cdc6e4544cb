"""Threat models about several targets: one view each, on the same trials."""

import copy
from collections.abc import Iterator
from typing import Self

from tapas.compat._game_threat_model import GameThreatModel
from tapas.errors import ThreatModelError

__all__ = ["TargetViews"]


class TargetViews(GameThreatModel):
    """A threat model about one of several secrets at a time."""

    num_labels: int = 1
    current_label: int = 0

    @property
    def multiple_label_mode(self) -> bool:
        """Whether there are several secrets."""
        return self.num_labels > 1

    @property
    def _targets(self) -> slice:
        return slice(self.current_label, self.current_label + 1)

    def set_label(self, label: int) -> None:
        """Choose which of several secrets this threat model is about."""
        if not self.multiple_label_mode or not 0 <= label < self.num_labels:
            raise ThreatModelError(
                f"there are {self.num_labels} labels; label {label!r} cannot be chosen"
            )
        self.current_label = label

    def __iter__(self) -> Iterator[Self]:
        """One view per target; they share trials and observations."""
        for label in range(self.num_labels):
            view = copy.copy(self)
            view.current_label = label
            yield view

    def __len__(self) -> int:
        return self.num_labels
