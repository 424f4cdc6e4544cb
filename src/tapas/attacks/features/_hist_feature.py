"""Histograms of every column."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapas._validate import check_count
from tapas.attacks.features._column_ranges import ColumnRanges
from tapas.attacks.features._column_statistics import ColumnPlace, ColumnStatistics
from tapas.attacks.features._set_features import ColumnFeature
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import ConfigError

_LEARNT = ("schema", "data")


class HistSetFeature(ColumnFeature):
    """Frequencies of the categories, and of bins of the numbers, of every column.

    Columns stand in schema order. Bins include their lower edge, the last one both.

    Parameters
    ----------
    num_bins : int
        Bins per number column; also spelt `n_bins`.
    bounds : (low, high), "data" or "schema"
        One range for all number columns (columns of type "interval" always have 0 to 1). Or
        "data": each column has its own range, that of the attacker's auxiliary data when an
        attack is trained (without such data, of its first training releases), and of the
        datasets first given when `extract` is called directly. The range is kept, so that
        releases are comparable. Or "schema": 0 to 1 where the schema says "interval", else as
        "data".
    overflow : bool, optional
        Whether each column also has the frequency of missing values (last) and each number
        column those of values below (first) and above its range (after its bins). By default so
        with "data" and "schema"; with given bounds, for columns of integers, dates and datetimes
        only.
    """

    def __init__(
        self,
        num_bins: int = 10,
        bounds: Any = (0, 1),
        *,
        overflow: bool | None = None,
        n_bins: int | None = None,
    ) -> None:
        self.num_bins = check_count(num_bins if n_bins is None else n_bins, "num_bins", minimum=1)
        self.bounds = _checked_bounds(bounds)
        self.overflow = overflow
        self._first: HistSetFeature | None = None

    @property
    def learns(self) -> bool:  # type: ignore[override]
        """Whether ranges are still to be learnt."""
        return self.bounds in _LEARNT

    def fitted_to(self, datasets: Sequence[Any]) -> "HistSetFeature":
        """The feature with the ranges of these datasets."""
        if not self.learns:
            return self
        for dataset in datasets:
            if not isinstance(dataset, TabularDataset):
                raise ConfigError(
                    f"bounds={self.bounds!r} are learnt from tables, got {type(dataset).__name__}"
                )
        ranges = ColumnRanges.of(datasets, as_declared=self.bounds == "schema")
        overflow = True if self.overflow is None else self.overflow
        fitted = copy.copy(self)
        fitted.bounds, fitted.overflow, fitted._first = ranges, overflow, None
        return fitted

    def settled(self, datasets: Sequence[Dataset]) -> "HistSetFeature":
        """The feature with its ranges; those of the datasets seen first, if it has none yet."""
        if not self.learns or not datasets:
            return self
        if self._first is None:
            self._first = self.fitted_to(datasets)
        return self._first

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        edges = self._edges(statistics)
        counts = [
            statistics.category_counts(place)
            if place.is_coded
            else _bin_counts(statistics, place, edges[place.position])
            for place in statistics.layout.places
        ]
        pieces: list[Any] = []
        for place, count in zip(statistics.layout.places, counts, strict=True):
            if self._has_overflow(place):
                pieces += [count, [statistics.missing(place)]]
            else:
                pieces.append(count if place.is_coded else count[1:-1])
        return np.concatenate([np.empty(0), *pieces]) / max(1, statistics.rows)

    def _has_overflow(self, place: ColumnPlace) -> bool:
        if self.overflow is None:
            return place.kind in ("integer", "date", "datetime")
        return self.overflow

    def _edges(self, statistics: ColumnStatistics) -> np.ndarray:
        columns = statistics.table.number_columns()
        if isinstance(self.bounds, ColumnRanges):
            return self.bounds.edges([column.name for column in columns], self.num_bins)
        if self.learns:
            raise ConfigError(
                f"bounds={self.bounds!r} are not learnt yet: use extract, or fitted_to first"
            )
        declared = np.array([column.type == "interval" for column in columns], dtype=bool)
        low, high = self.bounds
        lows, highs = np.where(declared, 0.0, low), np.where(declared, 1.0, high)
        return np.linspace(lows, highs, self.num_bins + 1, axis=1)

    @property
    def label(self) -> str:
        """Display name."""
        return f"F_Hist({self.num_bins})"

    def _key(self) -> tuple[Any, ...]:
        return self.num_bins, self.bounds, self.overflow

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HistSetFeature) or type(self) is not type(other):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), *self._key()))

    def __repr__(self) -> str:
        bounds = "learnt" if isinstance(self.bounds, ColumnRanges) else self.bounds
        return f"HistSetFeature(num_bins={self.num_bins}, bounds={bounds!r})"


def _checked_bounds(bounds: Any) -> Any:
    if isinstance(bounds, ColumnRanges) or (isinstance(bounds, str) and bounds in _LEARNT):
        return bounds
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ConfigError(
            f"bounds must be (low, high) with low < high, 'schema' or 'data', got {bounds!r}"
        )
    return low, high


def _bin_counts(statistics: ColumnStatistics, place: ColumnPlace, edges: np.ndarray) -> np.ndarray:
    """Numbers below the first edge, in each bin, and above the last edge."""
    present = int(statistics.present[place.position])
    ascending = statistics.sorted_numbers[place.position, :present]
    below = np.searchsorted(ascending, edges, side="left")
    below[-1] = np.searchsorted(ascending, edges[-1], side="right")
    return np.diff(below, prepend=0, append=present)
