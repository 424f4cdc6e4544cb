"""Limits of a probability that rises with a score, at all scores together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.stats._intervals import clopper_pearson

__all__ = ["rising_limits"]

FloatArray = NDArray[np.float64]
SMALLEST = 16  # records in the smallest window


def rising_limits(
    scores: ArrayLike,
    labels: ArrayLike,
    asked: ArrayLike,
    *,
    prior: float | None = None,
    confidence: float = 0.95,
) -> tuple[FloatArray, FloatArray]:
    """Return limits of the probability of a positive label at each asked score.

    The share of positives in a window of scores is at most the probability at its upper end, and
    at least that at its lower end. So the exact limits of many windows, from 16 records to half of
    them, bound the probability at every score.

    Parameters
    ----------
    scores, labels
        Scores whose labels are known, of both kinds.
    asked
        Scores at which the probability is asked for.
    prior
        Share of positives to state it for; by default that of `labels`.
    confidence
        Of all limits together.

    Returns
    -------
    low, high : ndarray

    Notes
    -----
    Assumes: records are independent, and a higher score speaks no less for a positive.
    Guarantees: with probability at least `confidence` all limits hold together, at whichever
    scores are asked for. Where they contradict each other, the probability does not rise, and all
    limits are 0 and 1.
    """
    values, positive = np.asarray(scores, float), np.asarray(labels, bool)
    order = np.argsort(values)
    values = values[order]
    wanted = np.concatenate([values, np.ravel(asked).astype(float)])
    total = np.concatenate([[0], np.cumsum(positive[order])])
    sizes = SMALLEST * 2 ** np.arange(max(1, int(np.log2(max(1, len(values) / SMALLEST)))))
    low, high = np.zeros(wanted.shape), np.ones(wanted.shape)
    for size in sizes[sizes <= len(values)]:
        steps = np.arange(0, len(values) - size + 1, size // 2)
        level = 1 - (1 - confidence) / (2 * len(sizes) * len(steps))
        tops, found = _of_windows(values, total, len(values) - size - steps, size, level, "lower")
        low = np.maximum(low, _reached(tops, found, wanted))
        ends, found = _of_windows(values, total, steps, size, level, "upper")
        high = np.minimum(high, 1 - _reached(-ends, 1 - found, -wanted))
    if (low > high).any():  # then it does not rise
        low, high = np.zeros_like(low), np.ones_like(high)
    share, shape = positive.mean(), np.shape(asked)
    low, high = (_at(end[len(values) :], share, prior).reshape(shape) for end in (low, high))
    return low, high


def _of_windows(
    values: FloatArray, total: FloatArray, first: FloatArray, size: int, level: float, side: str
) -> tuple[FloatArray, FloatArray]:
    """The end of each window that its limit speaks for, and the limit; equal scores stay whole."""
    start = np.searchsorted(values, values[first], "left")
    stop = np.searchsorted(values, values[first + size - 1], "right")
    limits = clopper_pearson(total[stop] - total[start], stop - start, level, side)
    return values[stop - 1] if side == "lower" else values[start], limits


def _reached(ends: FloatArray, limits: FloatArray, asked: FloatArray) -> FloatArray:
    """The largest limit of the windows that end at or below each score; 0 below all of them."""
    order = np.argsort(ends)
    best = np.concatenate([[0.0], np.maximum.accumulate(limits[order])])
    return best[np.searchsorted(ends[order], asked, "right")]


def _at(probability: FloatArray, share: float, prior: float | None) -> FloatArray:
    if prior is None:
        return probability
    inside, outside = prior / share * probability, (1 - prior) / (1 - share) * (1 - probability)
    return inside / (inside + outside)
