"""Ranks of scores within columns; equal scores share the mean of their ranks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranking", "midranks", "rankings"]

_AT_ONCE = 256  # columns whose ranks fit into a cache


@dataclass(frozen=True, eq=False)
class Ranking:
    """Some columns of scores, one in each row and from the lowest score to the highest.

    Attributes
    ----------
    columns : slice
        Which they are.
    order : ndarray of int, (columns, trials)
        Trials by ascending score.
    first, last : ndarray of int, (columns, trials)
        Between which places their equals stand.
    unknown : ndarray of bool, (columns,)
        Whether a score is missing, so that nothing is known of ranks.
    """

    columns: slice
    order: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    unknown: NDArray[np.bool_]

    @property
    def ranks(self) -> NDArray[np.float64]:
        """Ranks from 1, in ascending order."""
        found = (self.first + self.last) / 2 + 1
        found[self.unknown] = np.nan
        return found

    def arranged(self, values: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The columns of other values, (trials, all columns), in the same order."""
        return np.take_along_axis(values[:, self.columns].T, self.order, axis=1)


def rankings(scores: NDArray[np.generic]) -> Iterator[Ranking]:
    """Rank the columns of scores, (trials, columns), some at a time."""
    trials, columns = scores.shape
    places = np.arange(trials)
    for start in range(0, columns, _AT_ONCE):
        some = slice(start, min(start + _AT_ONCE, columns))
        rows = np.ascontiguousarray(scores[:, some].T)
        order = np.argsort(rows, axis=1)
        ordered = np.take_along_axis(rows, order, axis=1)
        differs = ordered[:, 1:] != ordered[:, :-1]
        first = np.zeros(rows.shape, dtype=np.intp)
        first[:, 1:] = np.maximum.accumulate(np.where(differs, places[1:], 0), axis=1)
        last = np.full(rows.shape, trials - 1)
        ends = np.where(differs, places[:-1], trials - 1)[:, ::-1]
        last[:, :-1] = np.minimum.accumulate(ends, axis=1)[:, ::-1]
        unknown = (ordered[:, -1:] != ordered[:, -1:]).any(axis=1)
        yield Ranking(some, order, first, last, unknown)


def midranks(scores: NDArray[np.generic]) -> NDArray[np.float64]:
    """Rank of each score in its column, from 1; NaN throughout where a score is missing."""
    found = np.empty(scores.shape)
    for ranking in rankings(scores):
        rows = np.empty(ranking.order.shape)
        np.put_along_axis(rows, ranking.order, ranking.ranks, axis=1)
        found[:, ranking.columns] = rows.T
    return found
