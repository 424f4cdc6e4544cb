"""Effective epsilon of an attack, as a point estimate."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import TapasWarning
from tapas.metrics._roc import _has_nan, _outcomes, roc_curve

__all__ = ["effective_epsilon", "effective_epsilon_from_rates"]


def effective_epsilon(labels: ArrayLike, scores: ArrayLike) -> float:
    """Largest log-ratio of rates that any not too extreme threshold reaches.

    Parameters
    ----------
    labels
        0/1 or boolean secret of each trial.
    scores
        Score of each trial, higher meaning likelier positive.

    Returns
    -------
    float
        Maximum over thresholds of log(TPR/FPR) and log((1-FPR)/(1-TPR)), after the
        ``max(1, min(10, n // 10))`` smallest and largest of the n scores are
        dropped as thresholds, and at least 0. Infinite where FPR = 0 < TPR or TPR = 1 > FPR. A
        ratio 0/0 says nothing and is skipped. NaN, with a warning, where one class
        is missing, a score is NaN, or too few trials leave no threshold.

    Notes
    -----
    It is a maximum over thresholds with no correction for the choice, so it
    overstates what was shown. For a bound use `tapas.stats.epsilon_lower_bound`.
    """
    truth, values = _outcomes(labels, scores)
    if _has_nan(values, "effective_epsilon"):
        return float("nan")
    curve = roc_curve(truth, values)
    if not (curve.num_positive and curve.num_negative):
        return _undefined("only one class is present")
    ratio = largest_ratio(curve.tp, curve.fp, curve.num_positive, curve.num_negative)
    if np.isnan(ratio):
        return _undefined(f"{len(values)} trials leave no threshold")
    with np.errstate(divide="ignore"):
        return max(0.0, float(np.log(ratio)))


def effective_epsilon_from_rates(tpr: float, fpr: float) -> float:
    """Effective epsilon of one decision rule: log max(1, TPR/FPR, (1-FPR)/(1-TPR)).

    Infinite where a denominator is 0 under a positive numerator; 0/0 is skipped.
    NaN, with a warning, where a rate is NaN.
    """
    if np.isnan(tpr) or np.isnan(fpr):
        return _undefined("a rate is NaN")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.array([tpr, 1 - fpr]) / np.array([fpr, 1 - tpr])
        return max(0.0, float(np.log(np.nanmax(ratios))))


def largest_ratio(
    tp: NDArray[Any], fp: NDArray[Any], positives: int, negatives: int
) -> float | np.float64:
    """Return the largest ratio of rates along cumulative counts, highest score first."""
    trials = positives + negatives
    cut = max(1, min(10, trials // 10))
    total = tp + fp
    # A threshold holds the descending positions [total above it, total); it counts if any of
    # them survives dropping `cut` positions at both ends. Totals ascend: the kept ones are a run.
    first = int(np.searchsorted(total, cut, side="right"))
    last = int(np.searchsorted(total, trials - cut, side="left")) + 1
    if first >= min(last, len(tp)):
        return np.nan
    tp, fp = tp[first:last], fp[first:last]
    odds = negatives / positives
    with np.errstate(divide="ignore", invalid="ignore"):
        accepted = np.fmax.reduce(tp / fp) * odds
        # fmax skips the NaN of 0/0.
        return np.fmax(accepted, np.fmax.reduce((negatives - fp) / (positives - tp)) / odds)


def _undefined(why: str) -> float:
    warnings.warn(f"effective_epsilon is NaN: {why}", TapasWarning, stacklevel=3)
    return float("nan")
