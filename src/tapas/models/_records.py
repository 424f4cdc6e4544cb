"""Labelled records, as an array or as a data frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from tapas._validate import listing
from tapas.errors import RecordError, SchemaError
from tapas.models._classes import as_labels, distinct_labels
from tapas.models._encoding import RecordEncoding, is_category


@dataclass(frozen=True, eq=False)
class Records:
    """Inputs of a classifier with their true classes; never changed after they are made.

    Attributes
    ----------
    X : ndarray of float64 (n, d), or DataFrame
        NaN or missing where a value is unknown; the model must accept that.
    y : ndarray (n,)
        Class labels of any type.
    categorical : tuple
        Columns (names, or positions in an array) that hold categories. Columns of text, booleans
        and pandas categories always do; name those that hold numeric codes.
    """

    X: Any
    y: Any
    categorical: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        X = _checked_frame(self.X) if isinstance(self.X, pd.DataFrame) else _checked_array(self.X)
        y = as_labels(self.y)
        if len(X) != len(y):
            raise SchemaError(f"X has {len(X)} records and y has {len(y)} labels; give one each")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "categorical", self._all_categorical())

    def __len__(self) -> int:
        return len(self.y)

    @property
    def columns(self) -> list[Any]:
        """Column names, or positions in an array."""
        return list(self.X.columns if self.is_frame else range(self.X.shape[1]))

    @property
    def is_frame(self) -> bool:
        """Whether the inputs are a data frame."""
        return isinstance(self.X, pd.DataFrame)

    @property
    def classes(self) -> np.ndarray:
        """Classes that occur, sorted."""
        return distinct_labels(self.y)

    def take(self, rows: np.ndarray | Sequence[int]) -> "Records":
        """Gather records by position, or by a boolean mask."""
        where = np.asarray(rows)
        where = np.flatnonzero(where) if where.dtype == bool else where.astype(np.intp)
        X = self.X.iloc[where] if self.is_frame else self.X[where]
        return Records(X, self.y[where], self.categorical)

    def concat(self, *others: "Records") -> "Records":
        """These records followed by those of the others, which must have the same columns."""
        parts = [self, *others]
        for other in others:
            if other.is_frame != self.is_frame or other.columns != self.columns:
                raise RecordError(
                    f"records can be joined only if their columns agree: "
                    f"{listing(self.columns)} and {listing(other.columns)}"
                )
        named = tuple(c for c in self.columns if any(c in part.categorical for part in parts))
        X = (
            _joined_frames([part.X for part in parts])
            if self.is_frame
            else np.concatenate([part.X for part in parts])
        )
        return Records(X, _joined_labels([part.y for part in parts]), named)

    def encoding(self) -> RecordEncoding:
        """Return the map to scaled numbers and back, learned from these records."""
        return RecordEncoding.learn(self.X, self.categorical)

    def numeric(self) -> np.ndarray:
        """Scaled numbers and one-hot blocks of every record (see `RecordEncoding`)."""
        return self.encoding().encode(self.X)

    def row_keys(self, *, with_labels: bool = True) -> np.ndarray:
        """A 64-bit key per record; equal records (and labels) have equal keys."""
        frame = self.X if self.is_frame else pd.DataFrame(self.X)
        keys = np.zeros(len(self), dtype=np.uint64)
        columns = [frame.iloc[:, position] for position in range(frame.shape[1])]
        columns += [pd.Series(self.y)] if with_labels else []
        for column in columns:
            keys = keys * np.uint64(0x9E3779B97F4A7C15) + _value_keys(column)
        return keys

    def overlap(self, other: "Records") -> int:
        """How many of these records, labels included, also occur in `other`."""
        return int(np.isin(self.row_keys(), other.row_keys()).sum())

    def _all_categorical(self) -> tuple[Any, ...]:
        unknown = [name for name in self.categorical if name not in self.columns]
        if unknown:
            raise SchemaError(
                f"categorical names columns that are not there: {listing(unknown)}; the columns "
                f"are {listing(self.columns)}"
            )
        if not self.is_frame:
            return tuple(sorted(self.categorical))
        return tuple(
            name for name in self.columns if name in self.categorical or is_category(self.X[name])
        )


def _checked_array(X: Any) -> np.ndarray:
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            "X must hold numbers; give records with text or categories as a data frame"
        ) from None
    if values.ndim != 2:
        raise SchemaError(
            f"X must have shape (records, columns), got {values.shape}; one record x is x[None, :]"
        )
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0]
        raise SchemaError(f"X holds {values[row, column]} in row {row}, column {column}")
    return values


def _checked_frame(frame: pd.DataFrame) -> pd.DataFrame:
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()].unique().tolist()
        raise SchemaError(f"X has several columns called {listing(repeated)}; rename them")
    for name in frame.columns:
        column = frame[name]
        if is_category(column):
            continue
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise SchemaError(
                f"column {name!r} is of type {column.dtype}; turn it into numbers or categories"
            )
        if np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise SchemaError(f"column {name!r} holds infinite values; mark them as missing")
    return frame.reset_index(drop=True)


def _joined_frames(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Stack frames; category columns get the union of their categories."""
    first = frames[0]
    for name in first.columns:
        columns = [frame[name] for frame in frames]
        kinds = [isinstance(column.dtype, pd.CategoricalDtype) for column in columns]
        if all(kinds) and any(column.dtype != columns[0].dtype for column in columns):
            dtype = union_categoricals(columns, ignore_order=True).dtype
            frames = [frame.astype({name: dtype}) for frame in frames]
    return pd.concat(frames, ignore_index=True)


def _joined_labels(parts: list[np.ndarray]) -> np.ndarray:
    """Stack labels; numpy alone would turn numbers beside text into text."""
    if len({part.dtype.kind in "biuf" for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def _value_keys(column: pd.Series) -> np.ndarray:
    if not is_category(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 equals 0.0
        column = pd.Series(values)
    else:
        column = column.astype(object).where(column.notna(), None)
    return pd.util.hash_pandas_object(column, index=False).to_numpy()
