"""What can be guessed without the release, and how far an attack is above it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tapas.results._worlds import share
from tapas.stats import Dependence, Interval, shared_confidence

if TYPE_CHECKING:
    from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["accuracy_gain", "accuracy_gain_interval", "best_guess"]

BoolArray = NDArray[np.bool_]


def _guesses(summary: "LabelInferenceAttackSummary") -> list[BoolArray]:
    """Which trials are guessed right by always saying one value, for each, and from the inputs."""
    values = np.unique(summary.labels)
    right = [summary.labels == value for value in values]
    alone = summary.inputs_alone
    if alone is not None:
        named = np.asarray(getattr(summary, "attribute_values", (0, 1)))
        chosen = alone.argmax(axis=1) if alone.ndim == 2 else (alone >= 0.5).astype(int)
        right.append(named[chosen] == summary.labels)
    return right


def best_guess(summary: "LabelInferenceAttackSummary") -> float:
    """Share of right guesses of the best guess without the release; NaN without trials.

    It is known where the secrets were drawn by known probabilities, and else what the trials show.
    """
    if summary.chance is not None:
        return summary.chance
    return max((float(right.mean()) for right in _guesses(summary)), default=float("nan"))


def accuracy_gain(summary: "LabelInferenceAttackSummary") -> float:
    """How far the attack's share of right guesses is above that."""
    return float(np.mean(summary.labels == summary.predictions)) - best_guess(summary)


def accuracy_gain_interval(
    summary: "LabelInferenceAttackSummary", confidence: float, *, turned: bool = False
) -> Interval | None:
    """Return its interval; `turned`: of the guesses between two values turned round.

    Notes
    -----
    Assumes: independent trials, or records of one release. Guarantees: covers with probability
    `confidence`, whichever guess without the release is best: beside each of them the trials that
    one gets right and the other does not have exact limits, and all of these hold together. Where
    secrets are drawn by known probabilities, or models of all kinds are trained in turn, how often
    that guess is right is no matter of chance, and the limits are those of the accuracy.
    """
    if summary.dependence is Dependence.PAIRS or (turned and summary.secret_kind != "binary"):
        return None
    told = (summary.labels == summary.predictions) ^ turned
    if summary.dependence is Dependence.UNRELATED or summary.chance is not None:
        right, known = share(int(told.sum()), told.size, confidence), best_guess(summary)
        return Interval(right.low - known, right.high - known, right.value - known)
    guesses = _guesses(summary)
    level = shared_confidence(confidence, 2 * len(guesses))
    found = []
    for guess in guesses:
        more, less = (
            share(int(np.sum(mine & ~other)), told.size, level)
            for mine, other in ((told, guess), (guess, told))
        )
        found.append((more.low - less.high, more.high - less.low, more.value - less.value))
    low, high, value = (min(ends) for ends in zip(*found, strict=True))
    return Interval(low, high, value)
