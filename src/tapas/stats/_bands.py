"""Simultaneous bands: what holds for every threshold at once."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_choice
from tapas.stats._bound import EpsilonBound
from tapas.stats._clopper_pearson import epsilon_from_limits
from tapas.stats._counts import check_level, check_scores

__all__ = [
    "RocBand",
    "band_table",
    "max_epsilon_lower_bound",
    "roc_band",
    "roc_counts",
    "simultaneous_upper_limits",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

BANDS = ("berk-jones", "dkw", "bonferroni")
_STEPS = 16


@dataclass(frozen=True)
class RocBand:
    """An ROC curve and a rectangle around each of its points.

    Every array has one entry per distinct score, from the highest threshold
    (event: score >= threshold) to the lowest.
    """

    thresholds: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    fpr_low: FloatArray
    fpr_high: FloatArray
    tpr_low: FloatArray
    tpr_high: FloatArray
    confidence: float
    method: str


def roc_band(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    confidence: float = 0.95,
    method: str = "berk-jones",
) -> RocBand:
    """Return the ROC curve with limits that hold at all thresholds at once.

    Parameters
    ----------
    positive, negative
        Scores in world 1 and in world 0.
    method
        ``"berk-jones"`` (narrow where it matters, near rates of 0 and 1),
        ``"dkw"`` (one constant width) or ``"bonferroni"``.

    Notes
    -----
    Assumes: independent trials within each world; the worlds may be paired.
    Guarantees: with probability at least `confidence` all four curves of limits
    hold at every threshold together (a quarter of alpha for each), ties or not.

    References
    ----------
    Berk and Jones (1979); Massart (1990) for the constant of DKW; Moscovich,
    Nadler and Spiegelman (2016) for the exact form of Berk-Jones.
    """
    alpha = check_level(confidence)
    check_choice(method, "method", BANDS)
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    thresholds, tp, fp = roc_counts(ones, zeros)
    tpr_table = band_table(ones.size, alpha / 4, method)
    fpr_table = band_table(zeros.size, alpha / 4, method)
    return RocBand(
        thresholds=thresholds,
        fpr=fp / max(zeros.size, 1),
        tpr=tp / max(ones.size, 1),
        fpr_low=1 - fpr_table[zeros.size - fp],
        fpr_high=fpr_table[fp],
        tpr_low=1 - tpr_table[ones.size - tp],
        tpr_high=tpr_table[tp],
        confidence=confidence,
        method=method,
    )


def max_epsilon_lower_bound(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
    band: str = "berk-jones",
    relation: str | None = None,
) -> EpsilonBound:
    """Return the best epsilon bound over all thresholds, corrected for having looked at all.

    No trial is spent on choosing a threshold; the price is paid in the width
    of the band.

    Notes
    -----
    Assumes: independent trials within each world (the worlds may be paired) and
    an attack fixed beforehand. Guarantees: exceeds the true epsilon with
    probability at most ``1 - confidence``. For the best of K attacks call it
    with ``1 - (1 - confidence) / K``.

    References
    ----------
    Those of `roc_band`; each world has a one-sided band at half of alpha.
    """
    alpha = check_level(confidence, delta)
    check_choice(band, "band", BANDS)
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    _, tp, fp = roc_counts(ones, zeros)
    fpr_table = band_table(zeros.size, alpha / 2, band)
    fnr_table = band_table(ones.size, alpha / 2, band)
    values = epsilon_from_limits(fpr_table[fp], fnr_table[ones.size - tp], delta)
    best = float(epsilon_from_limits(fpr_table[0], fnr_table[0], delta))
    return EpsilonBound(
        value=max(0.0, float(values.max(initial=0.0))),
        confidence=confidence,
        delta=delta,
        method=f"{band} band",
        ceiling=max(0.0, best),
        relation=relation,
    )


def simultaneous_upper_limits(n: int, *, confidence: float = 0.95) -> FloatArray:
    """Return, for each count 0..n of `n` trials at or above some threshold, an upper limit.

    Notes
    -----
    Assumes: independent trials. Guarantees: with probability at least `confidence`
    the rates at all thresholds are below their limits together, however thresholds
    are chosen (a one-sided Berk-Jones band).
    """
    return band_table(n, check_level(confidence), "berk-jones")


def roc_counts(positive: FloatArray, negative: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the distinct scores, descending, and how many of each world reach them."""
    scores = np.concatenate([positive, negative])
    order = np.argsort(scores, kind="stable")[::-1]
    ranked = scores[order]
    last_of_tie = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], ranked.size > 0))
    tp = np.cumsum(order < positive.size, dtype=np.int64)[last_of_tie]
    return ranked[last_of_tie], tp, last_of_tie + 1 - tp


