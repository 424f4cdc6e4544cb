"""The finite set of cells that each column's values fall into: from the schema, never the data.

Everything here is public in the sense of differential privacy. A bound or a category list that
was read off the private records would itself be a release without protection.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from tapas._validate import check_count, listing
from tapas.datasets import MISSING_CODE, Column, TabularDataset
from tapas.errors import ConfigError, SchemaError

DEFAULT_BINS = 16
Limits = tuple[object, object]  # lowest and highest, as values or as text


@dataclass(frozen=True)
class ColumnCells:
    """The cells of one column; the last is for missing values, where those are declared.

    Attributes
    ----------
    column : Column
    num_values : int
        Categories or bins.
    missing : bool
        Whether there is a further cell for missing values.
    low, high : float
        Declared bounds of a number column (as encoded: days, seconds).
    """

    column: Column
    num_values: int
    missing: bool
    low: float = 0.0
    high: float = 0.0

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.num_values + self.missing

    @property
    def is_whole(self) -> bool:
        """Whether values are whole numbers: integers and days."""
        return self.column.kind in ("integer", "date")

    def cells_of(self, encoded: np.ndarray) -> np.ndarray:
        """Cell of each value; numbers out of bounds count in the nearest bin."""
        if self.column.is_coded:
            absent = encoded == MISSING_CODE
            cells = encoded.astype(np.int64)
        else:
            absent = np.isnan(encoded)
            cells = self._bins_of(np.clip(np.where(absent, self.low, encoded), self.low, self.high))
        return np.where(absent, self.num_values if self.missing else 0, cells)

    def values_of(self, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A value in each cell: the category, or a uniform draw from the bin."""
        absent = cells == self.num_values
        if self.column.is_coded:
            return np.where(absent, MISSING_CODE, cells)
        if self.is_whole:
            starts = self._whole_starts
            first = starts[cells]
            after = starts[np.minimum(cells + 1, self.num_values)]
            numbers = np.floor(first + rng.random(len(cells)) * (after - first))
            numbers = np.minimum(numbers, np.maximum(after - 1, first))
        else:
            numbers = self.low + (cells + rng.random(len(cells))) / self.num_values * self._span
            numbers = np.clip(numbers, self.low, self.high)
        return np.where(absent, np.nan, numbers)

    @property
    def _span(self) -> float:
        """Length of the range; whole numbers own the unit interval above them."""
        return self.high - self.low + 1 if self.is_whole else max(self.high - self.low, 1e-300)

    def _bins_of(self, inside: np.ndarray) -> np.ndarray:
        if self.is_whole:
            return np.searchsorted(self._whole_starts[1 : self.num_values], inside, side="right")
        share = (inside - self.low) / self._span
        return np.minimum(share * self.num_values, self.num_values - 1).astype(np.int64)

    @cached_property
    def _whole_starts(self) -> np.ndarray:
        """First whole number of each bin, and one past the last."""
        # In Python's integers: a quotient of floats may end just above the number it should be.
        span, bins = int(self._span), self.num_values
        return self.low + np.array([-(-span * number // bins) for number in range(bins + 1)], float)


@dataclass(frozen=True)
class Domain:
    """Cells of every column, in schema order.

    Attributes
    ----------
    columns : tuple of ColumnCells
    """

    columns: tuple[ColumnCells, ...]

    @classmethod
    def declared(
        cls,
        dataset: TabularDataset,
        *,
        bounds: Mapping[str, Limits] | None = None,
        bins: int | Mapping[str, int] = DEFAULT_BINS,
        missing: bool | Iterable[str] = True,
    ) -> "Domain":
        """Read the schema of a dataset (not its rows) and what the caller declares.

        Parameters
        ----------
        dataset : TabularDataset
        bounds : mapping, optional
            Lowest and highest value of each number column; an interval is [0, 1] by itself.
        bins : int or mapping
            Bins of each number column, 16 where a mapping names none.
        missing : bool or iterable of str
            Columns in which a value may be missing: all, none, or those named. A missing value
            elsewhere counts in the column's first cell.

        Raises
        ------
        ConfigError, SchemaError
            Names the columns for which something is not declared.
        """
        names = dataset.description.columns
        if not names:
            raise SchemaError("the table has no columns: there is nothing to synthesise")
        limits = dict(bounds or {})
        widths = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(names, bins)
        absent = set(names) if missing is True else set() if missing is False else set(missing)
        for given, parameter in ((limits, "bounds"), (widths, "bins"), (absent, "missing")):
            unknown = sorted(set(given).difference(names), key=str)
            if unknown:
                raise ConfigError(
                    f"{parameter} names {listing(unknown)}; the columns are {listing(names)}"
                )
        _refuse_unbounded(dataset.description.parsed, limits)
        return cls(
            tuple(
                _column_cells(column, limits.get(column.name),
                              widths.get(column.name, DEFAULT_BINS), column.name in absent)
                for column in dataset.description.parsed
            )
        )  # fmt: skip

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each column."""
        return tuple(column.size for column in self.columns)

    def cells_of(self, dataset: TabularDataset) -> np.ndarray:
        """Cell of every value, (columns, rows)."""
        table = dataset.table
        rows = [cells.cells_of(table.column(cells.column.name)) for cells in self.columns]
        return np.stack(rows)

    def release(
        self, cells: np.ndarray, like: TabularDataset, rng: np.random.Generator
    ) -> TabularDataset:
        """A dataset with a value drawn in each of `cells` (columns, rows)."""
        coded: list[np.ndarray] = []
        numbers: list[np.ndarray] = []
        for column, where in zip(self.columns, cells, strict=True):
            values = column.values_of(where, rng)
            (coded if column.column.is_coded else numbers).append(values)
        most = max((c.num_values for c in self.columns if c.column.is_coded), default=0)
        table = replace(
            like.table,
            codes=_side_by_side(coded, cells.shape[1], np.min_scalar_type(-1 - most)),
            numbers=_side_by_side(numbers, cells.shape[1], np.dtype(np.float64)),
            labels=None,
        )
        return TabularDataset.from_table(table, like.description)


def _side_by_side(columns: list[np.ndarray], rows: int, dtype: np.dtype) -> np.ndarray:
    matrix = np.empty((rows, len(columns)), dtype=dtype)
    for position, values in enumerate(columns):
        matrix[:, position] = values
    return matrix


def _column_cells(column: Column, bounds: Limits | None, bins: int, missing: bool) -> ColumnCells:
    if column.is_coded:
        if column.values is None:
            raise SchemaError(
                f"column {column.name!r} has no declared categories, and reading them off the "
                f"private records would reveal who is there. Declare it as 'finite' with its list "
                f"of values, or leave it out (dataset.view(exclude_columns=[{column.name!r}]))."
            )
        if bounds is not None:
            raise ConfigError(
                f"bounds names {column.name!r}, whose categories the schema already lists"
            )
        return ColumnCells(column, len(column.values), missing)
    low, high = _limits(column, bounds)
    width = check_count(bins, f"bins of column {column.name!r}", minimum=1)
    if column.kind in ("integer", "date"):
        width = int(min(width, high - low + 1))
    return ColumnCells(column, 1 if low == high else width, missing, low, high)


def _refuse_unbounded(columns: Iterable[Column], bounds: Mapping[str, Limits]) -> None:
    """Refuse, all at once, the number columns of which no bounds are declared."""
    without = [
        column.name
        for column in columns
        if not column.is_coded and column.type != "interval" and bounds.get(column.name) is None
    ]
    if without:
        ends = ", ".join(f"{name!r}: [lowest, highest]" for name in without)
        raise ConfigError(
            f"column{'s' if len(without) > 1 else ''} {listing(without, 20)} "
            f"{'have' if len(without) > 1 else 'has'} no declared bounds, and reading them off the "
            f"private records would reveal the extreme ones: give bounds={{{ends}}} (in an audit "
            f"file: data.bounds; data.bounds: table reads them off the table, to try it out: the "
            f"guarantee does not cover them)"
        )


def _limits(column: Column, bounds: Limits | None) -> tuple[float, float]:
    if bounds is None:
        return 0.0, 1.0
    try:
        ends = list(bounds)
        low, high = (float(end) for end in column.encode(pd.Series(ends))[0])
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"bounds of column {column.name!r} must be (lowest, highest), got {bounds!r}: {error}"
        ) from error
    if column.kind in ("integer", "date"):
        low, high = float(np.ceil(low)), float(np.floor(high))
    if not low <= high:
        raise ConfigError(
            f"bounds of column {column.name!r} must be (lowest, highest), got {bounds!r}"
        )
    _check_range(column, low, high)
    return low, high


def _check_range(column: Column, low: float, high: float) -> None:
    if column.type == "interval" and (low < 0 or high > 1):
        raise ConfigError(
            f"column {column.name!r} is an interval: its bounds must lie in [0, 1], "
            f"got ({low:g}, {high:g})"
        )
    if column.type == "real/non-negative" and low < 0:
        raise ConfigError(f"column {column.name!r} is non-negative: its lowest bound is {low:g}")
