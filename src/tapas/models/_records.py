"""Labelled records, as an array or as a data frame."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import union_categoricals

from tapas._spec import spec_of
from tapas._validate import listing
from tapas.errors import RecordError, SchemaError
from tapas.models._classes import as_labels, distinct_labels
from tapas.models._encoding import RecordEncoding
from tapas.models._inputs import (
    Column,
    ColumnType,
    Inputs,
    column_at,
    column_names,
    floats,
    is_category,
    some_rows,
)

WIDE = 8  # bytes of a number that is no narrower than float64
ROWS_AT_ONCE = 1_024  # gathered together, so that no second copy is made


@dataclass(frozen=True, eq=False)
class Records:
    """Inputs of a classifier with their true classes; never changed after they are made.

    Attributes
    ----------
    X : ndarray (n, d), or DataFrame
        Numbers of less than eight bytes (pixels, say) keep their type, others are float64. NaN or
        missing where a value is unknown; the model must accept that.
    y : ndarray (n,)
        Class labels of any type.
    categorical : tuple
        Columns (names, or positions in an array) that hold categories. Columns of text, booleans
        and pandas categories always do; name those that hold numeric codes.
    hidden : mapping
        Columns whose values are withheld, with the types that they had (see `without_value`).
    """

    X: Inputs
    y: np.ndarray
    categorical: tuple[Hashable, ...] = ()
    hidden: Mapping[Hashable, ColumnType] = field(default_factory=dict)

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

    def __spec__(self) -> dict[str, object]:
        """Digests of all values, with their types."""
        columns = [column_at(self.X, position) for position in range(len(self.columns))]
        return {
            "columns": [str(name) for name in self.columns],
            "X": [_digest(column) for column in columns] if self.is_frame else self.X,
            "y": _digest(self.y),
            "categorical": self.categorical,
        }

    @property
    def columns(self) -> list[Hashable]:
        """Column names, or positions in an array."""
        return column_names(self.X)

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
        return replace(self, X=some_rows(self.X, where), y=self.y[where])

    def splice(self, other: "Records", rows: np.ndarray) -> "Records":
        """Gather by position from these records followed by those of another."""
        if self.is_frame or other.is_frame or self.columns != other.columns:
            return self.concat(other).take(rows)
        X = np.empty((len(rows), len(self.columns)), np.result_type(self.X, other.X))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            where = rows[start : start + ROWS_AT_ONCE]
            foreign = where >= len(self)
            part = X[start : start + ROWS_AT_ONCE]
            part[~foreign] = self.X[where[~foreign]]
            part[foreign] = other.X[where[foreign] - len(self)]
        named = tuple(c for c in self.columns if c in self.categorical + other.categorical)
        return Records(X, _joined_labels([self.y, other.y])[rows], named)

    def concat(self, *others: "Records") -> "Records":
        """These records followed by those of the others, which must have the same columns."""
        if not others:
            return self
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
        hidden = {name: dtype for part in parts for name, dtype in part.hidden.items()}
        return Records(X, _joined_labels([part.y for part in parts]), named, hidden)

    def values_of(self, attribute: Hashable) -> np.ndarray:
        """A column as an array; of objects where the inputs are a data frame."""
        column = column_at(self.X, self.columns.index(attribute))
        return column.to_numpy(dtype=object) if isinstance(column, pd.Series) else floats(column)

    def with_value(self, attribute: Hashable, value: Hashable) -> "Records":
        """The records, all with one value in a column, which keeps or regains its type."""
        if not isinstance(self.X, pd.DataFrame):
            return self._with_column(attribute, np.full(len(self), value, dtype=np.float64))
        dtype = self.hidden.get(attribute, self.X[attribute].dtype)
        column = pd.Series([value] * len(self), dtype=object).astype(dtype)
        return self._with_column(attribute, column)

    def without_value(self, attribute: Hashable) -> "Records":
        """The records with the values of a column withheld: missing in all of them."""
        if not isinstance(self.X, pd.DataFrame):
            return self._with_column(attribute, np.full(len(self), np.nan))
        dtype = self.X[attribute].dtype
        column = pd.Series([None] * len(self), dtype=object).astype(_missing_type(dtype))
        return self._with_column(attribute, column, {attribute: dtype})

    def drop(self, attribute: Hashable) -> "Records":
        """The records less a column."""
        if isinstance(self.X, pd.DataFrame):
            kept = tuple(name for name in self.categorical if name != attribute)
            return Records(self.X.drop(columns=[attribute]), self.y, kept)
        others = [name for name in self.columns if name != attribute]
        kept = tuple(place for place, name in enumerate(others) if name in self.categorical)
        return Records(np.delete(self.X, self.columns.index(attribute), axis=1), self.y, kept)

    def _with_column(
        self,
        attribute: Hashable,
        values: Column,
        hidden: Mapping[Hashable, ColumnType] | None = None,
    ) -> "Records":
        X = self.X.copy() if isinstance(self.X, pd.DataFrame) else self.X.astype(np.float64)
        if isinstance(X, pd.DataFrame):
            X[attribute] = values
        else:
            X[:, self.columns.index(attribute)] = values
        others = {name: dtype for name, dtype in self.hidden.items() if name != attribute}
        return replace(self, X=X, hidden={**others, **(hidden or {})})

    def encoding(self, *others: "Records") -> RecordEncoding:
        """Return the map to scaled numbers and back, learned from these records and others."""
        if others and any(part.is_frame for part in (self, *others)):
            return self.concat(*others).encoding()
        named = {name for part in (self, *others) for name in part.categorical}
        return RecordEncoding.learn(self.X, named, [np.asarray(part.X) for part in others])

    def numeric(self) -> np.ndarray:
        """Scaled numbers and one-hot blocks of every record (see `RecordEncoding`)."""
        return self.encoding().encode(self.X)

    def row_keys(self, *, with_labels: bool = True) -> np.ndarray:
        """A 64-bit key per record; equal records (and labels) have equal keys."""
        frame = self.X if isinstance(self.X, pd.DataFrame) else pd.DataFrame(self.X)
        keys = np.zeros(len(self), dtype=np.uint64)
        columns = (frame.iloc[:, position] for position in range(frame.shape[1]))
        for column in chain(columns, [pd.Series(self.y)] if with_labels else []):
            keys = keys * np.uint64(0x9E3779B97F4A7C15) + _value_keys(column)
        return keys

    def _all_categorical(self) -> tuple[Hashable, ...]:
        unknown = [name for name in self.categorical if name not in self.columns]
        if unknown:
            raise SchemaError(
                f"categorical names columns that are not there: {listing(unknown)}; the columns "
                f"are {listing(self.columns)}"
            )
        return tuple(
            name
            for position, name in enumerate(self.columns)
            if name in self.categorical or is_category(column_at(self.X, position))
        )


def _checked_array(X: ArrayLike) -> np.ndarray:
    try:
        values = np.asarray(X)
        if values.dtype.kind not in "iuf" or values.dtype.itemsize >= WIDE:
            values = values.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise SchemaError(
            "X must hold numbers; give records with text or categories as a data frame"
        ) from None
    if values.ndim != 2:
        raise SchemaError(
            f"X must have shape (records, columns), got {values.shape}; one record x is x[None, :]"
        )
    infinite = np.isinf(values) if values.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
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
        if np.isinf(floats(column)).any():
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
        column = pd.Series(floats(column) + 0.0)  # -0.0 equals 0.0
    else:
        column = column.astype(object).where(column.notna(), None)
    return pd.util.hash_pandas_object(column, index=False).to_numpy()


def _digest(column: Column) -> str:
    """Digest of a column's type, categories and values."""
    series = pd.Series(column)
    if isinstance(series.dtype, pd.CategoricalDtype):
        categories = series.cat.categories.to_numpy(dtype=object)
        return spec_of([categories, series.cat.ordered, series.cat.codes.to_numpy()]).digest
    is_plain = isinstance(series.dtype, np.dtype)
    values = series.to_numpy() if is_plain else series.to_numpy(dtype=object)
    return spec_of([str(series.dtype), values]).digest


def _missing_type(dtype: ColumnType) -> ColumnType:
    """The nearest type that can hold missing values."""
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        return np.dtype(object if dtype.kind == "b" else np.float64)
    return dtype
