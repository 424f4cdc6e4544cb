"""Columns of numbers on one scale, and fewer of them where there are many.

Few rows or columns are worked on at a time: a second copy of a set of images would weigh.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

MOST_PROJECTED = 600
COLUMNS_AT_ONCE = 64
ROWS_AT_ONCE, NUMBERS_AT_ONCE = 1_024, 2**20
LEAST_SPREAD = 1e-9  # of a column, by its largest number: less is rounding


@dataclass(frozen=True, eq=False)
class Standardised:
    """Numbers less the mean of their column, by its spread.

    Attributes
    ----------
    parts : sequence of ndarray (n, d)
        The numbers as they are, one part after the other.
    mean, spread : ndarray (d,)
    """

    parts: Sequence[np.ndarray]
    mean: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, parts: Sequence[np.ndarray]) -> "Standardised":
        """Learn means and spreads."""
        width = parts[0].shape[1]
        mean, spread = np.zeros(width), np.ones(width)
        for start in range(0, width, COLUMNS_AT_ONCE):
            some = slice(start, start + COLUMNS_AT_ONCE)
            columns = np.concatenate([part[:, some].astype(np.float64) for part in parts])
            mean[some], least = columns.mean(axis=0), LEAST_SPREAD * np.abs(columns).max(axis=0)
            spread[some] = np.maximum(columns.std(axis=0), np.where(least > 0, least, 1.0))
        return cls(parts, mean, spread)

    def blocks(self) -> Iterator[np.ndarray]:
        """Standardised rows, some at a time."""
        rows = min(ROWS_AT_ONCE, max(1, NUMBERS_AT_ONCE // max(1, len(self.mean))))
        for part in self.parts:
            for start in range(0, len(part), rows):
                block = part[start : start + rows] - self.mean
                block /= self.spread
                yield block

    def whole(self) -> np.ndarray:
        """All standardised rows."""
        return np.concatenate(list(self.blocks()))

    def reduced(self, places: int) -> np.ndarray:
        """Principal components; of very many columns, of a random projection of them."""
        width = len(self.mean)
        if width <= MOST_PROJECTED:
            directions = _principal(self.blocks(), places)
        else:
            same = np.random.default_rng(0)  # for all games: nothing hangs on it
            onto = same.normal(size=(width, MOST_PROJECTED))
            directions = onto @ _principal((block @ onto for block in self.blocks()), places)
        return np.concatenate([block @ directions for block in self.blocks()])


def _principal(blocks: Iterable[np.ndarray], places: int) -> np.ndarray:
    """The directions in which rows vary most."""
    _, directions = np.linalg.eigh(sum(block.T @ block for block in blocks))
    return directions[:, -places:]
