"""The numeric form of a table without spelling out its one-hot columns.

Two records differ in a one-hot block by what their two categories weigh, so that distances over
the numeric form need one comparison per categorical column instead of one per category.
"""

from dataclasses import dataclass, replace

import numpy as np

from tapas.datasets import TabularDataset

MISSING = -1
ENTRIES_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class NumericParts:
    """Columns of the numeric form, by kind.

    Attributes
    ----------
    numbers : ndarray, (number and ordered columns, rows)
        NaN is missing.
    categories : ndarray of integers, (one-hot columns, rows)
        Position in the block; -1 is missing.
    """

    numbers: np.ndarray
    categories: np.ndarray

    @classmethod
    def of(cls, dataset: TabularDataset) -> "NumericParts":
        """Take a dataset apart; one with free text is refused as its numeric form is."""
        table, places = dataset.table, dataset.description.numeric_places
        if places.without_values:
            dataset.numeric()
        numbers = np.empty((len(places.numbers) + len(places.ranks), len(table)))
        numbers[places.numbers] = table.numbers.T
        codes = table.codes.T
        for where, column in zip(places.ranks, codes[places.ranked], strict=True):
            numbers[where] = np.where(column == MISSING, np.nan, column)
        return cls(numbers, codes[places.one_hot])

    def scaled(self, units: np.ndarray) -> "NumericParts":
        """Every number divided by the unit of its column."""
        return replace(self, numbers=self.numbers / units[:, None])

    def filled(self, values: np.ndarray) -> "NumericParts":
        """Missing numbers replaced by the value of their column."""
        missing = np.isnan(self.numbers)
        if not missing.any():
            return self
        return replace(self, numbers=np.where(missing, values[:, None], self.numbers))

    def means(self) -> np.ndarray:
        """Mean of the numbers of each column that are not missing; 0 where all are."""
        totals = self.numbers.sum(axis=1)
        if not np.isnan(totals).any():
            return totals / max(1, self.numbers.shape[1])
        present = ~np.isnan(self.numbers)
        totals = np.where(present, self.numbers, 0.0).sum(axis=1)
        return totals / np.maximum(1, present.sum(axis=1))

    def ranges(self) -> np.ndarray:
        """Unit of each column: see `column_ranges`."""
        return column_ranges(self.numbers)


@dataclass(frozen=True, eq=False)
class NumericWeights:
    """Weights of the columns of the numeric form, by kind.

    Attributes
    ----------
    numbers : ndarray
        One weight per number or ordered column.
    categories : list of ndarray
        For each one-hot column the weight of every category and, last, of a missing one: 0.
    """

    numbers: np.ndarray
    categories: list[np.ndarray]

    @classmethod
    def of(cls, dataset: TabularDataset, weights: np.ndarray) -> "NumericWeights":
        """Take apart one weight per column of the numeric form."""
        numbers, categories, start = [], [], 0
        for column in dataset.table.columns:
            if column.is_one_hot and column.values is not None:
                stop = start + len(column.values)
                categories.append(np.append(weights[start:stop], 0.0))
                start = stop
            else:
                numbers.append(weights[start])
                start += 1
        return cls(np.array(numbers, dtype=float), categories)


def column_ranges(columns: np.ndarray) -> np.ndarray:
    """Largest minus smallest number of each column (first axis); 1 where 0 or undefined."""
    present = ~np.isnan(columns)
    high = np.where(present, columns, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(present, columns, np.inf).min(axis=1, initial=np.inf)
    some = present.any(axis=1)
    spread = np.where(some, high, 1.0) - np.where(some, low, 0.0)
    return np.where(spread > 0, spread, 1.0)


def minkowski_sums(
    left: NumericParts, right: NumericParts, p: float, weights: NumericWeights | None = None
) -> np.ndarray:
    """``sum_j w_j |x_j - y_j|^p`` over the numeric form, one row per row of `left`.

    A number that is missing on one side only counts as a gap of 1, on both sides as none.
    """
    rows, width = left.numbers.shape[1], right.numbers.shape[1]
    sums = np.zeros((rows, width))
    step = max(1, ENTRIES_AT_ONCE // max(1, width))
    gappy = bool(np.isnan(left.numbers).any() or np.isnan(right.numbers).any())
    for start in range(0, rows, step):
        some = slice(start, start + step)
        block = NumericParts(left.numbers[:, some], left.categories[:, some])
        _add_numbers(sums[some], block, right, p, weights, gappy)
        _add_categories(sums[some], block, right, weights)
    return sums


def _add_numbers(
    sums: np.ndarray,
    left: NumericParts,
    right: NumericParts,
    p: float,
    weights: NumericWeights | None,
    gappy: bool,
) -> None:
    entries = len(left.numbers) * sums.size
    # Of a single entry numpy would add the columns in another order.
    if weights is None and not gappy and sums.size > 1 and entries <= ENTRIES_AT_ONCE:
        sums += _power(left.numbers[:, :, None] - right.numbers[:, None], p).sum(axis=0)
        return
    for column in range(len(left.numbers)):
        weight = 1.0 if weights is None else weights.numbers[column]
        if weight == 0:
            continue
        gaps = left.numbers[column][:, None] - right.numbers[column]
        if gappy:
            absent = np.isnan(left.numbers[column])[:, None] ^ np.isnan(right.numbers[column])
            gaps = np.where(np.isnan(gaps), absent, gaps)
        sums += _power(gaps, p) if weight == 1 else weight * _power(gaps, p)


def _add_categories(
    sums: np.ndarray, left: NumericParts, right: NumericParts, weights: NumericWeights | None
) -> None:
    whole = left.categories.min(initial=0) >= 0 and right.categories.min(initial=0) >= 0
    if weights is None and whole:
        sums += 2 * differing_columns(left.categories, right.categories)
        return
    for column in range(len(left.categories)):
        mine, theirs = left.categories[column], right.categories[column]
        if weights is None:
            apart = (mine != MISSING)[:, None] + (theirs != MISSING).astype(float)
        else:
            weigh = weights.categories[column]
            apart = weigh[mine][:, None] + weigh[theirs]
        sums += np.where(mine[:, None] != theirs, apart, 0.0)


def differing_columns(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """In how many columns (first axis) rows of `left` and of `right` have different codes."""
    dtype = np.min_scalar_type(len(left))
    if left.size * right.shape[1] <= ENTRIES_AT_ONCE:
        apart = left[:, :, None] != right[:, None]
        return np.add.reduce(apart.view(np.uint8), axis=0, dtype=dtype)
    counts = np.zeros((left.shape[1], right.shape[1]), dtype=dtype)
    for mine, theirs in zip(left, right, strict=True):
        counts += (mine[:, None] != theirs).view(np.uint8)
    return counts


def _power(gaps: np.ndarray, p: float) -> np.ndarray:
    if p == 2:
        return np.square(gaps, out=gaps)
    return np.abs(gaps) if p == 1 else np.abs(gaps) ** p
