"""Trials in which an attack gave no score: who sees that may guess by it."""

import copy

import numpy as np
from numpy.typing import NDArray

from tapas.results._inference import AIAttackSummary
from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["trials_without_score", "ways_of_guessing", "ways_of_ranking"]


def trials_without_score(summary: LabelInferenceAttackSummary) -> NDArray[np.bool_]:
    """Trials that failed, or whose score is missing; none where an attack gives no scores."""
    scores = summary.scores
    if scores is None:
        return np.zeros(len(summary), dtype=bool)
    if scores.ndim > 1:
        return np.asarray(np.isnan(scores).any(axis=1) | np.isneginf(scores).all(axis=1))
    return np.isnan(scores) | np.isneginf(scores)


def ways_of_guessing(
    summary: LabelInferenceAttackSummary,
) -> tuple[LabelInferenceAttackSummary, ...]:
    """The guesses as they are, and the same with each secret guessed wherever there is no score."""
    silent = trials_without_score(summary)
    if not silent.any():
        return (summary,)
    values = summary.attribute_values if isinstance(summary, AIAttackSummary) else (0, 1)
    others = (value for value in values if (summary.predictions[silent] != value).any())
    return (summary, *(_guessing(summary, silent, value) for value in others))


def ways_of_ranking(
    summary: LabelInferenceAttackSummary,
) -> tuple[LabelInferenceAttackSummary, ...]:
    """The scores as they are, trials without one below all others, and with these above them."""
    silent = trials_without_score(summary)
    if summary.scores is None or summary.scores.ndim > 1 or silent.all() or not silent.any():
        return (summary,)
    found = copy.copy(summary)
    found.scores = np.where(silent, np.inf, summary.scores)
    found.scores.flags.writeable = False
    return summary, found


def _guessing(
    summary: LabelInferenceAttackSummary, trials: NDArray[np.bool_], value: object
) -> LabelInferenceAttackSummary:
    found = copy.copy(summary)
    found.predictions = np.where(trials, np.asarray(value), summary.predictions)
    found.predictions.flags.writeable = False
    return found
