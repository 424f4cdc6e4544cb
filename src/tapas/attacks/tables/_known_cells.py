"""Records that an attacker holds, by the cells of marginals: worked out once for all releases."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from tapas.datasets import EncodedTable, TabularDataset

__all__ = ["KnownCells", "known_cells", "places_of"]

BINS = 10
MOST_MARGINALS = 1024  # that are remembered
_Counts = tuple[np.ndarray, np.ndarray]
# A dataset never changes, and is asked about for every release.
_KNOWN: "WeakKeyDictionary[TabularDataset, KnownCells]" = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class KnownCells:
    """A table whose values are small integers: numbers by its own deciles.

    Attributes
    ----------
    table : EncodedTable
    """

    table: EncodedTable

    @cached_property
    def edges(self) -> list[np.ndarray | None]:
        """Between the bins of each number column; None for one of categories."""
        shares = np.arange(1, BINS) / BINS
        found: list[np.ndarray | None] = []
        for column in self.table.columns:
            numbers = None if column.is_coded else self.table.column(column.name)
            present = None if numbers is None else numbers[~np.isnan(numbers)]
            if present is not None and len(present):
                present = np.unique(np.quantile(present, shares))
            found.append(present)
        return found

    @cached_property
    def sizes(self) -> list[int]:
        """How many integers each column has, that of a missing value among them."""
        return [
            len(column.values or ()) + 1 if edges is None else len(edges) + 2
            for column, edges in zip(self.table.columns, self.edges, strict=True)
        ]

    def coded(self, table: EncodedTable) -> np.ndarray:
        """Every value of a table of the same columns as a small integer, (columns, rows)."""
        found = np.empty((len(self.sizes), len(table)), dtype=np.intp)
        about = zip(self.table.columns, self.edges, self.sizes, strict=True)
        for place, (column, edges, size) in enumerate(about):
            values = table.column(column.name)
            if edges is None:
                found[place] = values.astype(np.intp) % size
            else:
                binned = np.searchsorted(edges, values, "right")
                found[place] = np.where(np.isnan(values), size - 1, binned)
        return found

    def counts_at(self, columns: tuple[int, ...], asked: np.ndarray) -> np.ndarray:
        """How many of the records are in each of the cells of a marginal."""
        cells, counts = self._counted(columns)
        nearest = np.minimum(np.searchsorted(cells, asked), len(cells) - 1)
        return np.where(cells[nearest] == asked, counts[nearest], 0)

    @cached_property
    def _codes(self) -> np.ndarray:
        return self.coded(self.table).astype(np.int32)

    @cached_property
    def _counted(self) -> Callable[[tuple[int, ...]], _Counts]:
        """Cells of a marginal that occur, and how often."""

        @lru_cache(maxsize=MOST_MARGINALS)
        def counted(columns: tuple[int, ...]) -> _Counts:
            return np.unique(places_of(self._codes, columns, self.sizes), return_counts=True)

        return counted


def known_cells(held: TabularDataset) -> KnownCells:
    """Those of a dataset, which are remembered as long as it is."""
    known = _KNOWN.get(held)
    if known is None:
        known = _KNOWN[held] = KnownCells(held.table)
    return known


def places_of(codes: np.ndarray, columns: tuple[int, ...], sizes: list[int]) -> np.ndarray:
    """The cell of each record in a marginal."""
    found = codes[columns[0]].astype(np.intp, copy=False)
    for column in columns[1:]:
        found = found * sizes[column] + codes[column]
    return found
