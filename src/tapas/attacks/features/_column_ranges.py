"""Ranges of number columns, learnt once so that every release is measured on the same scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas.datasets import Dataset, TabularDataset
from tapas.errors import SchemaError

__all__ = ["ColumnRanges"]


@dataclass(frozen=True)
class ColumnRanges:
    """Smallest and largest value of each number column.

    Attributes
    ----------
    names : tuple of str
    lows, highs : tuple of float
    """

    names: tuple[str, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @classmethod
    def of(cls, datasets: Sequence[Dataset], *, as_declared: bool = False) -> "ColumnRanges":
        """Ranges over all the datasets; 0 to 1 for a column without values.

        Parameters
        ----------
        datasets : sequence of TabularDataset
        as_declared : bool
            Whether a column of type "interval" has the range that it declares, 0 to 1.
        """
        if not datasets:
            raise SchemaError("ranges of columns are learnt from at least one dataset, got none")
        tables = [_checked_table(dataset) for dataset in datasets]
        columns = tables[0].table.number_columns()
        extremes = [_extremes(table) for table in tables]
        low = np.min([lows for lows, _ in extremes], axis=0)
        high = np.max([highs for _, highs in extremes], axis=0)
        declared = np.array([as_declared and c.type == "interval" for c in columns], dtype=bool)
        unknown = declared | (low > high)
        low, high = np.where(unknown, 0.0, low), np.where(unknown, 1.0, high)
        alone = low == high
        return cls(
            tuple(column.name for column in columns),
            tuple(np.where(alone, low - 0.5, low).tolist()),
            tuple(np.where(alone, high + 0.5, high).tolist()),
        )

    def edges(self, names: Sequence[str], num_bins: int) -> np.ndarray:
        """Edges of equal bins for the named number columns, (columns, num_bins + 1)."""
        if tuple(names) != self.names:
            raise SchemaError(
                f"bins were learnt for the number columns {list(self.names)}, and the data has "
                f"{list(names)}: use one feature per kind of table"
            )
        return np.linspace(self.lows, self.highs, num_bins + 1, axis=1)


def _checked_table(dataset: Dataset) -> TabularDataset:
    if not isinstance(dataset, TabularDataset):
        raise SchemaError(
            f"ranges of columns are learnt from tables (TabularDataset), got "
            f"{type(dataset).__name__}"
        )
    return dataset


def _extremes(dataset: TabularDataset) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest number of each number column; infinities the wrong way if none."""
    numbers = dataset.table.numbers
    missing = np.isnan(numbers)
    low = np.where(missing, np.inf, numbers).min(axis=0, initial=np.inf)
    high = np.where(missing, -np.inf, numbers).max(axis=0, initial=-np.inf)
    return low, high
