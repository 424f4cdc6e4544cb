"""Class labels: any hashable values (integers, strings, booleans), and their positions."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError


def as_labels(y: ArrayLike, name: str = "y") -> np.ndarray:
    """Return class labels as a one-dimensional array without missing values."""
    labels = y.to_numpy() if isinstance(y, (pd.Series, pd.Index)) else np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2 and _is_one_hot(labels):
        labels = labels.argmax(axis=1)
    if labels.ndim != 1:
        raise SchemaError(
            f"{name} must hold one class label per record, got an array of shape {labels.shape}"
        )
    missing = np.flatnonzero(pd.isna(labels))
    if len(missing):
        raise SchemaError(
            f"{name} has {len(missing)} missing labels, the first in row {missing[0]}; leave "
            f"those records out"
        )
    return labels


def _is_one_hot(labels: np.ndarray) -> bool:
    """Whether each row marks one class."""
    if labels.dtype.kind not in "biuf":
        return False
    marked = (labels == 1).sum(axis=1) == 1
    return bool(marked.all() and ((labels == 0) | (labels == 1)).all())


def as_classes(classes: ArrayLike) -> np.ndarray:
    """Return the classes of a model, which must be distinct, in the order they were given."""
    values = as_labels(classes, "classes")
    if len(values) == 0 or len(pd.unique(values)) != len(values):
        raise SchemaError(
            f"classes must list each class of the model once, in the order of its probability "
            f"columns, got {listing(values.tolist())}"
        )
    return values


def distinct_labels(y: ArrayLike) -> np.ndarray:
    """Return the classes that occur in `y`, sorted."""
    labels = as_labels(y)
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise SchemaError(
            f"y mixes labels that cannot be sorted ({', '.join(kinds)}); give all labels one type"
        ) from None


def class_codes(
    y: ArrayLike, classes: np.ndarray, *, unseen: Literal["error", "mark"] = "error"
) -> np.ndarray:
    """Return the position of each label in `classes`.

    With ``unseen="mark"`` a label that is no class of the model becomes -1; otherwise it is an
    error that counts and names them.
    """
    labels = as_labels(y)
    codes = pd.Index(classes).get_indexer(pd.Index(labels)).astype(np.intp)
    strange = np.flatnonzero(codes < 0)
    if len(strange) and unseen == "error":
        raise SchemaError(
            f"{len(strange)} records have classes that the model does not know: "
            f"{listing(pd.unique(labels[strange]).tolist())}, the first in row {strange[0]}. The "
            f"model's classes are {listing(classes.tolist())}"
            f"{_if_numbers(labels[strange], classes)}"
        )
    return codes


def _if_numbers(strange: np.ndarray, classes: np.ndarray) -> str:
    """What to do where labels may be numbers that a model of one output predicts."""
    if len(classes) > 2 or strange.dtype.kind not in "iuf":
        return ""
    return (
        "; a model that predicts numbers says so: model._estimator_type = 'regressor' "
        "(in an audit file: the regressor as model.trainer, beside model.file)"
    )
