"""TPR at a fixed FPR, with intervals on both."""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_probability
from tapas.errors import StatisticsError
from tapas.stats._bands import band_table
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, lower_limit, upper_limit

__all__ = ["OperatingInterval", "negatives_needed", "tpr_at_fpr_interval"]


@dataclass(frozen=True)
class OperatingInterval:
    """One point of an ROC curve: the event is ``score >= threshold``.

    `tpr` is the rate at the FPR asked for, `fpr` the rate that was realised at the
    threshold. `threshold` is infinite where no score is high enough, and the event
    then never happens.
    """

    threshold: float
    tpr: Interval
    fpr: Interval
    confidence: float
    method: str


def tpr_at_fpr_interval(
    positive: ArrayLike,
    negative: ArrayLike,
    fpr: float,
    *,
    confidence: float = 0.95,
    threshold: float | None = None,
    paired: bool = False,
) -> OperatingInterval:
    """Return the largest TPR at an FPR of at most `fpr`, and the FPR that was realised.

    Nothing is interpolated and tied scores stay together, so the realised FPR
    may be below the one asked for.

    Parameters
    ----------
    positive, negative
        Scores in world 1 and in world 0.
    fpr
        Largest FPR allowed.
    threshold
        A threshold found on other trials; then `fpr` only labels the point.
    paired
        Whether the worlds depend on each other.

    Notes
    -----
    Assumes: independent trials within each world, the worlds independent unless
    `paired`. Guarantees: each of the two intervals covers with at least
    `confidence`. A given threshold has Clopper-Pearson on both rates. Otherwise
    `tpr` covers the rate at the *stated* FPR: one order statistic of the negatives
    has an FPR below it and another one above it, each but for a quarter of alpha,
    and TPR there is limited for another quarter. Its lower end is 0 where there are
    too few negatives to be sure of so low a rate (437 at 1 % and 95 % confidence,
    `negatives_needed`). The upper end of `fpr` is the exact limit of the order
    statistic that was chosen, the lower end comes from a Berk-Jones band.
    """
    alpha = check_level(confidence)
    check_probability(fpr, "fpr")
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    if ones.size == 0 or zeros.size == 0:
        raise StatisticsError(
            f"TPR at an FPR needs trials in both worlds, got {ones.size} positive and "
            f"{zeros.size} negative; test the attack on more trials"
        )
    if threshold is not None:
        fp = int(np.sum(zeros >= threshold))
        return OperatingInterval(
            threshold=float(threshold),
            tpr=_rate(int(np.sum(ones >= threshold)), ones.size, alpha),
            fpr=_rate(fp, zeros.size, alpha),
            confidence=confidence,
            method="fixed threshold",
        )
    # Rounded before flooring: 0.07 * 100 must allow seven alarms.
    allowed = int(np.floor(np.round(fpr * zeros.size, 9)))
    ranked = np.sort(zeros)[::-1]
    barrier = ranked[allowed] if allowed < zeros.size else -np.inf
    fp = int(np.sum(zeros > barrier))
    fpr_high = 1.0 if allowed >= zeros.size else float(upper_limit(allowed, zeros.size, alpha / 2))
    fpr_low = 1 - float(band_table(zeros.size, alpha / 2, "berk-jones")[zeros.size - fp])
    above = np.concatenate([ones[ones > barrier], zeros[zeros > barrier]])
    low, high = _stated_rate(ones, ranked, fpr, alpha / 4, paired)
    return OperatingInterval(
        threshold=float(above.min(initial=np.inf)),
        tpr=Interval(low, high, float(np.mean(ones > barrier))),
        fpr=Interval(max(0.0, fpr_low), fpr_high, fp / zeros.size),
        confidence=confidence,
        method="order statistics of the negatives",
    )


def negatives_needed(fpr: float, confidence: float = 0.95) -> float:
    """Return how many negative trials let the TPR at `fpr` have a lower end above 0.

    Notes
    -----
    Assumes: what `tpr_at_fpr_interval` assumes. Guarantees: with fewer, that
    interval begins at 0 whatever the scores are.
    """
    tail = check_level(confidence) / 4
    if not check_probability(fpr, "fpr") > 0:
        return math.inf
    return 1 if fpr >= 1 else math.ceil(math.log(tail) / math.log1p(-fpr))


def _stated_rate(
    ones: NDArray[np.float64], ranked: NDArray[np.float64], fpr: float, tail: float, paired: bool
) -> tuple[float, float]:
    """Return limits of the TPR at `fpr`, each of which fails with at most twice `tail`."""
    if fpr >= 1:
        return 1.0, 1.0
    size = ranked.size
    counts = np.arange(size)
    # At most k of the negatives are above the (k + 1)-th: its FPR exceeds `fpr` with this chance.
    strict = np.flatnonzero(scipy.special.bdtr(counts, size, fpr) <= tail)
    loose = np.flatnonzero(scipy.special.bdtrc(counts, size, fpr) <= tail)
    low, high = 0.0, 1.0
    if strict.size:
        low = _limit(int(np.sum(ones > ranked[strict[-1]])), ones.size, tail, paired)
    if loose.size:
        # Thresholds that keep to `fpr` lie above this negative, so that equal scores are no hits.
        missed = int(np.sum(ones <= ranked[loose[0]]))
        high = 1 - _limit(missed, ones.size, tail, paired)
    return low, high


def _limit(k: int, n: int, tail: float, paired: bool) -> float:
    """Return a lower limit of a rate; one for all thresholds where they depend on the trials."""
    if not paired:
        return float(lower_limit(k, n, tail))
    return max(0.0, 1 - float(band_table(n, tail, "berk-jones")[n - k]))


def _rate(k: int, n: int, alpha: float) -> Interval:
    low, high = lower_limit(k, n, alpha / 2), upper_limit(k, n, alpha / 2)
    return Interval(float(low), float(high), k / n)
