"""How much larger one area under the ROC curve is than another on the same trials."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas.stats._auc import placements
from tapas.stats._auc_columns import column_auc_limits, hanley_mcneil
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["auc_gain_interval"]

Placed = tuple[NDArray[np.float64], NDArray[np.float64]]
# Trials on the wrong side, below which their placements say little of how much an area varies.
_FEW = 3


def auc_gain_interval(
    positive: tuple[ArrayLike, ArrayLike],
    negative: tuple[ArrayLike, ArrayLike],
    *,
    confidence: float = 0.95,
) -> Interval:
    """Return the AUC of the first scores minus that of the second, with DeLong's interval.

    Parameters
    ----------
    positive, negative
        Two scores of each trial in world 1 and in world 0.

    Notes
    -----
    Assumes: independent trials.
    Guarantees: coverage that tends to `confidence` as trials grow. Where few trials are on the
    wrong side, DeLong's error says little, and the ends are at least those that follow from the
    intervals of both AUCs. With fewer than two trials in a world: (-1, 1), `widened`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988); Zou (2007); Newcombe (2006), method 5.
    """
    alpha = check_level(confidence)
    ones = [check_scores(scores, "positive") for scores in positive]
    zeros = [check_scores(scores, "negative") for scores in negative]
    if min(ones[0].size, zeros[0].size) < 2:
        return WidenedInterval(-1.0, 1.0, 0.0)
    first, second = (placements(*pair) for pair in zip(ones, zeros, strict=True))
    above, below = (np.subtract(*sides) for sides in zip(first, second, strict=True))
    value = float(above.mean())
    variance = above.var(ddof=1) / above.size + below.var(ddof=1) / below.size
    half = -float(scipy.special.ndtri(alpha / 2)) * math.sqrt(variance)
    low, high = value - half, value + half
    if min(_misranked(first), _misranked(second)) < _FEW:
        one, two = _beside_ends(first, second, variance, confidence)
        low, high = min(low, value - one), max(high, value + two)
    return Interval(max(-1.0, low), min(1.0, high), value)


def _misranked(placed: Placed) -> float:
    """How many trials of the rarer world are on the wrong side, whichever way scores are read."""
    area = float(placed[0].mean())
    return min(area, 1 - area) * min(len(placed[0]), len(placed[1]))


def _beside_ends(
    first: Placed, second: Placed, variance: float, confidence: float
) -> tuple[float, float]:
    """How far the ends are from the difference, from those of both areas (Zou 2007)."""
    sizes = np.array([len(first[0])] * 2), np.array([len(first[1])] * 2)
    areas = np.array([placed[0].mean() for placed in (first, second)])
    spreads = [sum(side.var(ddof=1) / side.size for side in placed) for placed in (first, second)]
    errors = np.sqrt(hanley_mcneil(areas, *sizes))
    low, high = column_auc_limits(areas, errors, *sizes, confidence=confidence)
    shared = sum(spreads) - variance
    both = 2 * math.sqrt(spreads[0] * spreads[1])
    related = min(1.0, max(-1.0, shared / both)) if both > 0 else 0.0
    down, up = areas - low, high - areas
    return (
        math.sqrt(max(0.0, down[0] ** 2 + up[1] ** 2 - 2 * related * down[0] * up[1])),
        math.sqrt(max(0.0, up[0] ** 2 + down[1] ** 2 - 2 * related * up[0] * down[1])),
    )
