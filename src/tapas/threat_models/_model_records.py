"""Records that are given to a threat model about a trained model."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models import Records


@runtime_checkable
class LabelledItems(Protocol):
    """A data set of torch, or anything that gives (inputs, class) by number."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int, /) -> Sequence[ArrayLike]: ...


RecordsLike = (
    Records | tuple[pd.DataFrame | ArrayLike, ArrayLike] | Sequence[ArrayLike] | LabelledItems
)


def as_records(given: RecordsLike, name: str) -> Records:
    """Read (X, y), labelled items or `Records`; records that are no rows are laid out as such."""
    if isinstance(given, Records):
        return given
    X, y = _pair(given, name)
    if not isinstance(X, pd.DataFrame) and X.ndim > 2:
        X = X.reshape(len(X), -1)
    return Records(X, y)


def shape_of(given: RecordsLike, name: str) -> tuple[int, ...] | None:
    """Shape of one record where that is no row: an image, a sequence of vectors."""
    if isinstance(given, Records):
        return None
    X, _ = _pair(given, name)
    return X.shape[1:] if not isinstance(X, pd.DataFrame) and X.ndim > 2 else None


def _pair(given: RecordsLike, name: str) -> tuple[pd.DataFrame | np.ndarray, np.ndarray]:
    items = getattr(given, "dataset", given)  # that of a data loader
    if isinstance(items, (tuple, list)) and len(items) == 2:
        X, y = items
        return (X if isinstance(X, pd.DataFrame) else np.asarray(X)), np.asarray(y)
    refused = (tuple, list, str, np.ndarray, pd.DataFrame, pd.Series)
    if isinstance(items, refused) or not isinstance(items, LabelledItems):
        raise SchemaError(
            f"{name} must be a pair (X, y), a data set of such pairs or tapas.models.Records, got "
            f"{type(given).__name__}"
        )
    rows = [items[number] for number in range(len(items))]
    X = np.stack([np.asarray(row[0]) for row in rows])
    return X, np.asarray([np.asarray(row[1]).item() for row in rows])


def check_same_columns(records: Records, reference: Records, name: str) -> None:
    """Refuse records whose columns differ from those of the members."""
    if records.is_frame != reference.is_frame or records.columns != reference.columns:
        raise SchemaError(
            f"{name} must have the columns of the members, {listing(reference.columns)}, got "
            f"{listing(records.columns)}"
        )