@lru_cache(maxsize=512)
def band_table(n: int, tail: float, method: str) -> FloatArray:
    """Return, for each count 0..n, an upper limit of the distribution function.

    With probability at least ``1 - tail`` the limits hold at all points at
    once, whatever the distribution.
    """
    counts = np.arange(n + 1)
    if n == 0:
        table = np.ones(1)
    elif method == "dkw":
        table = np.minimum(1.0, counts / n + np.sqrt(-np.log(min(tail, 0.5)) / (2 * n)))
    else:
        ranks = np.arange(1, n + 1) if method == "bonferroni" else _checked_ranks(n)
        level = tail / n if method == "bonferroni" else _berk_jones_level(n, tail)
        limits = np.append(_rank_limits(ranks, n, level), 1.0)
        table = limits[np.searchsorted(ranks, counts + 1)]
    table.flags.writeable = False
    return table


def _checked_ranks(n: int) -> IntArray:
    """Return the ranks at which the band is held; between them it is a step.

    All of them when few; otherwise a quarter of a standard deviation apart,
    which costs little width and saves most of the work.
    """
    if n <= 200:
        return np.arange(1, n + 1)
    angles = np.arange(0, np.pi / 2, 1 / (8 * np.sqrt(n)))
    ranks = np.ceil(n * np.sin(angles) ** 2).astype(np.int64)
    return np.unique(np.concatenate([np.arange(1, 21), ranks[ranks > 0], np.arange(n - 20, n + 1)]))


def _rank_limits(ranks: IntArray, n: int, level: float) -> FloatArray:
    return scipy.special.betainccinv(ranks, n - ranks + 1.0, level)


def _berk_jones_level(n: int, tail: float) -> float:
    """Return the level at each rank that makes the whole band hold with 1 - tail."""
    ranks = _checked_ranks(n)

    def excess(level: float) -> float:
        """How much more often the band fails than it may, as a logarithm."""
        fails = 1 - _all_hold(n, ranks, _rank_limits(ranks, n, level))
        return math.log(max(fails, 1e-300) / tail)

    low, high = tail / ranks.size, tail
    near = _nearer(excess, low, high, math.log(high / low) / 2**_STEPS)
    for _ in range(_STEPS):
        middle = float(np.sqrt(low * high))
        unknown = near[0] < middle < near[1]
        holds = excess(middle) <= 0 if unknown else middle <= near[0]
        low, high = (middle, high) if holds else (low, middle)
    return low


def _nearer(
    excess: Callable[[float], float], low: float, high: float, width: float
) -> tuple[float, float]:
    """Bring two levels together around where a rising excess is 0: regula falsi of logarithms."""
    first, second = math.log(low), math.log(high)
    below, above, last = excess(low), excess(high), 0
    if not below <= 0 < above:
        return low, high
    while second - first > width:
        middle = first + (second - first) * below / (below - above)
        middle = min(max(middle, first + width / 2), second - width / 2)
        value = excess(math.exp(middle))
        # An end that stays twice counts half (the Illinois method).
        if value <= 0:
            first, below, above, last = middle, value, above / (2 if last < 0 else 1), -1
        else:
            second, above, below, last = middle, value, below / (2 if last > 0 else 1), 1
    return math.exp(first), math.exp(second)


def _all_hold(n: int, ranks: IntArray, limits: FloatArray) -> float:
    """Return the probability that each uniform order statistic is below its limit.

    Equivalently at each limit at least `rank` points have been passed: a walk
    with Poisson steps, conditioned on its total, from which the paths that fall
    behind are struck out after each step.
    """
    state, first = np.ones(1), 0
    steps = np.diff(limits, prepend=0.0) * n
    tops = np.minimum(n, np.ceil(n * limits + 4.5 * np.sqrt(n) + 30)).astype(np.int64)
    for rank, mean, top in zip(ranks, steps, tops, strict=True):
        kernel = _poisson(mean, int(mean + 10 * np.sqrt(mean)) + 25)
        state = np.convolve(state, kernel)[: top - first + 1]
        behind = max(0, int(rank) - first)
        state, first = state[behind:], first + behind
    missing = n - first - np.arange(state.size)
    rest = n * (1 - limits[-1])
    ends = np.exp(scipy.special.xlogy(missing, rest) - rest - scipy.special.gammaln(missing + 1))
    return float(state @ ends / np.exp(n * np.log(n) - n - scipy.special.gammaln(n + 1)))


def _poisson(mean: float, most: int) -> FloatArray:
    counts = np.arange(most + 1)
    return np.exp(scipy.special.xlogy(counts, mean) - mean - scipy.special.gammaln(counts + 1))
