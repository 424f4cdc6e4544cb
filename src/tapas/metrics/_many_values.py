"""Metrics for secrets with more than two values."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError, TapasWarning
from tapas.metrics._rates import _pair
from tapas.metrics._roc import auc

__all__ = ["ValueRates", "macro_auc", "value_rates"]


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
