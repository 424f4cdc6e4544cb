"""Correlations between columns."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tapas.attacks.features._column_statistics import ColumnStatistics
from tapas.attacks.features._set_features import ColumnFeature

__all__ = ["CorrSetFeature"]

# Small enough for one block of the numeric form to stay in a processor's cache.
BYTES_AT_ONCE = 1 << 20
LARGEST_EXACT_SINGLE = 2**24


@dataclass(frozen=True)
class CorrSetFeature(ColumnFeature):
    """Pearson correlation of every pair of columns of the numeric form.

    The upper triangle of the matrix, row by row. A missing number counts as the mean of its
    column; a column that does not vary has correlation 0 with all others.
    """

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        width, rows = statistics.layout.width, statistics.rows
        upper = _upper_triangle(width)
        if rows == 0:
            return np.zeros(len(upper))
        gram, mean, columns = _products(statistics)
        covariance = gram / rows - np.outer(mean, mean)
        spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        scale = np.divide(1.0, spread, out=np.zeros(width), where=spread > 0)
        covariance *= scale[:, None]
        covariance *= scale
        order = np.argsort(columns)
        ordered = covariance[order[:, None], order]
        return np.clip(ordered.ravel()[upper], -1.0, 1.0)

    @property
    def label(self) -> str:
        """Display name."""
        return "F_Corr"


def _products(statistics: ColumnStatistics) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inner products and means of the columns, and where these stand in the numeric form.

    Zeros and ones need no centring, and standardised numbers do not lose digits to it.
    """
    layout, rows = statistics.layout, statistics.rows
    numbers = _standardised(statistics)
    counting = len(numbers) == 0 and rows < LARGEST_EXACT_SINGLE
    dtype = np.dtype(np.float32 if counting else np.float64)
    codes = np.ascontiguousarray(statistics.table.codes.T)
    wanted = layout.one_hot_codes.astype(codes.dtype)[:, None]
    step = max(64, BYTES_AT_ONCE // (dtype.itemsize * max(1, layout.width)))
    gram = np.zeros((layout.width, layout.width))
    for start in range(0, rows, step):
        some = slice(start, start + step)
        block = np.empty((layout.width, min(step, rows - start)), dtype=dtype)
        block[: len(wanted)] = codes[:, some].take(layout.one_hot_positions, axis=0) == wanted
        block[len(wanted) :] = numbers[:, some]
        gram += block @ block.T
    means = statistics.counts[layout.one_hot_slots] / rows, numbers.mean(axis=1)
    columns = layout.one_hot_columns, layout.number_columns, layout.ordered_columns
    return gram, np.concatenate(means), np.concatenate(columns)


def _standardised(statistics: ColumnStatistics) -> np.ndarray:
    """Numbers, then ordered ranks, with mean 0 and variance 1, (columns, rows)."""
    table, ordered = statistics.table, statistics.layout.ordered
    ranks = table.codes[:, [place.position for place in ordered]].T.astype(float)
    ranks[ranks < 0] = np.nan
    values = np.concatenate([table.numbers.T, ranks])
    if len(values) == 0:
        return values
    missing = np.isnan(values)
    # Taken off first, a value of the column makes one that does not vary exactly 0.
    values -= np.nan_to_num(values[np.arange(len(values)), np.argmin(missing, axis=1)])[:, None]
    if missing.any():
        present = np.maximum(1, (~missing).sum(axis=1))
        values -= (np.nansum(values, axis=1) / present)[:, None]
        values[missing] = 0.0
    else:
        values -= values.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.square(values).mean(axis=1, keepdims=True))
    values *= np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return values


@lru_cache(maxsize=8)
def _upper_triangle(width: int) -> np.ndarray:
    rows, columns = np.triu_indices(width, 1)
    return rows * width + columns
