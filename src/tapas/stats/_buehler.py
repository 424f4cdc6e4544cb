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
_COARSE_STEPS = 26
_FINE_STEPS = 38
_ZOOMS = 5


@lru_cache(maxsize=256)
def buehler_epsilon(
    tp: int, num_positive: int, fp: int, num_negative: int, alpha: float, delta: float
) -> float:
    """Return the smallest epsilon that gives outcomes this extreme probability above `alpha`.

    Outcomes are ordered by E1's bound before clamping. For each FPR the FNR at
    which the observed tail has probability `alpha` is found; the pairs form the
    edge of a confidence set, and the bound is the smallest epsilon on that edge.
    """
    if num_positive == 0 or num_negative == 0:
        return 0.0
    tail = _Tail.observed(tp, num_positive, fp, num_negative, alpha, delta)
    if tail is None or tail.is_likely_by_chance((tp + fp) / (num_positive + num_negative)):
        return 0.0
    # Arcsine scale: one standard deviation of a rate is the same everywhere.
    step = 1 / (2 * np.sqrt(max(num_positive, num_negative)))
    angles = np.arange(step / 2, np.pi / 2, step)
    values = tail.edge_epsilon(np.sin(angles) ** 2, _COARSE_STEPS)
    for zoom in range(_ZOOMS):
        best = angles[np.argsort(values)[: 6 if zoom == 0 else 2]]
        around = best[:, None] + step * np.linspace(-1, 1, 9)
        angles = np.unique(np.clip(around, 1e-9, np.pi / 2 - 1e-9))
        values = tail.edge_epsilon(np.sin(angles) ** 2, _FINE_STEPS)
        step /= 4
    return max(0.0, float(values.min()))


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
        found = self._probability(self.boundary[columns], weights, 1 - rates)
        return bool(found[0] > self.alpha)

    def edge_epsilon(self, fpr: FloatArray, steps: int) -> FloatArray:
        """Return the epsilon at the edge of the confidence set, for each FPR."""
        columns, weights = _binomial_window(self.num_negative, fpr)
        most = self.boundary[columns]
        reachable = np.where(most >= 0, weights, 0.0).sum(axis=1) > self.alpha
        low = np.full(fpr.shape, -_LOGIT_LIMIT)
        high = np.full(fpr.shape, _LOGIT_LIMIT)
        for _ in range(steps):
            middle = (low + high) / 2
            above = self._probability(most, weights, scipy.special.expit(middle)) > self.alpha
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        epsilon = epsilon_from_limits(fpr, scipy.special.expit(high), self.delta)
        return np.where(reachable, epsilon, np.inf)

    def _probability(self, most: IntArray, weights: FloatArray, fnr: FloatArray) -> FloatArray:
        columns, mass = _binomial_window(self.num_positive, fnr)
        below = np.cumsum(mass, axis=1)
        place = most - columns[:, :1]
        known = np.take_along_axis(below, np.clip(place, 0, below.shape[1] - 1), axis=1)
        return (weights * np.where(place < 0, 0.0, known)).sum(axis=1)


def _binomial_window(n: int, rate: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return counts within seven standard deviations of the mean, and their probabilities."""
    width = min(n, int(7 * np.sqrt(n)) + 40)
    start = np.clip(np.round(n * rate).astype(np.int64) - width // 2, 0, n - width)
    counts = start[:, None] + np.arange(width + 1)
    log_mass = scipy.special.xlogy(counts, rate[:, None]) + scipy.special.xlog1py(
        n - counts, -rate[:, None]
    )
    return counts, np.exp(_log_choose(n)[counts] + log_mass)


@lru_cache(maxsize=8)
def _log_choose(n: int) -> FloatArray:
    k = np.arange(n + 1)
    return (
        scipy.special.gammaln(n + 1)
        - scipy.special.gammaln(k + 1)
        - scipy.special.gammaln(n - k + 1)
    )
