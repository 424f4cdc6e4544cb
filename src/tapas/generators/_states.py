"""Every column as a few numbered states: categories, bins of numbers, and missing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas.datasets import Column, EncodedTable
from tapas.generators._discretise import Bins
from tapas.generators._table_generator import table_like


@dataclass(frozen=True, eq=False)
class ColumnStates:
    """The states of one column.

    Attributes
    ----------
    column : Column
    levels : ndarray of int
        The code or bin that each state stands for, in increasing order; -1 is missing. Only
        what occurs in the data has a state.
    bins : Bins or None
        For a number column.
    """

    column: Column
    levels: np.ndarray
    bins: Bins | None = None

    def __len__(self) -> int:
        return len(self.levels)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """The state of each code or number; -1 where it has none."""
        codes = values if self.bins is None else self.bins.encode(values)
        found = np.minimum(np.searchsorted(self.levels, codes), max(0, len(self.levels) - 1))
        return np.where(self.levels[found] == codes, found, -1) if len(self.levels) else found - 1

    def decode(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Codes, or numbers drawn within their bins."""
        codes = self.levels[states]
        return codes if self.bins is None else self.bins.draw(codes, rng)


def to_states(table: EncodedTable, num_bins: int) -> tuple[list[ColumnStates], list[np.ndarray]]:
    """For each column in schema order its states, and the state of every row."""
    spaces, states = [], []
    for column in table.columns:
        codes, bins = table.column(column.name).astype(np.float64), None
        if not column.is_coded:
            whole = column.kind in ("integer", "date")
            bins = Bins.from_data(codes, num_bins, whole=whole)
            codes = bins.encode(codes)
        codes = codes.astype(np.int64)
        occurs = np.bincount(codes + 1) > 0
        levels = np.flatnonzero(occurs) - 1
        spaces.append(ColumnStates(column, levels, bins))
        states.append((np.cumsum(occurs) - 1)[codes + 1])
    return spaces, states


def from_columns(
    schema: EncodedTable, values: Sequence[np.ndarray], num_samples: int
) -> EncodedTable:
    """A table from one array of codes or numbers for each column in schema order."""
    both = list(zip(schema.columns, values, strict=True))
    return table_like(
        schema,
        [array for column, array in both if column.is_coded],
        [array for column, array in both if not column.is_coded],
        num_samples,
    )


def joint_counts(first: np.ndarray, second: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Contingency table of two arrays of states."""
    return np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)


def association_order(
    states: np.ndarray, size: int, others: Sequence[np.ndarray], sizes: Sequence[int]
) -> np.ndarray:
    """Put the states of a column in the order that shows most of its ties to other columns.

    The order is that of the first axis of the correspondence analysis of the column's stacked
    contingency tables; without ties, the states are ordered by frequency.
    """
    share = np.bincount(states, minlength=size) / len(states)
    gram = np.zeros((size, size))
    for other, width in zip(others, sizes, strict=True):
        joint = joint_counts(states, other, (size, width)) / len(states)
        expected = np.outer(share, joint.sum(axis=0))
        scale = np.sqrt(np.where(expected > 0, expected, 1.0))
        residual = (joint - expected) / scale
        gram += residual @ residual.T
    if size < 3 or not np.any(gram > 1e-12):
        return np.argsort(-share, kind="stable")
    axis = np.linalg.eigh(gram)[1][:, -1]
    axis *= np.sign(axis[np.argmax(np.abs(axis))])
    return np.argsort(axis / np.sqrt(np.where(share > 0, share, 1.0)), kind="stable")
