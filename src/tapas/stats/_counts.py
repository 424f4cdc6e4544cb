"""Counts that come in from outside, checked once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_probability
from tapas.errors import StatisticsError

__all__ = ["check_counts", "check_level", "check_scores", "plain"]

FloatArray = NDArray[np.float64]


def check_counts(k: ArrayLike, n: ArrayLike, names: tuple[str, str]) -> tuple[FloatArray, Any]:
    """Return successes and trials as float arrays of whole numbers with 0 <= k <= n."""
    successes, trials = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    for values, name in ((successes, names[0]), (trials, names[1])):
        if not np.all(np.isfinite(values)) or np.any(values != np.floor(values)):
            raise StatisticsError(
                f"{name} must be whole numbers of trials, got {values!r}; pass counts, not rates"
            )
    if np.any(successes < 0) or np.any(successes > trials):
        raise StatisticsError(
            f"{names[0]} must lie between 0 and {names[1]}, got {k!r} of {n!r}; "
            "check that the two counts belong to the same world"
        )
    return successes, trials


def check_level(confidence: float, delta: float = 0.0) -> float:
    """Return alpha = 1 - confidence once confidence and delta are known to be probabilities."""
    check_probability(delta, "delta")
    return 1.0 - check_probability(confidence, "confidence", open_interval=True)


def check_scores(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as one flat array of floats without missing values."""
    scores = np.asarray(values, dtype=float)
    if scores.ndim != 1:
        raise StatisticsError(
            f"{name} must have one axis, got shape {scores.shape}; pass one target at a time"
        )
    if np.isnan(scores).any():
        raise StatisticsError(
            f"{name} holds {int(np.isnan(scores).sum())} missing values; "
            "leave those trials out or give them a score"
        )
    return scores


def plain(values: Any) -> Any:
    """Return a float where `values` has no axes, else the array."""
    array = np.asarray(values, dtype=float)
    return float(array) if array.ndim == 0 else array
