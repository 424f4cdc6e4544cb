"""Interpolation between neighbouring records."""

import numpy as np

from tapas._validate import check_count
from tapas.datasets import EncodedTable
from tapas.generators._discretise import decimals_of, rounded
from tapas.generators._table_generator import TableGenerator, table_like

LARGEST_SEARCH = 5_000
LARGEST_BLOCK = 2_000_000
GROUP = 16
FARTHEST = 100.0


class Smote(TableGenerator):
    """Mixes each drawn record with one of its nearest neighbours.

    Numbers lie at a random place between the record's and the neighbour's; categories are those
    most frequent among the record's neighbours. A number that the record lacks stays missing.
    Distances are Euclidean on standardised numbers, where two different categories lie one
    standard deviation apart. In tables of more than 5,000 records neighbours are sought among
    5,000 of them, chosen at random.

    Parameters
    ----------
    num_neighbours : int

    Attributes
    ----------
    records_ : EncodedTable
        The private records.
    neighbours_ : ndarray of int, (records, neighbours)
        Positions of each record's neighbours.

    References
    ----------
    Chawla, Bowyer, Hall, Kegelmeyer (2002), "SMOTE: synthetic minority over-sampling technique".
    """

    def __init__(self, num_neighbours: int = 5) -> None:
        super().__init__()
        self.num_neighbours = check_count(num_neighbours, "num_neighbours", minimum=1)

    @property
    def label(self) -> str:
        """Display name."""
        return f"Smote(neighbours={self.num_neighbours})"

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.records_ = table
        self.decimals_ = [
            0 if column.kind in ("integer", "date") else decimals_of(table.numbers[:, position])
            for position, column in enumerate(table.number_columns())
        ]
        self.neighbours_ = _neighbours(_places(table), self.num_neighbours, rng)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        table = self.records_
        rows = rng.integers(len(table), size=num_samples)
        around = self.neighbours_[rows]
        chosen = around[np.arange(num_samples), rng.integers(around.shape[1], size=num_samples)]
        share = rng.random(num_samples)
        codes = [_vote(column[around], rng) for column in table.codes.T]
        numbers = [
            rounded(_between(column[rows], column[chosen], share), decimals)
            for column, decimals in zip(table.numbers.T, self.decimals_, strict=True)
        ]
        return table_like(table, codes, numbers, num_samples)


def _places(table: EncodedTable) -> np.ndarray:
    """Points whose distances are those of the records."""
    parts = []
    for codes in table.codes.T:
        # Two rows of this block that differ lie at distance one.
        _, position = np.unique(codes, return_inverse=True)
        block = np.zeros((len(table), position.max() + 1), dtype=np.float64)
        block[np.arange(len(table)), position] = np.sqrt(0.5)
        parts.append(block)
    for values in table.numbers.T:
        missing = np.isnan(values)
        known = values[~missing]
        spread = np.std(known) if len(known) else 0.0
        if spread > 0:
            scaled = np.where(missing, 0.0, (values - np.mean(known)) / spread)
            parts.append(np.clip(scaled, -FARTHEST, FARTHEST)[:, None])
        if missing.any() and len(known):
            parts.append(missing[:, None].astype(np.float64))
    return np.concatenate(parts, axis=1) if parts else np.zeros((len(table), 1))


def _neighbours(points: np.ndarray, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of the nearest other points; which of several equally near is left to chance.

    Distances are compared on a grid, and every candidate has a place of its own between the
    points of the grid, so that the outcome does not hang on the last bit of a product.
    """
    rows = len(points)
    if rows == 1:
        return np.zeros((1, 1), dtype=np.intp)
    pool = rng.permutation(rows)[:LARGEST_SEARCH]
    size, count = len(pool), min(wanted, len(pool) - 1)
    padding = -size % GROUP
    squares = np.sum(points**2, axis=1)
    # The finest grid on which every key below is a whole number that float64 holds exactly.
    grid = 2.0 ** np.floor(52 - np.log2(size * (1 + 4 * squares.max())))
    candidates = np.pad(points[pool].T * (-2 * grid), ((0, 0), (0, padding)))
    offset = np.append(grid * squares[pool], np.full(padding, np.inf))
    place_in_pool = np.full(rows, -1.0)
    place_in_pool[pool] = np.arange(size)
    found = np.empty((rows, count), dtype=np.intp)
    step = max(1, LARGEST_BLOCK // size)
    for start in range(0, rows, step):
        block = slice(start, start + step)
        keys = points[block] @ candidates
        keys += offset
        np.rint(keys, out=keys)
        keys *= size
        keys += np.arange(size + padding)
        nearest = np.mod(_smallest(keys, count + 1), size)
        # A record is no neighbour of itself; where copies crowd it out, the farthest is dropped.
        itself = nearest == place_in_pool[block, None]
        itself[~itself.any(axis=1), -1] = True
        found[block] = pool[nearest[~itself].astype(np.intp)].reshape(-1, count)
    return found


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """The `count` smallest numbers of each row, in order.

    They lie in the `count` groups with the smallest minima: finding those first spares most of
    the sorting.
    """
    grouped = keys.reshape(len(keys), GROUP, -1)
    minima = grouped.min(axis=1)
    if count < minima.shape[1]:
        groups = np.argpartition(minima, count, axis=1)[:, :count]
        grouped = np.take_along_axis(grouped, groups[:, None, :], axis=2)
    few = grouped.reshape(len(keys), -1)
    return np.sort(np.partition(few, count - 1, axis=1)[:, :count], axis=1)


def _between(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    low, high = np.minimum(first, second), np.maximum(first, second)
    mixed = np.clip(first + share * (second - first), low, high)
    return np.where(np.isnan(second), first, mixed)


def _vote(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Most frequent code in each row; among equals the one met first in a random turn."""
    width = codes.shape[1]
    order = (np.arange(width) + rng.integers(width, size=len(codes))[:, None]) % width
    turned = np.take_along_axis(codes, order, axis=1)
    votes = (turned[:, :, None] == turned[:, None, :]).sum(axis=2)
    return np.take_along_axis(turned, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
