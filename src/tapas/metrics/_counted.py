"""Metrics of many resampled datasets at once: trials are counted as often as they were drawn."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.metrics._ranking import Ranking
from tapas.metrics._rates import _boolean, _pair

__all__ = ["CountedOutcomes", "Outcomes"]

FloatArray = NDArray[np.float64]


class Outcomes:
    """Secrets, decisions and scores of trials, ready to be counted many times.

    Parameters
    ----------
    labels, predictions
        Secret and decision of each trial.
    scores
        Score of each trial, or one column per value; without it decisions serve.
    values
        Values of the secret in the order of the columns of `scores`; those that
        occur by default.
    """

    def __init__(
        self,
        labels: ArrayLike,
        predictions: ArrayLike,
        scores: ArrayLike | None = None,
        values: Sequence[object] | None = None,
    ) -> None:
        self.labels, self.predictions = _pair(labels, predictions)
        self.scores = None if scores is None else np.asarray(scores, dtype=np.float64)
        self.values = np.unique(self.labels) if values is None else np.asarray(values)

    def counted(self, weights: ArrayLike) -> "CountedOutcomes":
        """Datasets in which trial i occurs ``weights[j, i]`` times."""
        return CountedOutcomes(self, np.asarray(weights, dtype=np.float64))

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether each decision was right."""
        return self.labels == self.predictions

    @cached_property
    def is_positive(self) -> NDArray[np.bool_]:
        """Whether the secret of each trial is positive, of two values."""
        return _boolean(self.labels, "labels")

    @cached_property
    def is_guessed(self) -> NDArray[np.bool_]:
        """Whether each trial was guessed positive, of two values."""
        return _boolean(self.predictions, "predictions")

    @cached_property
    def has_value(self) -> NDArray[np.bool_]:
        """Whether each trial (rows) has each value (columns)."""
        return self.labels[:, None] == self.values

    @cached_property
    def ranking(self) -> Ranking | None:
        """Trials in descending order of score; None without scores."""
        return None if self.scores is None else Ranking(self.is_positive, self.scores)

    @cached_property
    def rankings(self) -> list[Ranking]:
        """Trials in descending order of the score of each value."""
        scores = self.scores
        if scores is None:
            scores = (self.predictions[:, None] == self.values).astype(np.float64)
        return [Ranking(self.has_value[:, j], scores[:, j]) for j in range(len(self.values))]


class CountedOutcomes:
    """Metrics of resampled datasets: every array has one entry per dataset.

    A dataset without one of the classes has NaN where a metric needs both (AUC is then 0.5).
    """

    def __init__(self, outcomes: Outcomes, weights: FloatArray) -> None:
        self._outcomes = outcomes
        self._weights = weights

    def _sum(self, chosen: NDArray[np.bool_]) -> FloatArray:
        return self._weights @ chosen.astype(np.float64)

    @cached_property
    def num_trials(self) -> FloatArray:
        """All trials."""
        return self._weights.sum(axis=-1)

    @cached_property
    def num_positive(self) -> FloatArray:
        """Trials whose secret is positive."""
        return self._sum(self._outcomes.is_positive)

    @cached_property
    def num_negative(self) -> FloatArray:
        """Trials whose secret is negative."""
        return self.num_trials - self.num_positive

    @cached_property
    def tp(self) -> FloatArray:
        """Positive trials guessed positive."""
        return self._sum(self._outcomes.is_positive & self._outcomes.is_guessed)

    @cached_property
    def fp(self) -> FloatArray:
        """Negative trials guessed positive."""
        return self._sum(~self._outcomes.is_positive & self._outcomes.is_guessed)

    @cached_property
    def accuracy(self) -> FloatArray:
        """Share of trials decided correctly."""
        return self._sum(self._outcomes.right) / self.num_trials

    @cached_property
    def true_positive_rate(self) -> FloatArray:
        """Share of the positive trials guessed positive."""
        return _ratio(self.tp, self.num_positive)

    @cached_property
    def false_positive_rate(self) -> FloatArray:
        """Share of the negative trials guessed positive."""
        return _ratio(self.fp, self.num_negative)

    @property
    def mia_advantage(self) -> FloatArray:
        """True positive rate minus false positive rate."""
        return self.true_positive_rate - self.false_positive_rate

    @property
    def precision(self) -> FloatArray:
        """Share of the positive guesses that were right."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def auc(self) -> FloatArray:
        """Area under the ROC curve."""
        return self._area_and_ratio[0]

    @property
    def effective_epsilon(self) -> FloatArray:
        """Largest log-ratio of rates over thresholds, at least 0."""
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self._area_and_ratio[1], 1.0))

    @cached_property
    def _area_and_ratio(self) -> tuple[FloatArray, FloatArray]:
        ranking = self._outcomes.ranking
        if ranking is not None:
            return ranking.area_and_ratio(self._weights, self.num_positive, self.num_negative)
        tpr, fpr = self.true_positive_rate, self.false_positive_rate
        undefined = np.isnan(tpr - fpr)
        best = np.fmax(_ratio(tpr, fpr), _ratio(1 - fpr, 1 - tpr))
        return np.where(undefined, 0.5, (1 + tpr - fpr) / 2), np.where(undefined, np.nan, best)

    @cached_property
    def _occurrences(self) -> FloatArray:
        return self._sum(self._outcomes.has_value)

    @property
    def balanced_accuracy(self) -> FloatArray:
        """Mean, over the values that occur, of the share of their trials decided correctly."""
        right = self._sum(self._outcomes.has_value & self._outcomes.right[:, None])
        return self._mean_over_values(_ratio(right, self._occurrences))

    @property
    def macro_auc(self) -> FloatArray:
        """Mean one-against-rest AUC over the values that occur."""
        areas = [
            ranking.area(self._weights, count, self.num_trials - count)
            for ranking, count in zip(self._outcomes.rankings, self._occurrences.T, strict=True)
        ]
        return self._mean_over_values(np.stack(areas, axis=-1))

    def _mean_over_values(self, of_each: FloatArray) -> FloatArray:
        present = self._occurrences > 0
        total = np.where(present, of_each, 0.0).sum(axis=-1)
        return total / np.maximum(present.sum(axis=-1), 1)


def _ratio(count: FloatArray, total: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return count / total
