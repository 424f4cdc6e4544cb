"""The mean AUC over people, with an interval that allows for how their releases hang together."""

import math

import numpy as np
import scipy

from tapas.results._estimate import Estimate

__all__ = ["difference_of_means", "mean_area"]


def mean_area(mean: float, parts: np.ndarray, degrees: int, confidence: float) -> Estimate:
    """The mean with an interval, from what `mean_auc_influences` says of it.

    Notes
    -----
    Assumes: independent groups of releases. Guarantees: about `confidence` for the mean over the
    same people in other releases: DeLong's error with Student's t, of logits, so that it holds
    near 1 as well. Where no group differs from the others, the ends are what independent pairs of
    groups allow, none of which showed anything else.
    """
    off = _off(parts, degrees, confidence)
    if not 0 < mean < 1 or off == 0:
        room = 1 - (0.5 - confidence / 2) ** (1 / max(1, len(parts) // 2))
        return Estimate(mean, max(0.0, mean - room), min(1.0, mean + room))
    logit = float(scipy.special.logit(mean))
    low, high = (scipy.special.expit(logit + way * off / (mean * (1 - mean))) for way in (-1, 1))
    return Estimate(mean, float(low), float(high))


def difference_of_means(
    difference: float, parts: np.ndarray, degrees: int, confidence: float
) -> Estimate:
    """The same of a difference between two means over the same releases."""
    off = _off(parts, degrees, confidence)
    return Estimate(difference, difference - off, difference + off)


def _off(parts: np.ndarray, degrees: int, confidence: float) -> float:
    reach = float(scipy.special.stdtrit(degrees, 0.5 + confidence / 2))
    return reach * math.sqrt(float((parts**2).sum()))
