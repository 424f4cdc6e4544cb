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
    """Return Newcombe's interval for the advantage TPR - FPR.

    Notes
    -----
    Assumes: the trials of each world are independent, the worlds too.
    Guarantees: coverage close to `confidence` on average over the rates (it is
    an approximate interval that combines two Wilson intervals), never an end
    outside [-1, 1]. A world without trials gives [-1, 1] around NaN.

    References
    ----------
    Newcombe, Statistics in Medicine 17 (1998), method 10.
    """
    check_counts([tp, fp], [num_positive, num_negative], ("tp, fp", "trials"))
    alpha = check_level(confidence)
    if num_positive == 0 or num_negative == 0:
        return WidenedInterval(-1.0, 1.0, math.nan)
    tpr, tpr_low, tpr_high = _wilson(tp, num_positive, alpha)
    fpr, fpr_low, fpr_high = _wilson(fp, num_negative, alpha)
    value = tpr - fpr
    low = value - math.hypot(tpr - tpr_low, fpr_high - fpr)
    high = value + math.hypot(tpr_high - tpr, fpr - fpr_low)
    return Interval(max(-1.0, low), min(1.0, high), value)


def _wilson(k: int, n: int, alpha: float) -> tuple[float, float, float]:
    z = -float(scipy.special.ndtri(alpha / 2))
    rate = k / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return rate, min(rate, centre - half), max(rate, centre + half)
