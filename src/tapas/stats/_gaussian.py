"""E4: Gaussian differential privacy, between mu and (epsilon, delta)."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError
from tapas.stats._counts import plain
from tapas.stats._intervals import upper_limit

__all__ = ["check_family", "check_gaussian_delta", "gaussian_epsilon", "gaussian_epsilon_from_mu"]

FloatArray = NDArray[np.float64]

_STEPS = 60
FAMILIES = ("gaussian",)


def check_family(family: str | None) -> str | None:
    """Return the family of mechanisms that a claim names, or None, if there is such a one."""
    if family is not None and family not in FAMILIES:
        known = " or ".join(map(repr, FAMILIES))
        raise StatisticsError(
            f"family must be {known}, or None for bounds that hold for every mechanism, got "
            f"{family!r}"
        )
    return family


def gaussian_epsilon(
    tp: FloatArray,
    num_positive: FloatArray,
    fp: FloatArray,
    num_negative: FloatArray,
    alpha: float,
    delta: float,
) -> FloatArray:
    """Return the epsilon at `delta` of the largest mu that both limits certify."""
    fpr_high = upper_limit(fp, num_negative, alpha / 2)
    fnr_high = upper_limit(num_positive - tp, num_positive, alpha / 2)
    # Each quantile alone may be minus infinity, never plus: limits are above 0.
    mu = -scipy.special.ndtri(fpr_high) - scipy.special.ndtri(fnr_high)
    return np.asarray(gaussian_epsilon_from_mu(mu, delta))


def gaussian_epsilon_from_mu(mu: ArrayLike, delta: float) -> Any:
    """Return the epsilon at which a mu-Gaussian mechanism is (epsilon, delta)-private.

    Solves ``delta = Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2)`` with
    logarithms throughout, so that small deltas keep their digits.

    Notes
    -----
    Assumes: the trade-off curve is that of N(0, 1) against N(mu, 1).
    Guarantees: exact up to rounding, increasing in mu; 0 where mu <= 0.

    References
    ----------
    Dong, Roth and Su, Gaussian Differential Privacy (2022), corollary 2.13.
    """
    check_gaussian_delta(delta)
    strength = np.maximum(np.asarray(mu, dtype=float), 0.0)
    positive = np.where(strength > 0, strength, 1.0)
    low = np.zeros(strength.shape)
    high = positive**2 / 2 + positive * np.sqrt(-2 * np.log(delta))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        above = _log_delta(middle, positive) > np.log(delta)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return plain(np.where(strength > 0, low, 0.0))


def _log_delta(epsilon: FloatArray, mu: FloatArray) -> FloatArray:
    first = scipy.special.log_ndtr(-epsilon / mu + mu / 2)
    second = epsilon + scipy.special.log_ndtr(-epsilon / mu - mu / 2)
    with np.errstate(divide="ignore"):
        return first + np.log(-np.expm1(np.minimum(second - first, 0.0)))


def check_gaussian_delta(delta: float) -> None:
    """Refuse a delta of 0, at which every Gaussian mechanism has infinite epsilon."""
    if not 0 < delta < 1:
        raise StatisticsError(
            f"a Gaussian bound needs delta strictly between 0 and 1, got {delta!r}; "
            "pass the delta of the claim, for example delta=1e-5"
        )
