"""Records as points in a space where distance and small steps mean something, and back."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.errors import SchemaError
from tapas.models._inputs import (
    Column,
    ColumnType,
    Inputs,
    categories_of,
    column_at,
    column_names,
    floats,
    is_category,
)

HALF_CHANGE = np.sqrt(0.5)  # two one-hot places differ when a category does: distance one


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers: one place, and a second one that marks missing values if there are any.

    Attributes
    ----------
    name : object
    start : int
        First place in the encoded row.
    scale : float
        The power of two nearest to the standard deviation, so that scaling loses no bit.
    fill : float
        Stands in for a missing value.
    has_missing : bool
    dtype : object
        Type of the column.
    """

    name: Hashable
    start: int
    scale: float
    fill: float
    has_missing: bool
    dtype: ColumnType

    @property
    def width(self) -> int:
        """How many places the column takes."""
        return 1 + self.has_missing

    def encode(self, values: Column, out: np.ndarray) -> None:
        """Write the column into its places of `out`."""
        numbers = floats(values)
        missing = np.isnan(numbers)
        if self.has_missing:
            out[:, self.start + 1] = missing
        out[:, self.start] = np.where(missing, self.fill, numbers) / self.scale

    def decode(self, points: np.ndarray) -> np.ndarray:
        """Numbers nearest to the points."""
        numbers = points[:, self.start] * self.scale
        if self.dtype.kind in "iu":
            limits = np.iinfo(getattr(self.dtype, "numpy_dtype", self.dtype))
            numbers = np.rint(numbers).clip(limits.min, limits.max)
        if self.has_missing:
            numbers = np.where(points[:, self.start + 1] > 0.5, np.nan, numbers)
        return numbers


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of categories: one place for each, a missing value being one of them.

    Attributes
    ----------
    name : object
    start : int
    values : ndarray of object
        The categories; None is a missing value.
    dtype : object
    """

    name: Hashable
    start: int
    values: np.ndarray
    dtype: ColumnType

    @property
    def width(self) -> int:
        """How many places the column takes."""
        return len(self.values)

    def codes(self, values: Column) -> np.ndarray:
        """Position of each value among the categories, -1 where it is none of them."""
        series = pd.Series(values).astype(object)
        missing = series.isna().to_numpy()
        codes = pd.Index(self.values, dtype=object).get_indexer(pd.Index(series, dtype=object))
        of_missing = len(self.values) - 1 if self.values[-1] is None else -1
        return np.where(missing, of_missing, codes)

    def encode(self, values: Column, out: np.ndarray) -> np.ndarray:
        """Write the column into its places of `out`; return the rows with unknown categories."""
        codes = self.codes(values)
        known = np.flatnonzero(codes >= 0)
        out[known, self.start + codes[known]] = HALF_CHANGE
        return np.flatnonzero(codes < 0)

    def decode(self, points: np.ndarray) -> np.ndarray:
        """Category nearest to each point."""
        return self.values[points[:, self.start : self.start + self.width].argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class RecordEncoding:
    """Maps records to points and points back to valid records.

    A number is divided by about its standard deviation; a category is a block of places of which
    one is set, at the height where two records that differ in it alone are at distance one; a
    missing category is a category of its own, a missing number is marked in a place of its own.
    ``decode(encode(X))`` is `X`, bit for bit; any point at all decodes to a record whose
    categories exist and whose whole numbers are whole.

    Attributes
    ----------
    columns : tuple of NumberColumn or CategoryColumn
    frame_columns : pandas.Index or None
        Names, where records are data frames.
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]
    frame_columns: pd.Index | None

    def __spec__(self) -> dict[str, object]:
        """What was learnt."""
        return {"columns": self.columns, "frame_columns": self.frame_columns}

    @classmethod
    def learn(
        cls,
        X: Inputs,
        categorical: Collection[Hashable] = (),
        more: Sequence[np.ndarray] = (),
    ) -> "RecordEncoding":
        """Learn scales and categories from records, and where they are arrays from more."""
        columns: list[NumberColumn | CategoryColumn] = []
        start = 0
        for position, name in enumerate(column_names(X)):
            values = column_at(X, position)
            if more:
                values = np.concatenate([values, *(part[:, position] for part in more)])
            make = _category_column if name in categorical or is_category(values) else _number
            column = make(name, start, values)
            columns.append(column)
            start += column.width
        return cls(tuple(columns), X.columns if isinstance(X, pd.DataFrame) else None)

    @property
    def width(self) -> int:
        """How many places an encoded record has."""
        return sum(column.width for column in self.columns)

    @property
    def numbers(self) -> np.ndarray:
        """Places that hold scaled numbers."""
        places = [c.start for c in self.columns if isinstance(c, NumberColumn)]
        return np.array(places, dtype=np.intp)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Places of each categorical column."""
        return tuple(
            slice(column.start, column.start + column.width)
            for column in self.columns
            if isinstance(column, CategoryColumn)
        )

    @cached_property
    def _scales(self) -> np.ndarray | None:
        """Scales of all columns, where records are arrays of numbers and nothing else."""
        scales = [
            c.scale for c in self.columns if isinstance(c, NumberColumn) and not c.has_missing
        ]
        plain = self.frame_columns is None and len(scales) == len(self.columns)
        return np.array(scales) if plain else None

    def encode(self, X: Inputs, *, unknown: Literal["error", "ignore"] = "error") -> np.ndarray:
        """Return points, (records, width).

        A category that was not there when the encoding was learned is an error, or with
        ``unknown="ignore"`` a block without a set place.
        """
        self._check_columns(X)
        if self._scales is not None:
            return np.asarray(X, dtype=np.float64) / self._scales
        points = np.zeros((len(X), self.width))
        for position, column in enumerate(self.columns):
            strange = column.encode(column_at(X, position), points)
            if strange is not None and len(strange) and unknown == "error":
                value = list(column_at(X, position))[strange[0]]
                raise SchemaError(
                    f"column {column.name!r} has {len(strange)} values that are not among its "
                    f"categories, the first is {value!r} in row {strange[0]}; learn the encoding "
                    f"from records that contain every category"
                )
        return points

    def encode_some(self, X: Inputs, places: np.ndarray) -> np.ndarray:
        """Return points at some places only, (records, places); numbers are not copied whole."""
        if self._scales is None:
            return self.encode(X)[:, places]
        self._check_columns(X)
        return np.asarray(X)[:, places].astype(np.float64) / self._scales[places]

    def decode(self, points: np.ndarray) -> Inputs:
        """Return the valid records nearest to points, as a frame or an array as learned."""
        if self._scales is not None:
            return points * self._scales
        if self.frame_columns is None:
            decoded = [column.decode(points).astype(np.float64) for column in self.columns]
            return np.column_stack(decoded) if decoded else np.empty((len(points), 0))
        data = {
            column.name: pd.Series(column.decode(points)).astype(column.dtype)
            for column in self.columns
        }
        return pd.DataFrame(data, columns=self.frame_columns, index=pd.RangeIndex(len(points)))

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return the encoded valid records nearest to points."""
        return self.encode(self.decode(points))

    def _check_columns(self, X: Inputs) -> None:
        expected = (
            list(range(len(self.columns)))
            if self.frame_columns is None
            else list(self.frame_columns)
        )
        is_frame, came = isinstance(X, pd.DataFrame), column_names(X)
        if came != expected or is_frame != (self.frame_columns is not None):
            raise SchemaError(
                f"records must have the columns {listing(expected)}, got {listing(came)}"
            )


def _number(name: Hashable, start: int, values: Column) -> NumberColumn:
    numbers = floats(values)
    present = numbers[~np.isnan(numbers)]
    spread = float(present.std()) if len(present) else 0.0
    return NumberColumn(
        name=name,
        start=start,
        scale=2.0 ** round(np.log2(spread)) if spread > 0 else 1.0,
        fill=float(np.median(present)) if len(present) else 0.0,
        has_missing=len(present) < len(numbers),
        dtype=values.dtype,
    )


def _category_column(name: Hashable, start: int, values: Column) -> CategoryColumn:
    series = pd.Series(values)
    found: list[Hashable | None] = [*categories_of(series)]
    if series.isna().any() or not found:
        found.append(None)
    categories = np.empty(len(found), dtype=object)
    categories[:] = found
    return CategoryColumn(name, start, categories, series.dtype)
