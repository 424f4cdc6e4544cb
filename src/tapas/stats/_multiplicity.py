"""Corrections for asking several questions at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_count
from tapas.errors import StatisticsError
from tapas.stats._counts import check_level

__all__ = ["bonferroni", "holm", "shared_confidence"]

FloatArray = NDArray[np.float64]


def holm(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted by Holm's step-down procedure, in the order given.

    Notes
    -----
    Assumes: each p-value is valid on its own; any dependence between them.
    Guarantees: rejecting where the adjusted value is at most alpha makes any
    false rejection with probability at most alpha. Never larger than Bonferroni.

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    values = _check(p_values)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Return p-values multiplied by their number, at most 1.

    Notes
    -----
    Assumes and Guarantees: as `holm`, which is never worse; this one also gives
    simultaneous confidence limits when each is made at ``1 - alpha / number``.
    """
    values = _check(p_values)
    return np.minimum(values * values.size, 1.0)


def shared_confidence(confidence: float, number: int) -> float:
    """Return the level at which each of several limits is made so that all hold together.

    Notes
    -----
    Assumes: each limit is valid on its own; any dependence between them.
    Guarantees: with probability at least `confidence` none of them fails (Bonferroni).
    """
    alpha = check_level(confidence)
    return 1 - alpha / check_count(number, "number", minimum=1)


def _check(p_values: ArrayLike) -> FloatArray:
    values = np.asarray(p_values, dtype=float)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise StatisticsError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}")
    return values
