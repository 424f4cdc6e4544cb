"""How much larger one area under the ROC curve is than another on the same trials."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from tapas.stats._auc import placements
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["auc_gain_interval"]


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
    Guarantees: coverage that tends to `confidence` as trials grow. With fewer than two trials in a
    world: (-1, 1), `widened`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988).
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
    return Interval(max(-1.0, value - half), min(1.0, value + half), value)
