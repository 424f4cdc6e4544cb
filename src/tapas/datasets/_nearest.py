"""The record of a table that is most like another one."""

from collections.abc import Sequence

import numpy as np

from tapas.datasets._columns import Column
from tapas.datasets._encoding import EncodedTable

__all__ = ["agreed_words", "agreeing_rows", "nearest_row"]

CLOSE = 0.01  # numbers agree that differ by at most this share of the range of their column


def nearest_row(table: EncodedTable, record: EncodedTable) -> tuple[int, tuple[str, ...]]:
    """Position of the row that agrees with one record in most columns, and those columns.

    Numbers and dates agree where they differ by at most 1 % of the range of their column. Of rows
    that agree equally, one with fewer exact differences is taken, then the first. Columns come in
    the order in which few rows agree on them: the first tells most.
    """
    agrees = np.stack([agreeing_rows(table, record, column) for column in table.columns])
    exact = -table.count_differences(record)[0]
    row = int(np.lexsort((-np.arange(len(table)), exact, agrees.sum(axis=0)))[-1])
    names = np.array([column.name for column in table.columns], dtype=object)
    rarest = np.argsort(agrees.sum(axis=1), kind="stable")
    return row, tuple(names[rarest[agrees[rarest, row]]])


def agreed_words(
    table: EncodedTable, row: int, record: EncodedTable, columns: Sequence[str]
) -> str:
    """The columns that `nearest_row` gave, as people read them."""
    if len(columns) < len(table.columns):
        return ", ".join(columns) or "nothing"
    equal = table.take([row]).count_differences(record)[0][0] == 0
    return "all columns" if equal else "all columns, numbers nearly"


def agreeing_rows(
    table: EncodedTable, record: EncodedTable, column: Column, close: float = CLOSE
) -> np.ndarray:
    """Which rows agree with one record in a column, numbers to a share of its range."""
    name = column.name
    if column.is_coded:
        return table.select([name]).count_differences(record.select([name]))[0] == 0
    values, value = table.column(name), record.column(name)[0]
    known = values[~np.isnan(values)]
    reach = close * float(np.ptp(known)) if len(known) else 0.0
    return (np.abs(values - value) <= reach) | (np.isnan(values) & np.isnan(value))
