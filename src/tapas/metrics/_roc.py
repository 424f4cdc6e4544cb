"""The ROC curve as counts, and what is read from it: area and true positive rate at a fixed FPR."""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_probability
from tapas.errors import StatisticsError, TapasWarning
from tapas.metrics._rates import _boolean

__all__ = ["OperatingPoint", "RocCurve", "auc", "roc_curve", "tpr_at_fpr"]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Counts of positive guesses at every distinct threshold, highest threshold first.

    Attributes
    ----------
    thresholds
        Distinct scores in descending order; the guess is positive where ``score >= threshold``.
    tp, fp
        Positive and negative trials guessed positive at each threshold. Tied
        scores enter together, so the curve has one point per distinct score.
    num_positive, num_negative
        Trials in each world.
    """

    thresholds: NDArray[np.float64]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    num_positive: int
    num_negative: int

    @property
    def tpr(self) -> NDArray[np.float64]:
        """True positive rate at each threshold; NaN without positive trials."""
        return _rate(self.tp, self.num_positive)

    @property
    def fpr(self) -> NDArray[np.float64]:
        """False positive rate at each threshold; NaN without negative trials."""
        return _rate(self.fp, self.num_negative)


class OperatingPoint(NamedTuple):
    """One point of a ROC curve: the rates and the threshold that realises them."""

    tpr: float
    fpr: float
    threshold: float


def roc_curve(labels: ArrayLike, scores: ArrayLike) -> RocCurve:
    """Count true and false positives at every distinct score.

    Parameters
    ----------
    labels
        0/1 or boolean secret of each trial.
    scores
        Score of each trial, higher meaning likelier positive. NaN is refused.
    """
    truth, values = _outcomes(labels, scores)
    if np.isnan(values).any():
        raise StatisticsError(
            f"{int(np.isnan(values).sum())} scores are NaN, so they have no place on a ROC curve; "
            "drop those trials or give them the lowest score"
        )
    order = np.argsort(values)[::-1]
    ordered = values[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)])
    tp = np.cumsum(truth[order], dtype=np.int64)[last]
    fp = last + 1 - tp
    positives = int(tp[-1]) if len(tp) else 0
    return RocCurve(ordered[last], tp, fp, positives, len(values) - positives)


def auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: how often a positive trial outscores a negative one.

    Ties count one half. 0.5 where only one class is present (nothing can be
    told apart); NaN with a warning where a score is NaN.
    """
    truth, values = _outcomes(labels, scores)
    if _has_nan(values, "auc"):
        return float("nan")
    positive, negative = values[truth], np.sort(values[~truth])
    if not (positive.size and negative.size):
        return 0.5
    below = negative.searchsorted(positive).sum() + negative.searchsorted(positive, "right").sum()
    return float(below / 2 / (positive.size * negative.size))


def tpr_at_fpr(labels: ArrayLike, scores: ArrayLike, fpr: float) -> OperatingPoint:
    """Largest true positive rate among thresholds whose false positive rate is at most `fpr`.

    There is no interpolation between thresholds, so the realised false positive
    rate is returned beside it. Where even the highest score belongs to too many
    negatives, nothing is guessed positive: rates 0 at an infinite threshold.
    With one class only, or NaN scores, the rates are NaN, with a warning.
    """
    target = check_probability(fpr, "fpr")
    truth, values = _outcomes(labels, scores)
    nowhere = OperatingPoint(float("nan"), float("nan"), float("nan"))
    if _has_nan(values, "tpr_at_fpr"):
        return nowhere
    curve = roc_curve(truth, values)
    if not (curve.num_positive and curve.num_negative):
        warnings.warn("tpr_at_fpr needs both classes: NaN", TapasWarning, stacklevel=2)
        return nowhere
    allowed = int(np.searchsorted(curve.fpr, target, side="right"))
    if not allowed or not curve.tp[allowed - 1]:
        return OperatingPoint(0.0, 0.0, float("inf"))
    first = int(np.searchsorted(curve.tp, curve.tp[allowed - 1]))
    return OperatingPoint(
        float(curve.tpr[first]), float(curve.fpr[first]), float(curve.thresholds[first])
    )


def _outcomes(
    labels: ArrayLike, scores: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    truth, values = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if truth.ndim != 1 or values.shape != truth.shape:
        raise StatisticsError(
            "labels and scores must be one-dimensional and of equal length, "
            f"got shapes {truth.shape} and {values.shape}"
        )
    return _boolean(truth, "labels"), values


def _has_nan(scores: NDArray[np.float64], name: str) -> bool:
    missing = int(np.count_nonzero(np.isnan(scores)))
    if missing:
        warnings.warn(f"{name} is NaN: {missing} scores are NaN", TapasWarning, stacklevel=3)
    return missing > 0


def _rate(counts: NDArray[Any], total: int) -> NDArray[np.float64]:
    return counts / total if total else np.full(len(counts), np.nan)
