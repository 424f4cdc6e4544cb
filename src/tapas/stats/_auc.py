"""DeLong's interval for the area under the ROC curve."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError
from tapas.stats._counts import check_level, check_scores
from tapas.stats._intervals import Interval, WidenedInterval, advantage_interval

__all__ = ["auc_interval"]

FloatArray = NDArray[np.float64]

FEW = 50
_FEW_MISSING = 5
_GRID = 2001


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
    Guarantees: coverage of about `confidence` with 50 trials or more in each world,
    of at least that with fewer. From few trials DeLong's variance is mostly too
    small: below 50 in a world, and wherever that variance is 0, the interval is
    that of a share of as many trials as the smaller world has (half as many where
    trials are paired), which no AUC exceeds in variance; `widened` is then true.
    With more the interval holds Newcombe's too. Near 1 (and, mirrored, near 0) the
    upper end is at least that of a share of as many trials as would vary so little,
    for the others stop short at high confidence; and if less than five trials of the
    smaller world are missing to 1, whose variance says little, the lower end is that
    of few trials. Without trials in a world: (0, 1) around 0.5, `widened`. Scores of
    two values are yes and no: the area is half of one more than their advantage, and
    its limits, unless paired, are the exact ones of `advantage_interval`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988); Sun and Xu (2014) for midranks;
    Birnbaum and Klose (1957) for the largest variance; Newcombe (2006), method 5.
    """
    alpha = check_level(confidence)
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    if ones.size == 0 or zeros.size == 0:
        return WidenedInterval(0.0, 1.0, 0.5)
    if paired and ones.size != zeros.size:
        raise StatisticsError(
            f"paired scores must be as many in both worlds, got {ones.size} and {zeros.size}"
        )
    levels = np.unique(np.concatenate([ones, zeros]))
    if levels.size == 2 and not paired:
        return _of_decisions(ones == levels[1], zeros == levels[1], confidence)
    above, below = placements(ones, zeros)
    value, fewest = float(above.mean()), min(ones.size, zeros.size)
    careful = _as_share(value, fewest / 2 if paired else fewest, alpha)
    if fewest < FEW or not 0 < value < 1:
        return careful
    if paired:
        variance = float((above + below).var(ddof=1) / ones.size)
    else:
        variance = float(above.var(ddof=1) / ones.size + below.var(ddof=1) / zeros.size)
    if variance <= 0:
        return careful
    z = -float(scipy.special.ndtri(alpha / 2))
    low, high = _on_logits(value, variance, z)
    if not paired:
        ends = _newcombe(value, ones.size, zeros.size, z)
        low, high = min(low, ends[0]), max(high, ends[1])
    alike = _as_share(value, min(value * (1 - value) / variance, ones.size + zeros.size), alpha)
    missing = fewest * min(value, 1 - value)
    far = careful if missing < _FEW_MISSING else Interval(low, high, value)
    if value > 0.5:
        return Interval(min(low, far.low), max(high, alike.high), value)
    return Interval(min(low, alike.low), max(high, far.high), value)


def _of_decisions(
    hits: NDArray[np.bool_], alarms: NDArray[np.bool_], confidence: float
) -> Interval:
    counts = (int(hits.sum()), hits.size, int(alarms.sum()), alarms.size)
    low, high, value = ((1 + end) / 2 for end in advantage_interval(*counts, confidence=confidence))
    kind = Interval if 0 < value < 1 else WidenedInterval
    return kind(low, high, value)


def _on_logits(value: float, variance: float, z: float) -> tuple[float, float]:
    centre = float(scipy.special.logit(value))
    half = z * math.sqrt(variance) / (value * (1 - value))
    return float(scipy.special.expit(centre - half)), float(scipy.special.expit(centre + half))


def placements(positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for each positive the share of negatives below it, and for each negative the dual."""
    above = _midranks(positive, np.sort(negative)) / negative.size
    below = 1 - _midranks(negative, np.sort(positive)) / positive.size
    return above, below


def _midranks(values: FloatArray, ordered: FloatArray) -> FloatArray:
    """Return how many of `ordered` are below each value; ties count one half."""
    return (np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")) / 2


def _newcombe(value: float, num_positive: int, num_negative: int, z: float) -> tuple[float, float]:
    """Return the areas whose own standard error puts them z of it away from `value`."""
    areas = np.linspace(0.0, 1.0, _GRID)
    spread = (num_positive + num_negative) / 2 - 1
    shape = 1 + spread * ((1 - areas) / (2 - areas) + areas / (1 + areas))
    variance = areas * (1 - areas) * shape / (num_positive * num_negative)
    inside = np.flatnonzero((areas - value) ** 2 <= z * z * variance)
    if inside.size == 0:
        return value, value
    return float(areas[max(0, inside[0] - 1)]), float(areas[min(_GRID - 1, inside[-1] + 1)])


def _as_share(value: float, num_trials: float, alpha: float) -> Interval:
    wins = value * num_trials
    low = (
        float(scipy.special.betaincinv(wins, num_trials - wins + 1, alpha / 2)) if wins > 0 else 0.0
    )
    missed = num_trials - wins
    high = float(scipy.special.betaincinv(wins + 1, missed, 1 - alpha / 2)) if missed > 0 else 1.0
    return WidenedInterval(low, high, value)
