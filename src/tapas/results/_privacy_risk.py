"""The privacy risk of each record: how likely its score makes it a member."""

import numpy as np
from numpy.typing import ArrayLike

from tapas.stats import rising_limits

__all__ = ["privacy_risk", "risk_histogram", "risk_limits"]

FOLDS = 10
BINS = 10


def privacy_risk(scores: ArrayLike, members: ArrayLike) -> np.ndarray:
    """Return the probability that each record is a member, given its score, at even odds.

    Members and others weigh the same, whatever their numbers (Song and Mittal 2021). The
    probability follows from the scores of other records by isotonic regression: ten parts, each
    judged by the other nine. What the parts say is then evened out, so that a higher score never
    has a lower risk and equal scores have one. NaN where there are too few records of either kind.
    """
    values, inside = np.asarray(scores, float), np.asarray(members, bool)
    risk = np.full(len(values), np.nan)
    if min(inside.sum(), (~inside).sum()) < FOLDS or np.isnan(values).any():
        return risk
    part = np.empty(len(values), dtype=int)
    for kind in (inside, ~inside):
        mine = np.flatnonzero(kind)
        part[mine[np.argsort(values[mine], kind="stable")]] = np.arange(len(mine)) % FOLDS
    for fold in range(FOLDS):
        judged = part == fold
        risk[judged] = _fitted(values[~judged], inside[~judged], values[judged])
    return _rising(values, risk)


def risk_limits(
    scores: np.ndarray, members: np.ndarray, risks: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the intervals of these risks, which hold together; NaN where there are none."""
    if np.isnan(risks).all():
        return risks, risks
    low, high = rising_limits(scores, members, scores, prior=0.5, confidence=confidence)
    return np.minimum(low, risks), np.maximum(high, risks)


def risk_histogram(risks: ArrayLike, members: ArrayLike) -> dict[str, list[int]]:
    """Return how many members and others have a risk in each tenth of [0, 1]."""
    risk, inside = np.asarray(risks, float), np.asarray(members, bool)
    edges = np.linspace(0, 1, BINS + 1)
    return {
        name: np.histogram(risk[kind & ~np.isnan(risk)], edges)[0].tolist()
        for name, kind in (("members", inside), ("others", ~inside))
    }


def _rising(scores: np.ndarray, risks: np.ndarray) -> np.ndarray:
    """The risks, averaged where scores are equal or the order is not theirs."""
    from scipy.optimize import isotonic_regression

    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    means = np.bincount(place, risks) / count
    return isotonic_regression(means, weights=count).x[place]


def _fitted(scores: np.ndarray, members: np.ndarray, asked: np.ndarray) -> np.ndarray:
    from scipy.optimize import isotonic_regression

    knots, place = np.unique(scores, return_inverse=True)
    inside = np.bincount(place, members / members.sum(), len(knots))
    outside = np.bincount(place, ~members / (~members).sum(), len(knots))
    fit = isotonic_regression(inside / (inside + outside), weights=inside + outside)
    # A level counts half a record more of each kind: nobody is a member for certain.
    starts = fit.blocks[:-1]
    half = 0.5 / members.sum(), 0.5 / (~members).sum()
    into, outof = (np.add.reduceat(side, starts) for side in (inside, outside))
    levels = (into + half[0]) / (into + outof + sum(half))
    nearest = np.searchsorted(knots, asked).clip(max=len(knots) - 1)
    left = (nearest - 1).clip(min=0)
    nearest = np.where(np.abs(knots[left] - asked) < np.abs(knots[nearest] - asked), left, nearest)
    return levels[np.searchsorted(starts, nearest, side="right") - 1]
