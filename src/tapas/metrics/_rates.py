"""Rates of correct and wrong decisions: point estimates, which claim no confidence."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import StatisticsError, TapasWarning

__all__ = [
    "ConfusionCounts",
    "accuracy",
    "balanced_accuracy",
    "confusion_counts",
    "false_positive_rate",
    "inference_advantage",
    "inference_privacy_gain",
    "mia_advantage",
    "precision",
    "privacy_gain",
    "recall",
    "true_positive_rate",
]


class ConfusionCounts(NamedTuple):
    """How many decisions of each kind were made.

    Attributes
    ----------
    tp, fp, tn, fn
        True positives, false positives, true negatives, false negatives.
    """

    tp: int
    fp: int
    tn: int
    fn: int

    @property
    def num_positive(self) -> int:
        """Trials whose secret is positive."""
        return self.tp + self.fn

    @property
    def num_negative(self) -> int:
        """Trials whose secret is negative."""
        return self.fp + self.tn


def confusion_counts(labels: ArrayLike, predictions: ArrayLike) -> ConfusionCounts:
    """Count the four kinds of decision; `labels` and `predictions` are 0/1 or boolean."""
    truth, guess = _pair(labels, predictions)
    truth, guess = _boolean(truth, "labels"), _boolean(guess, "predictions")
    tp = int(np.count_nonzero(truth & guess))
    positives, guessed = int(np.count_nonzero(truth)), int(np.count_nonzero(guess))
    fp = guessed - tp
    return ConfusionCounts(tp, fp, len(truth) - positives - fp, positives - tp)


def accuracy(labels: ArrayLike, predictions: ArrayLike) -> float:
    """Share of trials decided correctly, for any kind of label."""
    truth, guess = _pair(labels, predictions)
    return _share(int(np.count_nonzero(truth == guess)), len(truth), "accuracy", "trials")


def true_positive_rate(labels: ArrayLike, predictions: ArrayLike) -> float:
    """Share of the positive trials that were guessed positive."""
    counts = confusion_counts(labels, predictions)
    return _share(counts.tp, counts.num_positive, "true_positive_rate", "positive trials")


def false_positive_rate(labels: ArrayLike, predictions: ArrayLike) -> float:
    """Share of the negative trials that were (wrongly) guessed positive."""
    counts = confusion_counts(labels, predictions)
    return _share(counts.fp, counts.num_negative, "false_positive_rate", "negative trials")


recall = true_positive_rate


def precision(labels: ArrayLike, predictions: ArrayLike) -> float:
    """Share of the positive guesses that were right."""
    counts = confusion_counts(labels, predictions)
    return _share(counts.tp, counts.tp + counts.fp, "precision", "positive guesses")


def balanced_accuracy(labels: ArrayLike, predictions: ArrayLike) -> float:
    """Mean, over the labels that occur, of the share of their trials decided correctly."""
    truth, guess = _pair(labels, predictions)
    if not len(truth):
        return _share(0, 0, "balanced_accuracy", "trials")
    values, which = np.unique(truth, return_inverse=True)
    total = np.bincount(which, minlength=len(values))
    right = np.bincount(which, weights=truth == guess, minlength=len(values))
    return float(np.mean(right / total))


def mia_advantage(labels: ArrayLike, predictions: ArrayLike) -> float:
    """True positive rate minus false positive rate (Stadler et al., arXiv:2011.07018)."""
    return true_positive_rate(labels, predictions) - false_positive_rate(labels, predictions)


def privacy_gain(labels: ArrayLike, predictions: ArrayLike) -> float:
    """One minus the advantage: 1 where the attack learns nothing, 0 where it is always right."""
    return 1 - mia_advantage(labels, predictions)


def inference_advantage(correct_in: ArrayLike, correct_out: ArrayLike) -> float:
    """How much likelier a correct guess is because the target was in the data.

    Parameters
    ----------
    correct_in, correct_out
        Whether each guess was right, in trials with the target inside the private
        data and in control trials without it.

    Notes
    -----
    P(correct | target in) - P(correct | target out), the advantage that Stadler et
    al. (arXiv:2011.07018) define for attribute inference. What an attacker could
    guess from the population alone cancels out.
    """
    inside, outside = (np.asarray(a, dtype=bool) for a in (correct_in, correct_out))
    share_in = _share(int(inside.sum()), inside.size, "inference_advantage", "trials with target")
    share_out = _share(
        int(outside.sum()), outside.size, "inference_advantage", "trials without target"
    )
    return share_in - share_out


def inference_privacy_gain(raw_advantage: float, release_advantage: float) -> float:
    """Advantage against the raw data minus advantage against the release (Stadler et al.)."""
    return raw_advantage - release_advantage


def _share(count: int, total: int, name: str, of_what: str) -> float:
    if total:
        return count / total
    warnings.warn(f"{name} is not defined without {of_what}: NaN", TapasWarning, stacklevel=3)
    return float("nan")


def _pair(labels: ArrayLike, predictions: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    truth, guess = np.asarray(labels), np.asarray(predictions)
    if truth.ndim != 1 or guess.shape != truth.shape:
        raise StatisticsError(
            "labels and predictions must be one-dimensional and of equal length, "
            f"got shapes {truth.shape} and {guess.shape}"
        )
    return truth, guess


def _boolean(values: NDArray[Any], name: str) -> NDArray[np.bool_]:
    if values.dtype == bool:
        return values
    positive = values == 1
    if not np.all(positive | (values == 0)):
        raise StatisticsError(
            f"{name} must be 0/1 or boolean, got {np.unique(values)[:5]!r}; "
            "compare them with the positive value first, e.g. `labels == 'yes'`"
        )
    return np.asarray(positive, dtype=bool)
