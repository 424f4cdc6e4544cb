"""A summary of two kinds of secret, seen world by world."""

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tapas import stats
from tapas.stats import Dependence, Interval

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["Worlds", "comparable_scores", "share"]


@dataclass(frozen=True, eq=False)
class Worlds:
    """Counts and scores of the positive and the negative trials of a summary.

    Attributes
    ----------
    hits, num_positive
        Positive trials that were guessed positive, and all of them.
    alarms, num_negative
        The same of the negative trials.
    positive, negative : ndarray
        Scores; where trials come in whole pairs, entries of one place are a pair. A trial without
        a score counts as the lowest, decisions serve where there are no scores.
    paired : bool
        Whether the two worlds depend on each other.
    whole_pairs : bool
        Whether every trial has its partner in the other world.
    """

    hits: int
    num_positive: int
    alarms: int
    num_negative: int
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    paired: bool
    whole_pairs: bool

    @classmethod
    def of(cls, summary: "LabelInferenceAttackSummary") -> "Worlds":
        """Divide the trials of a summary."""
        positive, guessed = summary.labels == 1, summary.predictions == 1
        scores = comparable_scores(summary)
        paired = summary.dependence is Dependence.PAIRS
        first, second = np.flatnonzero(positive), np.flatnonzero(~positive)
        whole = False
        if paired and summary.groups is not None:
            first = first[np.argsort(summary.groups[first], kind="stable")]
            second = second[np.argsort(summary.groups[second], kind="stable")]
            whole = np.array_equal(summary.groups[first], summary.groups[second])
        return cls(
            hits=int(np.sum(guessed & positive)),
            num_positive=len(first),
            alarms=int(np.sum(guessed & ~positive)),
            num_negative=len(second),
            positive=scores[first],
            negative=scores[second],
            paired=paired,
            whole_pairs=whole,
        )

    @classmethod
    def of_inputs(cls, summary: "LabelInferenceAttackSummary") -> "Worlds":
        """Divide the trials, with what the inputs alone tell as scores."""
        found = copy.copy(summary)
        found.scores = summary.inputs_alone
        return cls.of(found)

    def rate(self, confidence: float) -> Interval:
        """True positive rate."""
        return share(self.hits, self.num_positive, confidence)

    def false_alarms(self, confidence: float) -> Interval:
        """False positive rate."""
        return share(self.alarms, self.num_negative, confidence)

    def precision(self, confidence: float) -> Interval:
        """Share of the positive guesses that are right, given how many there are.

        Where the two worlds depend on each other, limits of both rates that hold together give it.
        """
        guessed = share(self.hits, self.hits + self.alarms, confidence)
        if not self.paired or np.isnan(guessed.value):
            return guessed
        tpr, fpr = self._both_rates(confidence)
        return Interval(
            self._right_share(tpr.low, fpr.high),
            self._right_share(tpr.high, fpr.low),
            guessed.value,
        )

    def accuracy(self, confidence: float) -> Interval:
        """Share of right guesses."""
        trials = self.num_positive + self.num_negative
        if not self.paired:
            return share(self.hits + self.num_negative - self.alarms, trials, confidence)
        weight = self.num_positive / trials
        tpr, fpr = self._both_rates(confidence)
        return Interval(
            weight * tpr.low + (1 - weight) * (1 - fpr.high),
            weight * tpr.high + (1 - weight) * (1 - fpr.low),
            weight * tpr.value + (1 - weight) * (1 - fpr.value),
        )

    def advantage(self, confidence: float) -> Interval:
        """True minus false positive rate."""
        if not self.paired:
            return stats.advantage_interval(
                self.hits, self.num_positive, self.alarms, self.num_negative, confidence=confidence
            )
        tpr, fpr = self._both_rates(confidence)
        return Interval(tpr.low - fpr.high, tpr.high - fpr.low, tpr.value - fpr.value)

    def area(self, confidence: float) -> Interval | None:
        """Area under the ROC curve; None where pairs are broken."""
        if self.paired and not self.whole_pairs:
            return None
        return stats.auc_interval(
            self.positive, self.negative, confidence=confidence, paired=self.paired
        )

    def found_at(self, fpr: float, confidence: float) -> Interval:
        """True positive rate at a false positive rate."""
        return stats.tpr_at_fpr_interval(
            self.positive, self.negative, fpr, confidence=confidence, paired=self.paired
        ).tpr

    def lost_at(self, fpr: float, confidence: float) -> Interval:
        """The same of one who reads the scores the other way round."""
        return stats.tpr_at_fpr_interval(
            -self.positive, -self.negative, fpr, confidence=confidence, paired=self.paired
        ).tpr

    def _right_share(self, tpr: float, fpr: float) -> float:
        hits, alarms = self.num_positive * tpr, self.num_negative * fpr
        return hits / (hits + alarms)

    def _both_rates(self, confidence: float) -> tuple[Interval, Interval]:
        """Exact limits of both rates that hold together, whatever their dependence."""
        each = stats.shared_confidence(confidence, 2)
        return self.rate(each), self.false_alarms(each)


def comparable_scores(summary: "LabelInferenceAttackSummary") -> NDArray[np.float64]:
    """Return scores, or guesses where there are none; no score at all counts as the lowest."""
    given = summary.predictions if summary.scores is None else summary.scores
    scores = given.astype(np.float64)
    return np.where(np.isnan(scores), -np.inf, scores)


@lru_cache(maxsize=4096)
def share(count: int, total: int, confidence: float) -> Interval:
    """Return a share with its exact limits."""
    low, high = stats.clopper_pearson(count, total, confidence)
    return Interval(float(low), float(high), count / total if total else np.nan)
