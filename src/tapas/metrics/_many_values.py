"""Metrics for secrets with more than two values."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError, TapasWarning
from tapas.metrics._ranking import Ranking
from tapas.metrics._rates import _pair
from tapas.metrics._resampled import resampled_counts
from tapas.metrics._roc import auc

__all__ = ["ValueRates", "macro_auc", "resampled_value_metrics", "value_rates"]


class ValueRates(NamedTuple):
    """One-against-rest rates of each value; arrays in the order of `values`."""

    values: NDArray[Any]
    num_trials: NDArray[np.int64]
    true_positive_rate: NDArray[np.float64]
    false_positive_rate: NDArray[np.float64]
    precision: NDArray[np.float64]


def value_rates(
    labels: ArrayLike, predictions: ArrayLike, values: Sequence[Any] | None = None
) -> ValueRates:
    """Rates of each value against all others; NaN where a rate has no trials.

    `values` defaults to the sorted values that occur as a label or a prediction.
    """
    truth, guess = _pair(labels, predictions)
    order = np.unique(np.concatenate([truth, guess])) if values is None else np.asarray(values)
    is_value, guessed = truth[:, None] == order, guess[:, None] == order
    count, guesses = is_value.sum(axis=0), guessed.sum(axis=0)
    hits = (is_value & guessed).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ValueRates(
            order, count, hits / count, (guesses - hits) / (len(truth) - count), hits / guesses
        )


def macro_auc(labels: ArrayLike, scores: ArrayLike, values: Sequence[Any]) -> float:
    """Mean one-against-rest AUC over the values that occur as labels.

    Parameters
    ----------
    labels
        Value of each trial.
    scores
        Array of shape (trials, values): column j scores ``values[j]``.
    values
        The values in column order.

    Returns
    -------
    float
        0.5 where a single value occurs; NaN, with a warning, without trials.
    """
    truth, matrix = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if matrix.shape != (len(truth), len(values)):
        raise StatisticsError(
            f"scores must have one row per trial and one column per value, "
            f"{(len(truth), len(values))}, got {matrix.shape}"
        )
    present = [j for j, value in enumerate(values) if np.any(truth == value)]
    if not present:
        warnings.warn("macro_auc is NaN: no label is one of the values", TapasWarning, stacklevel=2)
        return float("nan")
    return float(np.mean([auc(truth == values[j], matrix[:, j]) for j in present]))


def resampled_value_metrics(
    labels: ArrayLike,
    predictions: ArrayLike,
    scores: ArrayLike,
    values: Sequence[Any],
    *,
    num_replicates: int,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Bootstrap accuracy, balanced accuracy and macro AUC of a many-valued secret.

    Parameters are those of `macro_auc` and `resampled_metrics`; the result has the
    names ``accuracy``, ``balanced_accuracy`` and ``macro_auc``.
    """
    truth, guess = _pair(labels, predictions)
    matrix = np.asarray(scores, dtype=np.float64)
    is_value = truth[:, None] == np.asarray(values)
    rankings = [Ranking(is_value[:, j], matrix[:, j]) for j in range(matrix.shape[1])]
    blocks = [
        _counted_value_metrics(weights.astype(np.float64), is_value, truth == guess, rankings)
        for weights in resampled_counts(len(truth), num_replicates, rng=rng, groups=groups)
    ]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _counted_value_metrics(
    counts: NDArray[np.float64],
    is_value: NDArray[np.bool_],
    correct: NDArray[np.bool_],
    rankings: list[Ranking],
) -> dict[str, NDArray[np.float64]]:
    trials = counts.sum(axis=-1)
    occurrences = counts @ is_value.astype(np.float64)
    right = counts @ (is_value & correct[:, None]).astype(np.float64)
    present = occurrences > 0
    num_present = np.maximum(present.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        recalls = np.where(present, right / occurrences, 0.0)
    areas = np.stack(
        [
            ranking.area(counts, occurrences[:, j], trials - occurrences[:, j])
            for j, ranking in enumerate(rankings)
        ],
        axis=1,
    )
    return {
        "accuracy": counts @ correct.astype(np.float64) / trials,
        "balanced_accuracy": recalls.sum(axis=-1) / num_present,
        "macro_auc": np.where(present, areas, 0.0).sum(axis=-1) / num_present,
    }
