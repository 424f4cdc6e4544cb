"""Combinations of values on sets of columns, and how many records have them."""

from collections.abc import Sequence

import numpy as np

from tapas._random import stream
from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import TabularDataset

__all__ = ["ColumnCells", "column_sets", "count_equal"]

BINS = 10


class ColumnCells:
    """Several tables, every value as a small integer; numbers by deciles of the first table."""

    def __init__(self, tables: Sequence[TabularDataset]) -> None:
        parts = [NumericParts.of(table) for table in tables]
        edges = [_deciles(column) for column in parts[0].numbers]
        self._codes = [_binned(part, edges) for part in parts]
        self.columns = len(self._codes[0])

    def keys(self, columns: np.ndarray) -> list[np.ndarray]:
        """For each table, a number per record: equal where records agree on the columns."""
        # Sums of random multiples: two combinations meet with a chance of one in 2^64.
        salts = stream(1).integers(1, 2**63, size=self.columns, dtype=np.uint64)[columns]
        return [(codes[columns] * salts[:, None]).sum(axis=0) for codes in self._codes]


def column_sets(columns: int, order: int, number: int) -> list[np.ndarray]:
    """Sets of columns of one size, drawn once and for all; fewer where there are fewer."""
    drawn = stream(0)
    sets = {tuple(sorted(drawn.permutation(columns)[:order].tolist())) for _ in range(number)}
    return [np.array(one) for one in sorted(sets)]


def count_equal(asked: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """How many keys equal each one asked for."""
    ordered = np.sort(keys)
    first, last = (np.searchsorted(ordered, asked, side=side) for side in ("left", "right"))
    return last - first


def _deciles(column: np.ndarray) -> np.ndarray:
    present = column[~np.isnan(column)]
    shares = np.arange(1, BINS) / BINS
    return np.unique(np.quantile(present, shares)) if len(present) else np.empty(0)


def _binned(part: NumericParts, edges: Sequence[np.ndarray]) -> np.ndarray:
    rows = part.numbers.shape[1]
    ranks = [
        np.where(np.isnan(column), BINS, np.searchsorted(cuts, column, side="right"))
        for column, cuts in zip(part.numbers, edges, strict=True)
    ]
    binned = np.array(ranks, dtype=np.uint64).reshape(len(edges), rows)
    return np.concatenate([binned, (part.categories.astype(int) + 1).astype(np.uint64)])
