"""Find the records whose pairs of values few others share."""

from itertools import combinations

import numpy as np

from tapas._validate import check_count
from tapas.datasets._columns import MISSING_CODE
from tapas.datasets._encoding import EncodedTable
from tapas.datasets._tabular import TabularDataset
from tapas.errors import RecordError

__all__ = ["most_rare", "record_rarity"]

BINS = 20  # of a column of more numbers, of about as many records each
_LARGEST_TABLE = 8  # cells for each row: of more, only those that are there are counted


def record_rarity(dataset: TabularDataset) -> np.ndarray:
    """How rare the pairs of values of each record are, where columns tell of each other.

    The sum over pairs of columns of their mutual information (in nats), divided by the number of
    records that share both values. What is rare counts where a generator that models the pair
    could carry it over. Numbers and dates of more than 20 values are in 20 bins of about as many
    records; a missing value is a value. It takes one pass over the rows for each pair of columns.
    """
    columns = _values(dataset.table)
    found = np.zeros(len(dataset))
    for one, other in combinations(columns, 2):
        counts, cells = _counted(one, other)
        information = sum(map(_entropy, map(np.bincount, (one, other)))) - _entropy(counts)
        found += max(0.0, information) / counts[cells]
    return found


def most_rare(dataset: TabularDataset, k: int) -> np.ndarray:
    """Positions of the `k` records of highest `record_rarity`, highest first."""
    if check_count(k, "k", minimum=1) > len(dataset):
        raise RecordError(f"{k} records were asked for, the dataset has {len(dataset)}")
    # Equal but for rounding are equal: the first come first.
    return np.argsort(-record_rarity(dataset).round(9), kind="stable")[:k]


def _values(table: EncodedTable) -> list[np.ndarray]:
    """Of every column, which of its values, 0 and up, each record has."""
    coded = [column.astype(np.intp) - MISSING_CODE for column in table.codes.T]
    return [_without_gaps(column) for column in (*coded, *map(_binned, table.numbers.T))]


def _without_gaps(values: np.ndarray) -> np.ndarray:
    return (np.cumsum(np.bincount(values) > 0) - 1)[values]


def _binned(numbers: np.ndarray) -> np.ndarray:
    """The bin of each number; those that are equal share theirs, and 0 is missing."""
    present = ~np.isnan(numbers)
    found = np.zeros(len(numbers), dtype=np.intp)
    known = np.sort(numbers[present])
    if len(known):
        edges = np.unique(known)
        if len(edges) > BINS:
            edges = np.unique(known[np.arange(1, BINS) * len(known) // BINS])
        found[present] = 1 + np.searchsorted(edges, numbers[present], side="right")
    return found


def _counted(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many records have each pair of values, and which pair each record has."""
    width = int(other.max(initial=0)) + 1
    cells = one * width + other
    if (int(one.max(initial=0)) + 1) * width <= _LARGEST_TABLE * len(one):
        return np.bincount(cells), cells
    _, cells, counts = np.unique(cells, return_inverse=True, return_counts=True)
    return counts, cells


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / max(1, counts.sum())
    return float(-(shares * np.log(shares)).sum())
