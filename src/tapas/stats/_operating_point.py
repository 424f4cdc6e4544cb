"""TPR at a fixed FPR, with intervals on both."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_probability
from tapas.errors import StatisticsError
from tapas.stats._bands import band_table
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, lower_limit, upper_limit

__all__ = ["OperatingInterval", "tpr_at_fpr_interval"]


@dataclass(frozen=True)
class OperatingInterval:
    """One point of an ROC curve: the event is ``score >= threshold``.

    `fpr` is the rate that was realised, at most the rate asked for where the
    threshold was chosen here. `threshold` is infinite where no score is high
    enough, and the event then never happens.
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
) -> OperatingInterval:
    """Return TPR and realised FPR at the lowest threshold whose FPR is at most `fpr`.

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

    Notes
    -----
    Assumes: independent trials within each world, the worlds independent.
    Guarantees: each of the two intervals covers with at least `confidence`.
    A given threshold has Clopper-Pearson on both rates. A threshold chosen here
    looks at the negatives alone, so TPR keeps Clopper-Pearson; the upper end of
    FPR is the exact limit of the order statistic that was chosen, the lower end
    comes from a Berk-Jones band.
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
    barrier = np.sort(zeros)[::-1][allowed] if allowed < zeros.size else -np.inf
    fp = int(np.sum(zeros > barrier))
    fpr_high = 1.0 if allowed >= zeros.size else float(upper_limit(allowed, zeros.size, alpha / 2))
    fpr_low = 1 - float(band_table(zeros.size, alpha / 2, "berk-jones")[zeros.size - fp])
    above = np.concatenate([ones[ones > barrier], zeros[zeros > barrier]])
    return OperatingInterval(
        threshold=float(above.min(initial=np.inf)),
        tpr=_rate(int(np.sum(ones > barrier)), ones.size, alpha),
        fpr=Interval(max(0.0, fpr_low), fpr_high, fp / zeros.size),
        confidence=confidence,
        method="threshold on the negatives",
    )


def _rate(k: int, n: int, alpha: float) -> Interval:
    low, high = lower_limit(k, n, alpha / 2), upper_limit(k, n, alpha / 2)
    return Interval(float(low), float(high), k / n)
