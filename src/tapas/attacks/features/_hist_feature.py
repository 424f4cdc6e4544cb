"""Histograms of every column."""

import copy
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np

from tapas._validate import check_count
from tapas.attacks.features._column_ranges import ColumnRanges
from tapas.attacks.features._column_statistics import ColumnPlace, ColumnStatistics
from tapas.attacks.features._set_features import ColumnFeature, LearningFeature
from tapas.datasets import Dataset
from tapas.errors import ConfigError

__all__ = ["HistSetFeature"]

Bounds = tuple[float, float] | Literal["schema", "data"] | ColumnRanges
_LEARNT = ("schema", "data")


class HistSetFeature(LearningFeature, ColumnFeature):
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
        bounds: Bounds = (0, 1),
        *,
        overflow: bool | None = None,
        n_bins: int | None = None,
    ) -> None:
        self.num_bins = check_count(num_bins if n_bins is None else n_bins, "num_bins", minimum=1)
        self.bounds = _checked_bounds(bounds)
        self.overflow = overflow

    @property
    def learns(self) -> bool:
        """Whether ranges are still to be learnt."""
        return isinstance(self.bounds, str)

    def fitted_to(self, datasets: Sequence[Dataset]) -> Self:
        """The feature with the ranges of these datasets."""
        if not self.learns:
            return self
        fitted = copy.copy(self)
        fitted.bounds = ColumnRanges.of(datasets, as_declared=self.bounds == "schema")
        fitted.overflow = True if self.overflow is None else self.overflow
        fitted._first = None
        return fitted

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        edges = self._edges(statistics)
        counts = [
            statistics.category_counts(place)
            if place.is_coded
            else _bin_counts(statistics, place, edges[place.position])
            for place in statistics.layout.places
        ]
        pieces = [np.empty(0)]
        for place, count in zip(statistics.layout.places, counts, strict=True):
            if self._has_overflow(place):
                pieces += [count, np.array([statistics.missing(place)])]
            else:
                pieces.append(count if place.is_coded else count[1:-1])
        return np.concatenate(pieces) / max(1, statistics.rows)

    def _has_overflow(self, place: ColumnPlace) -> bool:
        if self.overflow is None:
            return place.kind in ("integer", "date", "datetime")
        return self.overflow

    def _edges(self, statistics: ColumnStatistics) -> np.ndarray:
        columns = statistics.table.number_columns()
        if isinstance(self.bounds, ColumnRanges):
            return self.bounds.edges([column.name for column in columns], self.num_bins)
        if isinstance(self.bounds, str):
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

    def _key(self) -> tuple[object, ...]:
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


def _checked_bounds(bounds: Bounds) -> Bounds:
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
