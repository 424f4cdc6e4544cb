"""The score of every record of a table, by weights that a few targets have chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from tapas.attacks.features._agreements import count_ones
from tapas.attacks.features._subset_counts import SubsetPlan, column_conditions, plan_subsets
from tapas.datasets import EncodedTable, TabularDataset
from tapas.game import Briefing, Release, ValueObserver

__all__ = ["EveryRecord"]

LARGEST_TABLE = 1 << 22  # cells
_PAIR = 2
_Weighted = list[tuple[tuple[int, ...], float]]  # a condition on each column, and a weight


@dataclass(frozen=True, eq=False)
class _Cells:
    """The different values that records have in one column, or in two.

    Attributes
    ----------
    columns : tuple of int
    first : ndarray
        A record with each of the values.
    values : list of ndarray
        Which of its column's values that record has, for each column.
    which : ndarray
        The value of each record.
    subsets : list
        What is asked about these columns.
    """

    columns: tuple[int, ...]
    first: np.ndarray
    values: list[np.ndarray]
    which: np.ndarray
    subsets: _Weighted


@dataclass(frozen=True, eq=False)
class _Axis:
    """A column of a release, for tables that count its records.

    Attributes
    ----------
    rows : ndarray
        Where each released record stands.
    size : int
        How many places there are.
    is_summed : bool
        Whether tables hold sums over all places before.
    corners : list of list
        For each condition the places whose counts, with these signs, are those of each value.
    """

    rows: np.ndarray
    size: int
    is_summed: bool
    corners: list[list[tuple[int, np.ndarray]]]


@dataclass(frozen=True, eq=False)
class EveryRecord(ValueObserver):
    """Scores all records of a table by counts of the released records that agree with them.

    Each combination of values is counted once, however many records share it.

    Attributes
    ----------
    records : TabularDataset
    weights : ndarray
        One per subset of one and two columns, in the order of the plan.
    number : int
        At most so many subsets.
    """

    records: TabularDataset
    weights: np.ndarray
    number: int

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """One row: the score of each record."""
        found = np.zeros(len(self.records))
        logs = np.log(np.arange(len(release.table) + 1) + 0.5)
        axes = [self._axis(release.table.table, place) for place in range(len(self._values))]
        for cells in self._cells:
            said = np.zeros(len(cells.first))
            counts = self._counts(release.table, cells, [axes[c] for c in cells.columns])
            for (_, weight), count in zip(cells.subsets, counts, strict=True):
                said += weight * logs[count]
            found += said[cells.which]
        return found[None].astype(np.float32)

    @property
    def work(self) -> int:
        """How many counts a release takes."""
        return sum(len(cells.first) * len(cells.subsets) for cells in self._cells)

    # -- counting ----------------------------------------------------------------------------

    def _counts(
        self, released: TabularDataset, cells: _Cells, axes: Sequence[_Axis]
    ) -> list[np.ndarray]:
        """How many released records meet each condition of each cell."""
        shape = [axis.size + axis.is_summed for axis in axes]
        if prod(shape) > LARGEST_TABLE:
            return self._by_bits(released, cells)
        table = _table(axes)
        strides = [prod(shape[place + 1 :]) for place in range(len(shape))]
        corners = [
            [[(sign, stride * place[value]) for sign, place in each] for each in axis.corners]
            for axis, stride, value in zip(axes, strides, cells.values, strict=True)
        ]
        return [_looked_up(table, corners, sides) for sides, _ in cells.subsets]

    def _by_bits(self, released: TabularDataset, cells: _Cells) -> list[np.ndarray]:
        """The same where a table of all combinations would be too large."""
        records = self.records.take(cells.first)
        bits = [column_conditions(released, records, column) for column in cells.columns]
        return [
            count_ones(np.bitwise_and.reduce([bits[n][side] for n, side in enumerate(sides)]))
            for sides, _ in cells.subsets
        ]

    def _axis(self, released: EncodedTable, place: int) -> _Axis:
        column = released.columns[place]
        mine = self._distinct[place]
        theirs = released.column(column.name)
        if column.is_coded:
            size = len(column.values or ()) + 1  # -1, missing, is the last
            rows, places = (codes.astype(np.intp) % size for codes in (theirs, mine))
            return _Axis(rows, size, False, [[(1, places)]])
        known = np.unique(theirs[~np.isnan(theirs)])
        size = len(known) + 1  # missing is the last
        missing = np.isnan(mine)
        low = np.where(missing, len(known), np.searchsorted(known, mine))
        high = np.where(missing, size, np.searchsorted(known, mine, "right"))
        least, most = np.where(missing, len(known), 0), np.where(missing, size, len(known))
        ranges = ((high, least), (most, low), (high, low))  # at most, at least, equal
        corners = [[(1, end), *([(-1, begin)] if begin.any() else [])] for end, begin in ranges]
        rows = np.where(np.isnan(theirs), len(known), np.searchsorted(known, theirs))
        return _Axis(rows, size, True, corners)

    # -- what is the same in every release ----------------------------------------------------

    @cached_property
    def _plan(self) -> SubsetPlan:
        return plan_subsets(self.records, None, self.number, _PAIR)

    @cached_property
    def _values(self) -> list[np.ndarray]:
        """Which of its column's values each record has."""
        return [np.unique(column, return_inverse=True)[1] for column in self._columns()]

    @cached_property
    def _distinct(self) -> list[np.ndarray]:
        """These values."""
        return [np.unique(column) for column in self._columns()]

    def _columns(self) -> list[np.ndarray]:
        table = self.records.table
        return [table.column(column.name) for column in table.columns]

    @cached_property
    def _cells(self) -> list[_Cells]:
        found = []
        for columns, subsets in self._by_columns().items():
            value = self._values[columns[0]]
            for other in columns[1:]:
                value = value * (int(self._values[other].max(initial=0)) + 1) + self._values[other]
            _, first, which = np.unique(value, return_index=True, return_inverse=True)
            values = [self._values[column][first] for column in columns]
            found.append(_Cells(columns, first, values, which, subsets))
        return found

    def _by_columns(self) -> dict[tuple[int, ...], _Weighted]:
        """Conditions and weight of every subset, by its columns."""
        column_of = np.repeat(np.arange(len(self._plan.sides)), self._plan.sides)
        begins = np.cumsum((0, *self._plan.sides))
        found: dict[tuple[int, ...], _Weighted] = {}
        every = (one for some in self._plan.by_order for one in some)
        for subset, weight in zip(every, self.weights.tolist(), strict=True):
            columns = column_of[subset]
            sides = tuple((subset - begins[columns]).tolist())
            found.setdefault(tuple(columns.tolist()), []).append((sides, weight))
        return found


def _table(axes: Sequence[_Axis]) -> np.ndarray:
    """How many released records stand at each combination of places, summed where axes are."""
    place = axes[0].rows
    for axis in axes[1:]:
        place = place * axis.size + axis.rows
    shape = [axis.size for axis in axes]
    found = np.bincount(place, minlength=prod(shape)).reshape(shape).astype(np.int32)
    for number, axis in enumerate(axes):
        if axis.is_summed:
            shape[number] += 1
            summed = np.zeros(shape, dtype=np.int32)
            after = (slice(None),) * number + (slice(1, None),)
            np.cumsum(found, axis=number, dtype=np.int32, out=summed[after])
            found = summed
    return found.ravel()


def _looked_up(
    table: np.ndarray,
    corners: Sequence[Sequence[Sequence[tuple[int, np.ndarray]]]],
    sides: Sequence[int],
) -> np.ndarray:
    """Counts between the corners of the ranges that conditions are."""
    first = corners[0][sides[0]]
    if len(corners) == 1:
        return sum(sign * table[place] for sign, place in first)
    second = corners[1][sides[1]]
    return sum(s * t * table[one + other] for s, one in first for t, other in second)
