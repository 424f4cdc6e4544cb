"""How common the values of records are in a table, one column at a time."""

from dataclasses import dataclass, replace

import numpy as np

from tapas.attacks.tables._mixed_kernel import column_spreads
from tapas.attacks.tables._numeric_parts import NumericParts, column_ranges
from tapas.datasets import TabularDataset

__all__ = ["ColumnValues", "log_shares"]

FINER = 4  # halvings below one record a cell
MOST_HALVINGS = 40
NEAR = 8  # halvings of the cells that say how many records are near a number


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Densities of single columns of two tables, as if columns had nothing to do with each other.

    The density of a number is a mean of histograms with one cell, which is centred on it, as wide
    as the column, twice its spread, half of that and so on, and last the number itself, which
    counts as half of the least cell. So mechanisms show that give values that the data had, or
    numbers between two such values. Where the column has m values, cells are halved
    ``ceil(log2(m)) + 4`` times.

    What the mechanism gave back stands out from the numbers near it, and of these the release has
    as many as the data: both tables together say how many there are, which few reference records
    by themselves would not.

    Attributes
    ----------
    ranges, spreads : ndarray
        Of each number column.
    halvings : ndarray of integers
        How often cells are halved.
    """

    ranges: np.ndarray
    spreads: np.ndarray
    halvings: np.ndarray

    @classmethod
    def between(cls, first: TabularDataset, second: TabularDataset) -> "ColumnValues":
        """Cells for comparing two tables."""
        numbers = NumericParts.of(first + second).numbers
        distinct = [len(np.unique(column[~np.isnan(column)])) for column in numbers]
        halvings = np.ceil(np.log2(np.maximum(distinct, 1))).astype(int) + FINER
        return cls(
            column_ranges(numbers), column_spreads(numbers), np.minimum(halvings, MOST_HALVINGS)
        )

    def log_excess(
        self, targets: TabularDataset, first: TabularDataset, second: TabularDataset
    ) -> np.ndarray:
        """How much denser the first table is at a number than both are near it, summed."""
        near = replace(self, halvings=np.minimum(self.halvings, NEAR))
        at_it = self.log_densities(targets, first)
        return (at_it - near.log_densities(targets, first + second)).sum(axis=0)

    def log_densities(self, targets: TabularDataset, data: TabularDataset) -> np.ndarray:
        """Of each number of each target in the data, (number columns, targets)."""
        asked, given = NumericParts.of(targets).numbers, NumericParts.of(data).numbers
        found = np.empty(asked.shape)
        for column in range(len(asked)):
            found[column] = self._log_density(column, asked[column], given[column])
        return found

    def _log_density(self, column: int, asked: np.ndarray, given: np.ndarray) -> np.ndarray:
        present = np.sort(given[~np.isnan(given)])
        absent = (len(given) - len(present) + 0.5) / (len(given) + 1)
        values, places = np.unique(asked, return_inverse=True)
        reaches = self.spreads[column] / 2.0 ** np.arange(self.halvings[column] + 1)
        sums = np.full(len(values), 1 / self.ranges[column])
        for reach, cell in zip((*reaches, 0.0), (*(2 * reaches), reaches[-1]), strict=True):
            sums += _within(values, present, reach) / (cell * (len(reaches) + 1))
        logs = np.log(sums / (len(present) + 1)) + np.log1p(-absent)
        return np.where(np.isnan(values), np.log(absent), logs)[places]


def log_shares(targets: TabularDataset, data: TabularDataset) -> np.ndarray:
    """Logarithm of the share of the data with each category of each target, (columns, targets)."""
    asked, given = (NumericParts.of(table).categories + 1 for table in (targets, data))
    listed = [c for c in targets.table.columns if c.is_one_hot and c.values is not None]
    found = np.empty(asked.shape)
    for n, column in enumerate(listed):
        size = len(column.values or ()) + 1
        counts = np.bincount(given[n], minlength=size) + 0.5
        found[n] = np.log(counts / counts.sum())[asked[n]]
    return found


def _within(values: np.ndarray, ordered: np.ndarray, reach: float) -> np.ndarray:
    """How many of the ordered numbers are at most `reach` away from each value."""
    last = np.searchsorted(ordered, values + reach, side="right")
    return last - np.searchsorted(ordered, values - reach, side="left")
