"""E2: Buehler's tightening of E1, by exact tail probabilities."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._clopper_pearson import epsilon_from_limits
from tapas.stats._intervals import upper_limit_table

__all__ = ["buehler_epsilon", "outcome_boundary"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_LOGIT_LIMIT = 40.0
_CERTAIN = 700.0  # log odds beyond which a rate is 0 or 1
_COARSE_STEPS = 26
_FINE_STEPS = 38
_COARSELY = 1e-4  # more than coarse steps change an epsilon by
_ZOOMS = 5
_FAR = 1.5  # between ends for which a chord says little
_MOST_STEPS = 100


@lru_cache(maxsize=256)
def buehler_epsilon(
    tp: int,
    num_positive: int,
    fp: int,
    num_negative: int,
    alpha: float,
    delta: float,
    floor: float = 0.0,
) -> float:
    """Return the smallest epsilon that gives outcomes this extreme probability above `alpha`.

    Outcomes are ordered by E1's bound before clamping. For each FPR the FNR at
    which the observed tail has probability `alpha` is found; the pairs form the
    edge of a confidence set, and the bound is the smallest epsilon on that edge.
    Where that is below `floor`, 0 may stand for it.
    """
    if num_positive == 0 or num_negative == 0:
        return 0.0
    tail = _Tail.observed(tp, num_positive, fp, num_negative, alpha, delta)
    if tail is None or tail.is_likely_by_chance((tp + fp) / (num_positive + num_negative)):
        return 0.0
    # Arcsine scale: one standard deviation of a rate is the same everywhere.
    deviation = 1 / (2 * np.sqrt(max(num_positive, num_negative)))
    if floor > 0 and tail.is_below(floor, fp / num_negative, deviation):
        return 0.0
    step = deviation / 2  # of whole ones, a second valley may be missed
    angles = np.arange(step / 2, np.pi / 2, step)
    whole = np.full(angles.shape, -_LOGIT_LIMIT), np.full(angles.shape, _LOGIT_LIMIT)
    edges = tail.edges(np.sin(angles) ** 2, *whole, _COARSE_STEPS)
    for zoom in range(_ZOOMS):
        values = tail.epsilon(np.sin(angles) ** 2, edges)
        best = angles[np.argsort(values)[: 6 if zoom == 0 else 2]]
        around = best[:, None] + step * np.linspace(-1, 1, 9)
        closer = np.unique(np.clip(around, 1e-9, np.pi / 2 - 1e-9))
        within = _neighbours(closer, angles, edges)
        angles, edges = closer, tail.edges(np.sin(closer) ** 2, *within, _FINE_STEPS)
        step /= 4
    return max(0.0, float(tail.epsilon(np.sin(angles) ** 2, edges).min()))


def _neighbours(
    angles: FloatArray, known: FloatArray, edges: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Between which log odds the edges at some angles lie: edges fall as angles grow."""
    slack = 4 * _LOGIT_LIMIT / 2**_COARSE_STEPS
    ends = np.concatenate([[_LOGIT_LIMIT], edges, [-_LOGIT_LIMIT]])
    low = ends[np.searchsorted(known, angles, side="left") + 1] - slack
    high = ends[np.searchsorted(known, angles, side="right")] + slack
    return np.maximum(low, -_LOGIT_LIMIT), np.minimum(high, _LOGIT_LIMIT)


def outcome_boundary(
    level: float, fpr_high: FloatArray, fnr_high: FloatArray, delta: float
) -> IntArray:
    """Return, for each limit of FPR, the last place in `fnr_high` with which E1 reaches `level`.

    -1 stands where none does. E1 falls in both counts, so the outcomes that
    reach `level` are exactly those on or below this boundary.
    """
    with np.errstate(over="ignore"):
        growth = np.exp(level)
        allowed = np.maximum(1 - delta - growth * fpr_high, (1 - delta - fpr_high) / growth)
    # Rounding may not push the observed outcome out of its own tail.
    allowed = allowed + 1e-9 * np.abs(allowed)
    return np.searchsorted(fnr_high, allowed, side="right") - 1


