"""Summaries from other rooms, read as plain arrays."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tapas.errors import StatisticsError
from tapas.stats._counts import check_scores

__all__ = ["Trials", "as_trials"]


@dataclass(frozen=True)
class Trials:
    """The trials of one attack: who was a member, what it scored, what hangs together.

    `units` numbers independent units (groups, or single trials) by first
    appearance.
    """

    labels: NDArray[np.bool_]
    scores: NDArray[np.float64]
    units: NDArray[np.int64]
    relation: str | None

    @property
    def num_units(self) -> int:
        return int(np.unique(self.units).size)

    @property
    def unit_world(self) -> NDArray[np.bool_]:
        """World of the first trial of each unit."""
        _, first = np.unique(self.units, return_index=True)
        return self.labels[first]

    @property
    def paired(self) -> bool:
        """Whether any unit holds more than one trial."""
        return self.num_units < self.units.size

    def only(self, mask: NDArray[np.bool_]) -> "Trials":
        if mask.shape != self.labels.shape:
            raise StatisticsError(
                f"the choice was made on {mask.size} trials, this summary has {self.labels.size}; "
                "certify with the summaries that were selected from"
            )
        return Trials(self.labels[mask], self.scores[mask], self.units[mask], self.relation)

    def refuse_pooled(self) -> None:
        """Raise where two dependent trials lie in the same world."""
        cells = np.unique(2 * self.units + self.labels)
        if cells.size < self.units.size:
            raise StatisticsError(
                f"{self.units.size - cells.size} trials share a group and a world with another, "
                "as many targets of one release do, and are not independent; keep one trial per "
                "group and world, or use one_run_epsilon for canaries in one run"
            )


def as_trials(summaries: Any) -> list[Trials]:
    """Return every summary as `Trials`; a single summary counts as one."""
    items: Iterable[Any] = [summaries] if hasattr(summaries, "labels") else summaries
    found = [_read(summary) for summary in items]
    if not found:
        raise StatisticsError("expected at least one summary, got none")
    return found


def _read(summary: Any) -> Trials:
    labels = np.asarray(summary.labels)
    if labels.ndim != 1 or not np.isin(labels, (0, 1)).all():
        raise StatisticsError(
            f"labels must be one axis of 0 and 1, got shape {labels.shape} and values such as "
            f"{labels.reshape(-1)[:3].tolist()!r}; map the positive value to 1"
        )
    scores = getattr(summary, "scores", None)
    values = check_scores(summary.predictions if scores is None else scores, "scores")
    groups = getattr(summary, "groups", None)
    units = np.arange(labels.size) if groups is None else _by_first_appearance(groups)
    if not labels.size == values.size == units.size:
        raise StatisticsError(
            f"labels, scores and groups must have one length, got {labels.size}, {values.size} "
            f"and {units.size}"
        )
    return Trials(labels.astype(bool), values, units, getattr(summary, "relation", None))


def _by_first_appearance(groups: Any) -> NDArray[np.int64]:
    _, first, codes = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[codes.reshape(-1)]
