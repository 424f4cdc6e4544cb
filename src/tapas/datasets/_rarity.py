"""How few records of a table share a value, and which columns say the same."""

import numpy as np

from tapas.datasets._encoding import EncodedTable
from tapas.datasets._nearest import agreeing_rows

__all__ = ["columns_alike", "count_holders"]

NEAR = 0.025  # either side: numbers within a twentieth of the range of their column


def count_holders(table: EncodedTable, records: EncodedTable) -> dict[str, list[int]]:
    """By column, how many rows of a table hold the value of each record.

    Numbers and dates are held by rows within 2.5 % of the range of their column.
    """
    each = [records.take([row]) for row in range(len(records))]
    return {
        column.name: [int(agreeing_rows(table, one, column, NEAR).sum()) for one in each]
        for column in table.columns
    }


def columns_alike(table: EncodedTable, name: str) -> list[str]:
    """Other columns whose values go with those of this one, one to one."""
    own = _ranks(table, name)
    found = []
    for column in table.columns:
        other = _ranks(table, column.name)
        if column.name != name and other.max(initial=0) == own.max(initial=0):
            pairs = np.unique(np.stack([own, other]), axis=1).shape[1]
            if pairs == len(np.unique(own)):
                found.append(column.name)
    return found


def _ranks(table: EncodedTable, name: str) -> np.ndarray:
    return np.unique(table.column(name), return_inverse=True)[1].reshape(-1)
