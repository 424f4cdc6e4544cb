"""Correlations between columns."""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tapas.attacks.features._column_statistics import ColumnStatistics, Layout
from tapas.attacks.features._set_features import ColumnFeature
from tapas.errors import TapasWarning

__all__ = ["CorrSetFeature"]

# Small enough for one block of the numeric form to stay in a processor's cache.
BYTES_AT_ONCE = 1 << 20
LARGEST_EXACT_SINGLE = 2**24
MOST_COLUMNS = 512  # of the numeric form: a megabyte of correlations for each release


@dataclass(frozen=True)
class CorrSetFeature(ColumnFeature):
    """Pearson correlation of every pair of columns of the numeric form.

    The upper triangle of the matrix, row by row. A missing number counts as the mean of its
    column; a column that does not vary has correlation 0 with all others. A numeric form of more
    than 512 columns is narrowed, with a warning: columns share these evenly, and of a column with
    more categories than its share the first are taken.
    """

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        chosen, rows = _chosen(statistics.layout), statistics.rows
        width = len(chosen.columns)
        upper = _upper_triangle(width)
        if rows == 0:
            return np.zeros(len(upper))
        gram, mean = _products(statistics, chosen)
        covariance = gram / rows - np.outer(mean, mean)
        spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        scale = np.divide(1.0, spread, out=np.zeros(width), where=spread > 0)
        covariance *= scale[:, None]
        covariance *= scale
        order = np.argsort(chosen.columns)
        ordered = covariance[order[:, None], order]
        return np.clip(ordered.ravel()[upper], -1.0, 1.0)

    @property
    def label(self) -> str:
        """Display name."""
        return "F_Corr"


@dataclass(frozen=True, eq=False)
class _Chosen:
    """The columns of the numeric form that are compared.

    Attributes
    ----------
    one_hot, numbers : ndarray of bool
        Which of the categories, and of the numbers with the ordered ranks.
    columns : ndarray
        Where these stand in the numeric form.
    """

    one_hot: np.ndarray
    numbers: np.ndarray
    columns: np.ndarray


def _chosen(layout: Layout) -> _Chosen:
    chosen = _shared_out(layout)
    if len(chosen.columns) < layout.width:
        warnings.warn(
            f"the table has {layout.width} columns once categories are spread out: correlations "
            f"are taken of {MOST_COLUMNS} of them, as those of all pairs would take "
            f"{layout.width**2 * 4 / 1e6:,.0f} MB a release. Merge rare categories to compare all",
            TapasWarning,
            stacklevel=3,
        )
    return chosen


@lru_cache(maxsize=32)
def _shared_out(layout: Layout) -> _Chosen:
    """All columns; where they are too many, of each column of the table an even share."""
    widths = np.array([p.categories if p.kind == "category" else 1 for p in layout.places])
    share = MOST_COLUMNS
    while share > 1 and np.minimum(widths, share).sum() > MOST_COLUMNS:
        share -= 1
    taken = np.minimum(widths, share)
    parts = [p.start + np.arange(n) for p, n in zip(layout.places, taken, strict=True)]
    columns = np.concatenate([np.empty(0, dtype=np.intp), *parts])[:MOST_COLUMNS]
    numbers = np.concatenate([layout.number_columns, layout.ordered_columns])
    masks = np.isin(layout.one_hot_columns, columns), np.isin(numbers, columns)
    return _Chosen(*masks, np.concatenate([layout.one_hot_columns[masks[0]], numbers[masks[1]]]))


def _products(statistics: ColumnStatistics, chosen: _Chosen) -> tuple[np.ndarray, np.ndarray]:
    """Inner products and means of the chosen columns.

    Zeros and ones need no centring, and standardised numbers do not lose digits to it.
    """
    layout, rows = statistics.layout, statistics.rows
    numbers = _standardised(statistics)[chosen.numbers]
    counting = len(numbers) == 0 and rows < LARGEST_EXACT_SINGLE
    dtype = np.dtype(np.float32 if counting else np.float64)
    codes = np.ascontiguousarray(statistics.table.codes.T)
    wanted = layout.one_hot_codes[chosen.one_hot].astype(codes.dtype)[:, None]
    positions = layout.one_hot_positions[chosen.one_hot]
    width = len(chosen.columns)
    step = max(64, BYTES_AT_ONCE // (dtype.itemsize * max(1, width)))
    gram = np.zeros((width, width))
    for start in range(0, rows, step):
        some = slice(start, start + step)
        block = np.empty((width, min(step, rows - start)), dtype=dtype)
        block[: len(wanted)] = codes[:, some].take(positions, axis=0) == wanted
        block[len(wanted) :] = numbers[:, some]
        gram += block @ block.T
    means = statistics.counts[layout.one_hot_slots[chosen.one_hot]] / rows, numbers.mean(axis=1)
    return gram, np.concatenate(means)


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
