"""Which rows of some tables are equal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapas.datasets import TabularDataset

FEWEST_COLUMNS = 3  # of records that may differ in one


def row_keys(*datasets: TabularDataset) -> list[np.ndarray]:
    """One integer per row and dataset; rows with equal values have equal integers."""
    cells = np.concatenate(_cells(datasets))
    packed = np.ascontiguousarray(cells).view(np.dtype((np.void, cells.itemsize * cells.shape[1])))
    _, keys = np.unique(packed.ravel(), return_inverse=True)
    return np.split(keys, np.cumsum([len(dataset) for dataset in datasets])[:-1])


def rows_within(table: TabularDataset, others: Iterable[TabularDataset]) -> np.ndarray:
    """Which rows of a table each of the others has, (others, rows)."""
    found: list[np.ndarray] = []
    some: list[TabularDataset] = []

    def look() -> None:
        asked, *present = row_keys(table, *some)
        found.extend(np.isin(asked, keys) for keys in present)
        some.clear()

    for other in others:
        some.append(other)
        if sum(map(len, some)) >= len(table):  # together they cost what the table does
            look()
    if some:
        look()
    return np.array(found, dtype=bool).reshape(-1, len(table))


@dataclass(frozen=True, eq=False)
class Found:
    """Where records stand in another table.

    Attributes
    ----------
    rows : ndarray of int
        The first row that equals each record, or else the first that does but for one column; -1
        where there is none.
    differs : ndarray of int
        Which column differs; -1 where none does, or there is no such row.
    """

    rows: np.ndarray
    differs: np.ndarray

    @property
    def exact(self) -> np.ndarray:
        """Whether each record is there word for word."""
        return (self.rows >= 0) & (self.differs < 0)

    @property
    def nearly(self) -> np.ndarray:
        """Whether each record is there word for word, or but for one column."""
        return self.rows >= 0


def find_rows(table: TabularDataset, *datasets: TabularDataset) -> list[Found]:
    """Look for the records of some tables in another one, word for word and but for one column.

    Rows are compared by sums of 64-bit digests of their cells, of which one is left out in turn:
    different rows have equal sums once in 10^19 times.
    """
    among, *sides = (_digests(cells) for cells in _cells((table, *datasets)))
    wholes = [side.sum(axis=1, dtype=np.uint64) for side in (among, *sides)]
    found = []
    for side, whole in zip(sides, wholes[1:], strict=True):
        rows = _first_equal(whole, wholes[0])
        differs = np.full(len(side), -1)
        for column in range(side.shape[1]) if side.shape[1] >= FEWEST_COLUMNS else ():
            left = np.flatnonzero(rows < 0)
            met = _first_equal(whole[left] - side[left, column], wholes[0] - among[:, column])
            rows[left] = met
            differs[left[met >= 0]] = column
        found.append(Found(rows, differs))
    return found


def cell_names(dataset: TabularDataset) -> list[str]:
    """Names of the columns in the order in which rows are compared."""
    table = dataset.table
    return [column.name for column in (*table.coded_columns(), *table.number_columns())]


def _cells(datasets: Sequence[TabularDataset]) -> list[np.ndarray]:
    """One whole number per cell and dataset; equal values have equal numbers."""
    first, *others = (dataset.table for dataset in datasets)
    whole = first.concat(*others)
    # Adding 0 makes -0.0 equal to 0.0; there is only one NaN afterwards.
    numbers = np.where(np.isnan(whole.numbers), np.nan, whole.numbers + 0.0)
    cells = np.concatenate([whole.codes.astype(np.int64), numbers.view(np.int64)], axis=1)
    return np.split(cells, np.cumsum([len(dataset) for dataset in datasets])[:-1])


def _digests(cells: np.ndarray) -> np.ndarray:
    """A digest of each cell and its column (the finaliser of splitmix64)."""
    steps = [(n * 0x9E3779B97F4A7C15) % 2**64 for n in range(1, cells.shape[1] + 1)]
    mixed: NDArray[np.uint64] = np.add(cells.view(np.uint64), np.array(steps, dtype=np.uint64))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = np.bitwise_xor(mixed, np.right_shift(mixed, shift)) * np.uint64(factor)
    return mixed


def _first_equal(keys: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Position of the first equal one, -1 where there is none."""
    values, first = np.unique(among, return_index=True)
    if not len(values):
        return np.full(len(keys), -1)
    place = np.searchsorted(values, keys).clip(max=len(values) - 1)
    return np.where(values[place] == keys, first[place], -1)
