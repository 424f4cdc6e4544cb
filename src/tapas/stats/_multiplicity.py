"""Corrections for asking several questions at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_count, check_probability
from tapas.errors import StatisticsError
from tapas.stats._counts import check_level

__all__ = ["holm", "look_share", "shared_confidence", "shared_p_values"]

FloatArray = NDArray[np.float64]

LATER_LOOKS = 0.1


def holm(p_values: ArrayLike) -> FloatArray:
    """Return p-values adjusted by Holm's step-down procedure, in the order given.

    Notes
    -----
    Assumes: each p-value is valid on its own; any dependence between them.
    Guarantees: rejecting where the adjusted value is at most alpha makes any
    false rejection with probability at most alpha. Never larger than Bonferroni.

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    values = _check(p_values)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def shared_confidence(confidence: float, number: int, share: float = 1.0) -> float:
    """Return the level at which each of several limits is made so that all hold together.

    Here an error is divided: between attacks, targets and looks.

    Parameters
    ----------
    number
        How many limits there are.
    share
        What part of the error they have between them.

    Notes
    -----
    Assumes: each limit is valid on its own; any dependence between them.
    Guarantees: with probability at least ``1 - share * (1 - confidence)`` none of
    them fails (Bonferroni).
    """
    alpha = check_level(confidence) * check_probability(share, "share")
    return 1 - alpha / check_count(number, "number", minimum=1)


def shared_p_values(p_values: ArrayLike, number: int, share: float = 1.0) -> FloatArray:
    """Return p-values to compare with a whole error of which theirs is a part.

    What `shared_confidence` does to levels, done to p-values: with the same parameters and notes.
    """
    check_count(number, "number", minimum=1)
    return np.minimum(1.0, _check(p_values) * number / check_probability(share, "share"))


def look_share(look: int) -> float:
    """Return the part of the error that the k-th look at a growing number of trials may spend.

    Notes
    -----
    Assumes: each look is valid at its own level; any rule for looking again.
    Guarantees: the first look has all of the error, so that who looks once pays
    nothing, and all later ones a tenth of it together, ``0.1 / (k (k - 1))``: at
    95 % some statement of some look is wrong with probability at most 5.5 %.
    """
    check_count(look, "look", minimum=1)
    return 1.0 if look == 1 else LATER_LOOKS / (look * (look - 1))


def _check(p_values: ArrayLike) -> FloatArray:
    values = np.asarray(p_values, dtype=float)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise StatisticsError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}")
    return values
