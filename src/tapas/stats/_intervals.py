"""Intervals on one rate and on the difference of two."""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_choice
from tapas.stats._counts import check_counts, check_level, plain

__all__ = ["Interval", "advantage_interval", "clopper_pearson"]


_STEPS = 100


class Interval(NamedTuple):
    """Both ends of an interval and the value they surround.

    `widened` says that the usual formula gave no width, or had no data to work
    on, and that a conservative interval stands in its place.
    """

    low: float
    high: float
    value: float

    @property
    def widened(self) -> bool:
        """Whether a conservative interval stands in place of the usual one."""
        return isinstance(self, WidenedInterval)


class WidenedInterval(Interval):
    """An interval that stands where the usual formula has no answer."""

    __slots__ = ()


def clopper_pearson(
    k: ArrayLike, n: ArrayLike, confidence: float = 0.95, side: str = "two-sided"
) -> Any:
    """Return exact confidence limits for a rate of which `k` of `n` were seen.

    Parameters
    ----------
    k, n
        Successes and trials, scalars or arrays that broadcast.
    confidence
        Coverage of the limits returned: a one-sided limit spends all of
        ``1 - confidence`` on its side, a two-sided interval half on each.
    side
        ``"lower"``, ``"upper"`` or ``"two-sided"``.

    Returns
    -------
    float, array or tuple
        One limit, or ``(low, high)`` when two-sided.

    Notes
    -----
    Assumes: independent trials of one rate, their number fixed beforehand.
    Guarantees: coverage of at least `confidence` for every rate and every n.
    Without trials (n = 0) the limits are 0 and 1.

    References
    ----------
    Clopper and Pearson, Biometrika 26 (1934).
    """
    check_choice(side, "side", ("lower", "upper", "two-sided"))
    successes, trials = check_counts(k, n, ("k", "n"))
    alpha = check_level(confidence)
    if side == "two-sided":
        low = lower_limit(successes, trials, alpha / 2)
        return plain(low), plain(upper_limit(successes, trials, alpha / 2))
    limit = lower_limit if side == "lower" else upper_limit
    return plain(limit(successes, trials, alpha))


def upper_limit(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> NDArray[np.float64]:
    """Return the rate at which `k` or fewer successes have probability `tail`."""
    successes, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    full = successes >= trials
    limit = scipy.special.betainccinv(successes + 1, np.where(full, 1.0, trials - successes), tail)
    return np.where(full, 1.0, limit)


def lower_limit(k: ArrayLike, n: ArrayLike, tail: ArrayLike) -> NDArray[np.float64]:
    """Return the rate at which `k` or more successes have probability `tail`."""
    successes, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    none = successes <= 0
    limit = scipy.special.betaincinv(np.where(none, 1.0, successes), trials - successes + 1, tail)
    return np.where(none, 0.0, limit)


@lru_cache(maxsize=512)
def upper_limit_table(n: int, tail: float) -> NDArray[np.float64]:
    """Return `upper_limit` for every count 0..n; many thresholds then cost one look-up each."""
    table = upper_limit(np.arange(n + 1), n, tail)
    table.flags.writeable = False
    return table


def advantage_interval(
    tp: int, num_positive: int, fp: int, num_negative: int, *, confidence: float = 0.95
) -> Interval:
    """Return exact limits of the advantage TPR - FPR.

    Notes
    -----
    Assumes: the trials of each world are independent, the worlds too.
    Guarantees: coverage of at least `confidence` for all rates and numbers of
    trials: rates are left out where the exact one-sided p-values of the two
    worlds, multiplied, are too small by Fisher's rule. A world without trials
    gives [-1, 1] around NaN.

    References
    ----------
    Fisher, Statistical Methods for Research Workers (1932), section 21.1.
    """
    check_counts([tp, fp], [num_positive, num_negative], ("tp, fp", "trials"))
    alpha = check_level(confidence)
    if num_positive == 0 or num_negative == 0:
        return WidenedInterval(-1.0, 1.0, math.nan)
    low = _least_difference(int(tp), int(num_positive), int(fp), int(num_negative), alpha / 2)
    high = -_least_difference(int(fp), int(num_negative), int(tp), int(num_positive), alpha / 2)
    return Interval(low, high, tp / num_positive - fp / num_negative)


@lru_cache(maxsize=4096)
def _least_difference(k: int, n: int, other: int, others: int, tail: float) -> float:
    """Return a lower limit of the difference of two rates, which fails with at most `tail`."""
    least = math.exp(-float(scipy.special.chdtri(4, tail)) / 2)
    # How the product is divided between the two; between two steps the worse of either.
    mine = np.geomspace(least, 1.0, _STEPS)
    low = lower_limit(k, n, mine[:-1])
    return float(np.min(low - upper_limit(other, others, least / mine[1:])))
