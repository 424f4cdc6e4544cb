"""Records that are given to a threat model about a trained model."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models import Records, is_sparse


@runtime_checkable
class LabelledItems(Protocol):
    """A data set of torch, or anything that gives (inputs, class) by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Sequence[ArrayLike]: ...


RecordsLike = Records | tuple[Any, ArrayLike] | Sequence[Any] | LabelledItems


def as_records(given: RecordsLike, name: str) -> Records:
    """Read (X, y) or labelled items whose inputs are rows, or `Records`."""
    return given if isinstance(given, Records) else Records(*pair(given, name))


def pair(given: RecordsLike, name: str) -> tuple[Any, np.ndarray]:
    """Inputs, in whatever form, and classes."""
    items: Any = getattr(given, "dataset", given)  # that of a data loader
    if isinstance(items, (tuple, list)) and len(items) == 2:
        X, y = items
        return _inputs(X, name), np.asarray(y)
    refused = (tuple, list, str, np.ndarray, pd.DataFrame, pd.Series)
    if isinstance(items, refused) or not isinstance(items, LabelledItems):
        raise SchemaError(
            f"{name} must be a pair (X, y), a data set of such pairs or tapas.models.Records, got "
            f"{type(given).__name__}"
        )
    rows = [items[number] for number in range(len(items))]
    X = np.stack([np.asarray(row[0]) for row in rows])
    return X, np.asarray([np.asarray(row[1]).item() for row in rows])


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


def check_same_columns(records: Records, reference: Records, name: str) -> None:
    """Refuse records whose columns differ from those of the members."""
    if records.is_frame != reference.is_frame or records.columns != reference.columns:
        raise SchemaError(
            f"{name} must have the columns of the members, {listing(reference.columns)}, got "
            f"{listing(records.columns)}"
        )
