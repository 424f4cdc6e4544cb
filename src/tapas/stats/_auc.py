"""DeLong's interval for the area under the ROC curve."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, logit, ndtri
from scipy.stats import rankdata

from tapas.errors import StatisticsError
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["auc_interval"]

FloatArray = NDArray[np.float64]


def auc_interval(
    positive: ArrayLike, negative: ArrayLike, *, confidence: float = 0.95, paired: bool = False
) -> Interval:
    """Return the AUC and DeLong's interval for it, made on the logit scale.

    Parameters
    ----------
    positive, negative
        Scores of the trials in world 1 and in world 0; ties count one half.
    paired
        Whether ``positive[i]`` and ``negative[i]`` are the two trials of one pair.

    Notes
    -----
    Assumes: independent trials within each world; the worlds independent too, or
    independent pairs.
    Guarantees: coverage that tends to `confidence` as trials grow. Where the
    variance estimate is 0 (AUC of 0 or 1, all scores tied) or undefined (fewer
    than two trials in a world), the interval is an exact one from disjoint pairs
    of trials, of which there are as many as in the smaller world, and `widened`
    is true. Without trials in a world: (0, 1) around 0.5, `widened`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988); Sun and Xu (2014) for midranks.
    """
    alpha = check_level(confidence)
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    if ones.size == 0 or zeros.size == 0:
        return WidenedInterval(0.0, 1.0, 0.5)
    above, below = _placements(ones, zeros)
    value = float(above.mean())
    if min(ones.size, zeros.size) < 2 or not 0 < value < 1:
        return _disjoint_pairs(value, min(ones.size, zeros.size), alpha)
    if paired:
        if ones.size != zeros.size:
            raise StatisticsError(
                f"paired scores must be as many in both worlds, got {ones.size} and {zeros.size}"
            )
        variance = float((above + below).var(ddof=1) / ones.size)
    else:
        variance = float(above.var(ddof=1) / ones.size + below.var(ddof=1) / zeros.size)
    if variance <= 0:
        return _disjoint_pairs(value, min(ones.size, zeros.size), alpha)
    half = -float(ndtri(alpha / 2)) * math.sqrt(variance) / (value * (1 - value))
    centre = float(logit(value))
    return Interval(float(expit(centre - half)), float(expit(centre + half)), value)


def _placements(positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for each positive the share of negatives below it, and for each negative the dual."""
    num_positive = positive.size
    together = rankdata(np.concatenate([positive, negative]))
    above = (together[:num_positive] - rankdata(positive)) / negative.size
    below = 1 - (together[num_positive:] - rankdata(negative)) / num_positive
    return above, below


def _disjoint_pairs(value: float, num_pairs: int, alpha: float) -> Interval:
    wins = value * num_pairs
    low = float(betaincinv(wins, num_pairs - wins + 1, alpha / 2)) if wins > 0 else 0.0
    high = float(betaincinv(wins + 1, num_pairs - wins, 1 - alpha / 2)) if wins < num_pairs else 1.0
    return WidenedInterval(low, high, value)
