"""Means over the values that a secret may have, bounded value by value."""

from typing import TYPE_CHECKING

import numpy as np

from tapas import stats
from tapas.results._worlds import share
from tapas.stats import Dependence, Interval

if TYPE_CHECKING:
    from tapas.results._inference import AIAttackSummary
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["balanced_accuracy_interval", "macro_auc_interval"]


def balanced_accuracy_interval(
    summary: "LabelInferenceAttackSummary", confidence: float
) -> Interval | None:
    """Mean of the exact limits of what is guessed right of each value, which hold together.

    None where trials of one value may depend on each other. A value that few trials have is bounded
    by these few, which a bootstrap cannot see.
    """
    if summary.dependence is Dependence.PAIRS and summary.secret_kind != "binary":
        return None
    right = summary.labels == summary.predictions
    masks = [summary.labels == value for value in np.unique(summary.labels)]
    level = stats.shared_confidence(confidence, len(masks))
    return _mean([share(int(right[mask].sum()), int(mask.sum()), level) for mask in masks])


def macro_auc_interval(summary: "AIAttackSummary", confidence: float) -> Interval | None:
    """The same of the areas of each value against the rest."""
    if summary.dependence is Dependence.PAIRS or summary.has_one_secret:
        return None
    columns = zip(summary.attribute_values, summary.value_scores.T, strict=True)
    known = [
        (summary.labels == value, np.where(np.isnan(scores), -np.inf, scores))
        for value, scores in columns
    ]
    occurring = [(mask, scores) for mask, scores in known if mask.any()]
    if not occurring:
        return None
    level = stats.shared_confidence(confidence, len(occurring))
    return _mean(
        [stats.auc_interval(scores[m], scores[~m], confidence=level) for m, scores in occurring]
    )


def _mean(found: list[Interval]) -> Interval:
    low, high, value = np.mean(found, axis=0)
    return Interval(float(low), float(high), float(value))
