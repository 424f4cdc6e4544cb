"""Outcomes of trials as read-only arrays, checked once."""

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.errors import ConfigError
from tapas.game import Value

__all__ = ["RELATIONS", "decisions", "equal_to", "group_ids", "score_array"]

RELATIONS = ("add/remove", "replace")

_KEPT = (np.bool_, np.int64, np.float64)  # what lists of plain values become
_Scalar = TypeVar("_Scalar", bound=np.generic)


def decisions(values: Iterable[object], name: str) -> NDArray[np.generic]:
    """Return a read-only one-dimensional copy of labels or predictions."""
    if isinstance(values, np.ndarray):
        array = np.array(values if values.dtype in _KEPT else values.tolist())
    else:
        array = np.array(list(values))
    if array.ndim != 1:
        raise ConfigError(f"{name} must be one-dimensional, got shape {array.shape}")
    return _frozen(array)


def equal_to(values: NDArray[np.generic], positive: Value) -> NDArray[np.int64]:
    """Return 1 where a value is `positive`, else 0."""
    if isinstance(positive, np.generic):
        positive = positive.item()
    if values.dtype.kind in "biuf" and isinstance(positive, (bool, int, float)):
        same = values == positive
    else:
        same = np.fromiter((v == positive for v in values.tolist()), dtype=bool, count=len(values))
    return _frozen(same.astype(np.int64))


def score_array(scores: ArrayLike | None, num_trials: int) -> NDArray[np.float64] | None:
    """Return a read-only float copy of the scores; None stays None."""
    if scores is None:
        return None
    given = np.asarray(scores)
    if given.dtype == object and given.size and all(value is None for value in given.ravel()):
        # An attack without scores may also hand over array(None) or a list of None.
        return None
    array = np.array(given, dtype=np.float64)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2) or len(array) != num_trials:
        raise ConfigError(
            f"scores must have one entry (or one row) per trial, {num_trials}, "
            f"got shape {array.shape}"
        )
    return _frozen(array)


def group_ids(groups: ArrayLike | None, num_trials: int) -> NDArray[np.int64] | None:
    """Return a read-only integer copy of the group of each trial; None stays None."""
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.shape != (num_trials,) or (num_trials and array.dtype.kind not in "iu"):
        raise ConfigError(
            f"groups must be one integer per trial, {num_trials}, "
            f"got shape {array.shape} of {array.dtype}"
        )
    return _frozen(array.astype(np.int64))


def _frozen(array: NDArray[_Scalar]) -> NDArray[_Scalar]:
    array.setflags(write=False)
    return array
