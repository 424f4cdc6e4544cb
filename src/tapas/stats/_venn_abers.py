"""Scores as probabilities: calibrated whatever the distribution of the scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError

__all__ = ["venn_abers"]

FloatArray = NDArray[np.float64]


def venn_abers(
    scores: ArrayLike, labels: ArrayLike, asked: ArrayLike, *, prior: float | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the probability of a positive label at each asked score, with its two ends.

    Isotonic regression of the labels on the scores, with the asked score added once as a negative
    and once as a positive: the two values there are the ends.

    Parameters
    ----------
    scores, labels
        Calibration: scores whose labels are known, of both kinds.
    asked
        Scores whose labels are not known.
    prior
        Share of positives among those asked about; by default that of the calibration.

    Returns
    -------
    probability, low, high : ndarray
        The probability is the one between the ends that loses least in the worst case.

    Notes
    -----
    Assumes: calibration and asked scores are exchangeable within each label, and high scores speak
    for a positive. Guarantees: with the calibration's share, one of the two ends is perfectly
    calibrated (Vovk and Petej 2014).
    """
    positive, wanted = np.asarray(labels, bool), np.asarray(asked, float)
    if positive.all() or not positive.any():
        raise StatisticsError("probabilities need scores of both labels to be calibrated by")
    known, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=positive, minlength=len(known)).astype(float)
    values, place = np.unique(wanted, return_inverse=True)
    ends = np.array([_ends(known, hits, counts, value) for value in values]).reshape(-1, 2)
    share = positive.mean()
    if prior is not None:
        for_positive, for_negative = prior / share, (1 - prior) / (1 - share)
        ends = for_positive * ends / (for_positive * ends + for_negative * (1 - ends))
    low, high = ends[place, 0], ends[place, 1]
    return high / (1 - low + high), low, high


def _ends(
    known: FloatArray, hits: FloatArray, counts: NDArray[np.int64], asked: float
) -> list[float]:
    """The regression's value at a score that is added as a negative, and as a positive."""
    from scipy.optimize import isotonic_regression

    at = int(np.searchsorted(known, asked))
    if at == len(known) or known[at] != asked:
        hits, counts = np.insert(hits, at, 0.0), np.insert(counts, at, 0)
    counts = counts + (np.arange(len(counts)) == at)
    found = []
    for label in (0.0, 1.0):
        means = hits / counts
        means[at] = (hits[at] + label) / counts[at]
        found.append(float(isotonic_regression(means, weights=counts).x[at]))
    return found
