"""A table as a data frame, encoded, as numbers, or as rows that are only named: one at a time."""

import sys
from typing import Any, Self

import numpy as np
import pandas as pd

from tapas.datasets._description import DataDescription
from tapas.datasets._encoding import EncodedTable, encode_frame, numeric_matrix
from tapas.datasets._frames import frame_in_schema_order
from tapas.datasets._gathered import Gathered


class TableForms:
    """Values of a table; they change form when somebody asks for another one."""

    description: DataDescription
    _frame: pd.DataFrame | None
    _handed_out: bool
    _table: EncodedTable | None
    _gathered: Gathered | None
    _numeric: np.ndarray | None

    @property
    def data(self) -> pd.DataFrame:
        """The values as a data frame."""
        if self._frame is None:
            self._frame = self.table.to_frame()
        self._handed_out, self._table, self._numeric = True, None, None
        return self._frame

    @data.setter
    def data(self, frame: pd.DataFrame) -> None:
        self._frame, self._handed_out = frame, True
        self._table, self._gathered, self._numeric = None, None, None

    @property
    def table(self) -> EncodedTable:
        """The encoded values."""
        if self._table is not None:
            return self._table
        if self._gathered is not None:
            self._rebind(self._gathered.table())
            return self.table
        frame: pd.DataFrame = self._frame
        table = encode_frame(
            frame_in_schema_order(frame, self.description), self.description.parsed
        )
        # While somebody else holds the frame it may still change, so it stays the truth.
        # Two references are ours: the attribute and the local name; one is the call's.
        if not self._handed_out or sys.getrefcount(frame) <= 3:
            self._table, self._frame, self._handed_out = table, None, False
        return table

    @property
    def as_numeric(self) -> np.ndarray:
        """Float matrix, ``len(self)`` x ``description.encoded_dim``, in schema order.

        Categories are one-hot, ordered categories their rank, dates days and datetimes seconds
        since the epoch. A missing number is NaN, a missing category has no 1 in its block.
        """
        return self.numeric().copy()

    def numeric(self) -> np.ndarray:
        """Like `as_numeric` but shared and cached: do not write to it."""
        table = self.table
        if self._table is not table:
            return numeric_matrix(table)
        if self._numeric is None:
            self._numeric = numeric_matrix(table)
            self._numeric.setflags(write=False)
        return self._numeric

    @property
    def is_blank(self) -> bool:
        """Whether every value is missing; rows that are only named stay so."""
        return (self.table if self._gathered is None else self._gathered).is_blank

    @property
    def only_named(self) -> bool:
        """Whether the rows are named but not copied yet; a copy leaves them so."""
        return self._gathered is not None

    @property
    def nbytes(self) -> int:
        """Bytes of the encoded values, copied yet or not."""
        return (self.table if self._gathered is None else self._gathered).nbytes

    def __len__(self) -> int:
        if self._frame is not None:
            return len(self._frame)
        return len(self.table if self._gathered is None else self._gathered)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if self._handed_out:
            # The twin must not follow in-place changes made through the original's frame.
            twin._frame, twin._table, twin._handed_out = None, self.table, False
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        table = self.table
        state = self.__dict__.copy()
        state.update(_table=table, _frame=None, _handed_out=False, _numeric=None)
        return state

    def _rebind(self, table: EncodedTable) -> None:
        self._table, self._gathered, self._frame = table, None, None
        self._handed_out, self._numeric = False, None
