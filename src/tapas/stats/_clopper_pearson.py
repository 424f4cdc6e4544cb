"""E1: epsilon from two Clopper-Pearson limits."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.stats._intervals import upper_limit

__all__ = ["clopper_pearson_epsilon", "epsilon_from_limits", "ratios_from_limits"]

FloatArray = NDArray[np.float64]


def clopper_pearson_epsilon(
    tp: int | FloatArray,
    num_positive: int | FloatArray,
    fp: int | FloatArray,
    num_negative: int | FloatArray,
    alpha: float | FloatArray,
    delta: float,
) -> FloatArray:
    """Return the E1 bound: each world's limit spends half of `alpha`."""
    fpr_high = upper_limit(fp, num_negative, alpha / 2)
    fnr_high = upper_limit(num_positive - tp, num_positive, alpha / 2)
    return np.maximum(0.0, epsilon_from_limits(fpr_high, fnr_high, delta))


def epsilon_from_limits(fpr: ArrayLike, fnr: ArrayLike, delta: float) -> FloatArray:
    """Return the epsilon whose (epsilon, delta) frontier passes through the two error rates.

    Not clamped: below 0 where even a useless attack has these rates, minus
    infinity where delta alone explains them.
    """
    direct, inverse = ratios_from_limits(fpr, fnr, delta)
    return np.maximum(direct, inverse)


def ratios_from_limits(
    fpr: ArrayLike, fnr: ArrayLike, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return log (1-FNR-delta)/FPR and log (1-FPR-delta)/FNR."""
    false_positive, false_negative = np.asarray(fpr, float), np.asarray(fnr, float)
    with np.errstate(divide="ignore"):
        direct = np.log(np.maximum(1 - false_negative - delta, 0.0)) - np.log(false_positive)
        inverse = np.log(np.maximum(1 - false_positive - delta, 0.0)) - np.log(false_negative)
    return direct, inverse