@dataclass(frozen=True)
class _Tail:
    """The outcomes at least as extreme as the observed one, and their probability."""

    boundary: IntArray
    num_positive: int
    num_negative: int
    alpha: float
    delta: float

    @classmethod
    def observed(
        cls, tp: int, num_positive: int, fp: int, num_negative: int, alpha: float, delta: float
    ) -> "_Tail | None":
        fpr_high = upper_limit_table(num_negative, alpha / 2)
        fnr_high = upper_limit_table(num_positive, alpha / 2)
        level = float(epsilon_from_limits(fpr_high[fp], fnr_high[num_positive - tp], delta))
        if level == -np.inf:
            return None
        boundary = outcome_boundary(level, fpr_high, fnr_high, delta)
        return cls(boundary, num_positive, num_negative, alpha, delta)

    def is_likely_by_chance(self, rate: float) -> bool:
        """Whether equal rates in both worlds explain the outcome: the bound is then 0."""
        rates = np.array([rate])
        columns, weights = _binomial_window(self.num_negative, rates)
        odds = scipy.special.logit(1 - rates)
        found = self._probability(self.boundary[columns], weights, odds)
        return bool(found[0] > self.alpha)

    def is_below(self, floor: float, fpr: float, step: float) -> bool:
        """Whether the edge of the confidence set is seen to come below an epsilon.

        It is looked at from the observed FPR to a few standard deviations above.
        """
        angles = np.arcsin(np.sqrt(fpr)) + 2 * step * np.arange(0.5, 6)
        rates = np.sin(np.minimum(angles, np.pi / 2 - step / 2)) ** 2
        ends = np.full(rates.shape, _LOGIT_LIMIT)
        edges = self.edges(rates, -ends, ends, _COARSE_STEPS)
        return bool(self.epsilon(rates, edges).min() < floor - _COARSELY)

    def epsilon(self, fpr: FloatArray, edges: FloatArray) -> FloatArray:
        """Return the epsilon at each FPR and log odds of the FNR; infinite at the lowest odds."""
        found = epsilon_from_limits(fpr, scipy.special.expit(edges), self.delta)
        return np.where(edges > -_LOGIT_LIMIT, found, np.inf)

    def edges(self, fpr: FloatArray, low: FloatArray, high: FloatArray, steps: int) -> FloatArray:
        """Return the log odds of the FNR from which on the tail is too unlikely, for each FPR.

        They are known to lie between `low` and `high`, and are those that so many halvings of the
        whole range lead to. The lowest odds where the tail is too unlikely at any FNR.
        """
        columns, weights = _binomial_window(self.num_negative, fpr)
        most = self.boundary[columns]
        reachable = np.where(most >= 0, weights, 0.0).sum(axis=1) > self.alpha
        found = np.full(fpr.shape, -_LOGIT_LIMIT)
        if reachable.any():
            rows = most[reachable], weights[reachable]
            near = self._nearer(*rows, low[reachable], high[reachable], _LOGIT_LIMIT / 2**steps)
            found[reachable] = self._halved(*rows, *near, steps)
        return found

    def _halved(
        self, most: IntArray, weights: FloatArray, low: FloatArray, high: FloatArray, steps: int
    ) -> FloatArray:
        """Halve the whole range so many times; asked is only between `low` and `high`."""
        left, right = np.full(low.shape, -_LOGIT_LIMIT), np.full(low.shape, _LOGIT_LIMIT)
        for _ in range(steps):
            middle = (left + right) / 2
            above = middle <= low
            (unknown,) = np.nonzero((middle > low) & (middle < high))
            if unknown.size:
                excess = self._excess(most[unknown], weights[unknown], middle[unknown])
                above[unknown] = excess > 0
            left, right = np.where(above, middle, left), np.where(above, right, middle)
        return right

    def _nearer(
        self, most: IntArray, weights: FloatArray, low: FloatArray, high: FloatArray, width: float
    ) -> tuple[FloatArray, FloatArray]:
        """Bring two ends together around the edge, by regula falsi (the Illinois method)."""
        below, above = (self._excess(most, weights, end) for end in (low, high))
        last = np.zeros(low.shape)
        for _ in range(_MOST_STEPS):
            (rows,) = np.nonzero(high - low > width)
            if not rows.size:
                break
            first, second = low[rows], high[rows]
            fall = below[rows] - above[rows]
            straight = (second - first < _FAR) & (fall > 0)
            chord = np.divide(below[rows], fall, out=np.full(fall.shape, 0.5), where=straight)
            middle = first + (second - first) * chord
            middle = np.clip(middle, first + width / 2, second - width / 2)
            value = self._excess(most[rows], weights[rows], middle)
            more = value > 0
            up, down = rows[more], rows[~more]
            low[up], below[up] = middle[more], value[more]
            high[down], above[down] = middle[~more], value[~more]
            # An end that stays twice counts half.
            above[up[last[up] > 0]] /= 2
            below[down[last[down] < 0]] /= 2
            last[up], last[down] = 1, -1
        return low, high

    def _excess(self, most: IntArray, weights: FloatArray, odds: FloatArray) -> FloatArray:
        """By how much the logarithm of the tail's probability is above that of `alpha`."""
        found = self._probability(most, weights, odds)
        return np.log(np.maximum(found, 1e-300) / self.alpha)

    def _probability(self, most: IntArray, weights: FloatArray, odds: FloatArray) -> FloatArray:
        """Return the probability of the tail at these log odds of the FNR."""
        start, mass = _binomial_mass(self.num_positive, odds)
        below = np.cumsum(mass, axis=1)
        place = most - start[:, None]
        flat = np.clip(place, 0, below.shape[1] - 1)
        flat += below.shape[1] * np.arange(len(below))[:, None]
        return (weights * np.where(place < 0, 0.0, below.ravel()[flat])).sum(axis=1)


def _binomial_window(n: int, rate: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return counts within seven standard deviations of the mean, and their probabilities."""
    start, mass = _binomial_mass(n, scipy.special.logit(rate))
    return start[:, None] + np.arange(mass.shape[1]), mass


def _binomial_mass(n: int, odds: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first of these counts, and their probabilities, at log odds of the rate."""
    width = min(n, int(7 * np.sqrt(n)) + 40)
    odds = np.clip(odds, -_CERTAIN, _CERTAIN)
    rate = scipy.special.expit(odds)
    start = np.clip(np.round(n * rate).astype(np.int64) - width // 2, 0, n - width)
    counts = start[:, None] + np.arange(width + 1)
    never = n * np.logaddexp(0.0, odds)[:, None]
    return start, np.exp(_log_choose(n)[counts] + counts * odds[:, None] - never)


@lru_cache(maxsize=8)
def _log_choose(n: int) -> FloatArray:
    k = np.arange(n + 1)
    return (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(k + 1)
        - scipy.special.gammaln(n - k + 1)
    )
