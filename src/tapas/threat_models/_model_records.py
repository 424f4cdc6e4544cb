"""Records that are given to a threat model about a trained model."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models import Records, is_sparse
from tapas.threat_models._labelled_items import LabelledItems, Loader, items_of

RecordsLike = Records | tuple[Any, ArrayLike] | Sequence[Any] | LabelledItems | Loader


def as_records(given: RecordsLike, name: str) -> Records:
    """Read (X, y) or labelled items whose inputs are rows, or `Records`."""
    return given if isinstance(given, Records) else Records(*pair(given, name))


def pair(given: RecordsLike, name: str) -> tuple[Any, np.ndarray]:
    """Inputs, in whatever form, and classes."""
    if isinstance(given, Records):
        return given.X, given.y
    if isinstance(given, (tuple, list)) and len(given) == 2:
        X, y = given
        return _inputs(X, name), np.asarray(y)
    refused = (tuple, list, str, np.ndarray, pd.DataFrame, pd.Series)
    if isinstance(given, refused) or not isinstance(given, (Loader, LabelledItems)):
        raise SchemaError(
            f"{name} must be a pair (X, y), a data set of such pairs with a length and numbered "
            f"items, a loader of one, or tapas.models.Records, got {type(given).__name__}"
        )
    X, y = items_of(given, name)
    return (X if isinstance(X, (dict, tuple)) else _inputs(X, name)), y


def _inputs(X: Any, name: str) -> Any:
    """Inputs as a frame, an array, a sparse matrix, texts, or several arrays."""
    if isinstance(X, pd.DataFrame) or is_sparse(X):
        return X
    if isinstance(X, Mapping):
        return {str(key): np.asarray(value) for key, value in X.items()}
    several = isinstance(X, tuple) and len(X) > 1 and all(np.ndim(part) > 1 for part in X)
    if several and len({len(part) for part in X}) == 1:
        return tuple(np.asarray(part) for part in X)
    if isinstance(X, pd.Series):
        X = X.to_numpy(dtype=object)
    found = np.asarray(X)
    if found.ndim == 1 and found.dtype.kind not in "OU":
        raise SchemaError(f"{name}: X must have a row for each record, got shape {found.shape}")
    return found


def are_names(labels: Sequence[object]) -> bool:
    """Whether labels say more than the place of each record."""
    return list(labels) != list(range(len(labels)))


def check_same_columns(records: Records, reference: Records, name: str) -> None:
    """Refuse records whose columns differ from those of the members."""
    if records.is_frame != reference.is_frame or records.columns != reference.columns:
        raise SchemaError(
            f"{name} must have the columns of the members, {listing(reference.columns)}, got "
            f"{listing(records.columns)}"
        )
