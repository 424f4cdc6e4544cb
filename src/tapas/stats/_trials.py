"""Summaries from other rooms, read as plain arrays."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError
from tapas.stats._counts import check_scores
from tapas.stats._dependence import Dependence
from tapas.stats._multiplicity import shared_confidence

__all__ = ["Summaries", "SummaryLike", "Trials", "as_trials"]


class SummaryLike(Protocol):
    """What is read of a summary.

    `scores` (None: the predictions serve; one that is NaN counts as the lowest), `groups`,
    `relation`, `dependence` and `error_share` may be missing; dependence is then what the groups
    say, and nobody looked before.
    """

    @property
    def labels(self) -> NDArray[np.generic]:
        """0 or 1 for each trial."""

    @property
    def predictions(self) -> NDArray[np.generic]:
        """The guess of each trial, 0 or 1."""


Summaries = SummaryLike | Iterable[SummaryLike]


@dataclass(frozen=True)
class Trials:
    """The trials of one attack: who was a member, what it scored, what hangs together.

    `units` numbers independent units (groups, or single trials) by first
    appearance. Where records were decided by coins, each is a unit, and its score is the
    decision that was made: a threshold fixed beforehand.
    """

    labels: NDArray[np.bool_]
    scores: NDArray[np.float64]
    units: NDArray[np.int64]
    relation: str | None
    dependence: Dependence
    error_share: float = 1.0

    def level(self, confidence: float) -> float:
        """At which a bound is made so that it holds with `confidence` over all looks."""
        return shared_confidence(confidence, 1, self.error_share)

    @cached_property
    def num_units(self) -> int:
        return len(set(self.units.tolist()))

    @property
    def unit_world(self) -> NDArray[np.bool_]:
        """World of the first trial of each unit."""
        _, first = np.unique(self.units, return_index=True)
        return self.labels[first]

    @property
    def paired(self) -> bool:
        """Whether any unit holds more than one trial."""
        return self.num_units < self.units.size

    @property
    def decided_by_coins(self) -> bool:
        """Whether each record was put in or left out by a fair coin of its own."""
        return self.dependence is Dependence.COINS

    def only(self, mask: NDArray[np.bool_]) -> "Trials":
        if mask.shape != self.labels.shape:
            raise StatisticsError(
                f"the choice was made on {mask.size} trials, this summary has {self.labels.size}; "
                "certify with the summaries that were selected from"
            )
        return replace(
            self, labels=self.labels[mask], scores=self.scores[mask], units=self.units[mask]
        )


def as_trials(summaries: Summaries) -> list[Trials]:
    """Return every summary as `Trials`; a single summary counts as one."""
    items = summaries if isinstance(summaries, Iterable) else [summaries]
    found = [_read(summary) for summary in items]
    if not found:
        raise StatisticsError("expected at least one summary, got none")
    return found


def _read(summary: SummaryLike) -> Trials:
    labels = np.asarray(summary.labels)
    if getattr(summary, "secret_kind", "") == "values":
        raise StatisticsError(
            "no epsilon, and so no claim of one, is certified for a secret of more than two "
            f"values, such as {labels[:1].tolist()!r}: ask about two of them (attribute_values of "
            "the threat model), or for membership; summary.accuracy_gain says what is told of all"
        )
    if labels.ndim != 1 or not ((labels == 0) | (labels == 1)).all():
        raise StatisticsError(
            f"labels must be one axis of 0 and 1, got shape {labels.shape} and values such as "
            f"{labels.reshape(-1)[:3].tolist()!r}; map the positive value to 1"
        )
    groups = getattr(summary, "groups", None)
    dependence = Dependence.stated(getattr(summary, "dependence", None), labels, groups)
    scores = None if dependence is Dependence.COINS else getattr(summary, "scores", None)
    values = check_scores(_comparable(summary.predictions if scores is None else scores), "scores")
    if groups is None or dependence.is_by_record:
        units = np.arange(labels.size)
    else:
        units = _by_first_appearance(groups)
    if not labels.size == values.size == units.size:
        raise StatisticsError(
            f"labels, scores and groups must have one length, got {labels.size}, {values.size} "
            f"and {units.size}"
        )
    relation = getattr(summary, "relation", None)
    share = getattr(summary, "error_share", 1.0)
    return Trials(labels.astype(bool), values, units, relation, dependence, share)


def _comparable(scores: ArrayLike) -> ArrayLike:
    """Scores with the lowest in place of missing ones, whoever they are about."""
    values = np.asarray(scores)
    return np.where(np.isnan(values), -np.inf, values) if values.dtype.kind == "f" else values


def _by_first_appearance(groups: ArrayLike) -> NDArray[np.int64]:
    seen: dict[object, int] = {}
    codes = (seen.setdefault(group, len(seen)) for group in np.asarray(groups).tolist())
    return np.fromiter(codes, dtype=np.int64)
