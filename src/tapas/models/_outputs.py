"""Raw outputs of foreign models as probabilities."""

import numpy as np
from numpy.typing import ArrayLike

from tapas.errors import MechanismError, SchemaError

OUTPUTS = ("scores", "logits", "log_scores", "labels")
MOST_DECIMALS = 4
EXACT = 1e-6  # what single precision makes of a number of few decimals
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


def told_outputs(values: np.ndarray) -> str:
    """Whether numbers that nobody can be asked about are probabilities or logits.

    One column holds those of the second of two classes. Numbers that are almost probabilities are
    a mistake rather than logits, which are below 0 for some records.
    """
    rows = values.reshape(len(values), -1)
    fits = np.all((rows >= -ROUNDING) & (rows <= 1 + ROUNDING), axis=1)
    if rows.shape[1] > 1:
        fits &= np.abs(rows.sum(axis=1) - 1.0) < sum_tolerance(rows[fits], ROUNDING)
    if fits.all():
        return "scores"
    if (rows < -ROUNDING).any() and fits.mean() < 0.5:
        return "logits"
    first = int(np.argmin(fits))
    shown = ", ".join(f"{value:.4g}" for value in rows[first][:5])
    percent = "; divide percentages by 100" if (rows >= 0).all() and rows.max() > 1 else ""
    raise SchemaError(
        f"scores must be probabilities that sum to one, and {int((~fits).sum())} of {len(fits)} "
        f"rows are not, the first is row {first}: {shown}{percent}. If they are logits, say so "
        f"with outputs='logits' (--outputs logits)"
    )


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities of rows of logits."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(axis=1, keepdims=True)


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Probability of the second class from its logit, without overflow."""
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


def sum_tolerance(values: np.ndarray, least: float) -> float:
    """How far rows of probabilities may be from summing to one.

    `least`, or half of the last decimal for each class where all were rounded to few decimals.
    """
    for decimals in range(1, MOST_DECIMALS + 1):
        if np.abs(values - np.round(values, decimals)).max(initial=0.0) < EXACT:
            return max(least, 0.5 * values.shape[1] * 10.0**-decimals + EXACT)
    return least


def _are_distributions(values: np.ndarray) -> bool:
    if not ((values >= -ROUNDING) & (values <= 1 + ROUNDING)).all():
        return False
    off = np.abs(values.sum(axis=1) - 1.0)
    return bool((off < sum_tolerance(values, ROUNDING)).all())
