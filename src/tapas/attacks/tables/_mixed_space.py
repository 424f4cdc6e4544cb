"""A distance that fits columns of every kind, and a fast search of the nearest rows by it."""

from dataclasses import dataclass

import numpy as np

from tapas.attacks.tables._numeric_parts import NumericParts, differing_columns
from tapas.datasets import TabularDataset

PAIRS_AT_ONCE = 1 << 18
FURTHEST = 30.0  # standard deviations that the search tells apart: single precision does


@dataclass(frozen=True, eq=False)
class MixedSpace:
    """Squared distance: the number of columns that differ, plus the squares of standardised gaps.

    Gaps are those of numbers and ranks; a missing one stands at the mean of its column.

    Attributes
    ----------
    centres, units : ndarray
        Mean and standard deviation of each number or ordered column.
    exact : bool
        Whether numbers and ranks that are not equal count as columns that differ.
    """

    centres: np.ndarray
    units: np.ndarray
    exact: bool = True

    @classmethod
    def of(cls, scale: TabularDataset, *, exact: bool = True) -> "MixedSpace":
        """The space in which numbers have the units of a table."""
        parts = NumericParts.of(scale)
        centres = parts.means()
        gaps = parts.numbers - centres[:, None]
        spreads = np.sqrt(np.nan_to_num(gaps**2).sum(1) / np.maximum(1, (~np.isnan(gaps)).sum(1)))
        return cls(centres, np.where(spreads > 0, spreads, 1.0), exact)

    def distances(self, records: TabularDataset, data: TabularDataset) -> np.ndarray:
        """From every record to every row of the data."""
        mine, theirs = self._points(records, data)
        squares = differing_columns(mine.codes, theirs.codes).astype(float)
        for x, y in zip(mine.numbers, theirs.numbers, strict=True):
            squares += (x[:, None] - y) ** 2
        return np.sqrt(squares)

    def nearest(
        self, records: TabularDataset, data: TabularDataset, number: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances and positions of the nearest rows of the data, nearest first."""
        mine, theirs = self._points(records, data)
        left, right = mine.clipped(), theirs.clipped()
        # |x - y|^2 / 2 is least where x y - |y|^2 / 2 is largest.
        right = np.concatenate([right, -(right**2).sum(axis=0, keepdims=True) / 2])
        left = np.concatenate([left, np.ones((1, left.shape[1]), dtype=np.float32)])
        number = min(number, len(data))
        found = np.empty((len(records), number), dtype=int)
        step = max(1, PAIRS_AT_ONCE // max(1, len(data)))
        for start in range(0, len(records), step):
            some = slice(start, start + step)
            alike = left[:, some].T @ right
            alike -= np.float32(0.5) * differing_columns(mine.codes[:, some], theirs.codes)
            found[some] = _largest(alike, number)
        distances = np.stack([mine.distances(theirs, rows) for rows in found.T], axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(distances, order, 1), np.take_along_axis(found, order, 1)

    def _points(self, records: TabularDataset, data: TabularDataset) -> tuple["_Points", "_Points"]:
        both = NumericParts.of(records), NumericParts.of(data)
        codes = _shared_codes(*both, exact=self.exact)
        mine, theirs = (
            _Points(
                np.nan_to_num((part.numbers - self.centres[:, None]) / self.units[:, None]), own
            )
            for part, own in zip(both, codes, strict=True)
        )
        return mine, theirs


@dataclass(frozen=True, eq=False)
class _Points:
    """Rows in a space: numbers in its units, and a code for each value, columns first."""

    numbers: np.ndarray
    codes: np.ndarray

    def clipped(self) -> np.ndarray:
        return np.clip(self.numbers, -FURTHEST, FURTHEST).astype(np.float32)

    def distances(self, others: "_Points", rows: np.ndarray) -> np.ndarray:
        """From each point to one of the others."""
        squares = ((self.numbers - others.numbers[:, rows]) ** 2).sum(axis=0)
        return np.sqrt(squares + (self.codes != others.codes[:, rows]).sum(axis=0))


def _shared_codes(
    left: NumericParts, right: NumericParts, *, exact: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Small integers, equal where values are; missing equals missing."""
    pairs = list(zip(left.categories, right.categories, strict=True))
    if exact:
        pairs += zip(left.numbers, right.numbers, strict=True)
    columns = [np.unique(np.concatenate(pair), return_inverse=True)[1] for pair in pairs]
    rows, others = left.numbers.shape[1], right.numbers.shape[1]
    whole = np.array(columns, dtype=int).reshape(len(pairs), rows + others)
    whole = whole.astype(np.min_scalar_type(int(whole.max(initial=0))))
    return np.ascontiguousarray(whole[:, :rows]), np.ascontiguousarray(whole[:, rows:])


def _largest(values: np.ndarray, number: int) -> np.ndarray:
    """Positions of the few largest of each row, largest first; the values are used up."""
    found = np.empty((len(values), number), dtype=int)
    rows = np.arange(len(values))
    for place in range(number):
        found[:, place] = values.argmax(axis=1)
        values[rows, found[:, place]] = -np.inf
    return found
