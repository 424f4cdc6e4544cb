"""Raw outputs of foreign models as probabilities."""

import numpy as np
from numpy.typing import ArrayLike

from tapas.errors import MechanismError

OUTPUTS = ("scores", "logits", "log_scores", "labels")
ROUNDING = 1e-4  # some runtimes return -1e-8 for zero; read as a logit, that would hide a leak


def as_probabilities(raw: ArrayLike, outputs: str | None, number_of_classes: int) -> np.ndarray:
    """Turn probabilities, log-probabilities or logits of any usual shape into probabilities.

    One column for two classes belongs to the second class. Where `outputs` is None, rows that are
    distributions already are kept and anything else is read as logits.
    """
    values = np.asarray(raw, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise MechanismError(
            f"a model must return one row of outputs per record, got shape {values.shape}"
        )
    single = values.shape[1] == 1 and number_of_classes == 2
    kind = outputs or ("logits" if single or not _are_distributions(values) else "scores")
    if kind == "log_scores":
        values = np.exp(values)
    elif kind == "logits":
        values = sigmoid(values) if single else softmax(values)
    return np.hstack([1.0 - values, values]) if single else values


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of rows of logits."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(axis=1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probability of the second class from its logit, without overflow."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def _are_distributions(values: np.ndarray) -> bool:
    sums_to_one = np.abs(values.sum(axis=1) - 1.0) < ROUNDING
    return bool((values >= -ROUNDING).all() and sums_to_one.all())
