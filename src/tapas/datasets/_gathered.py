"""Rows that are named but not copied yet: drawing, planting and sampling cost one copy together."""

from dataclasses import dataclass

import numpy as np

from tapas.datasets._encoding import EncodedTable, Labels, taken_labels


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rows by position of a table, followed by those of another where there is one.

    Attributes
    ----------
    base : EncodedTable
    more : EncodedTable or None
    rows : ndarray
    labels : Labels
        Those of the rows, whatever the tables call them.
    as_in_base : bool
        Whether rows, all of the first table, have their labels there instead.
    """

    base: EncodedTable
    more: EncodedTable | None
    rows: np.ndarray
    labels: Labels = None
    as_in_base: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes that the values will take once they are copied."""
        codes, numbers = self.base.codes, self.base.numbers
        widest = codes.dtype if self.more is None else np.result_type(codes, self.more.codes)
        row = widest.itemsize * codes.shape[1] + numbers.itemsize * numbers.shape[1]
        return len(self) * row

    def take(self, where: np.ndarray, *, reset_index: bool = False) -> "Gathered":
        """Some of these rows."""
        rows = self.rows[where]
        if reset_index or self.as_in_base:
            return Gathered(self.base, self.more, rows, as_in_base=not reset_index)
        labels = taken_labels(self.labels, where, len(self))
        return Gathered(self.base, self.more, rows, labels)

    def splice(self, other: EncodedTable, where: np.ndarray) -> "Gathered":
        """Some of these rows and, beyond them, of another table, labelled 0, 1, ..."""
        if self.more is not None:
            return Gathered(self.table(), other, where)
        others = np.arange(len(self.base), len(self.base) + len(other))
        return Gathered(self.base, other, np.concatenate([self.rows, others])[where])

    @property
    def is_blank(self) -> bool:
        """Whether every value is missing; rows are copied only where the first one's are."""
        first, table = self.rows[:1], self.base
        if self.more is not None and (first >= len(table)).all():
            first, table = first - len(table), self.more
        return table.take(first, reset_index=True).is_blank and self.table().is_blank

    def table(self) -> EncodedTable:
        """The rows themselves."""
        if self.more is None:
            found = self.base.take(self.rows, reset_index=not self.as_in_base)
        else:
            found = self.base.splice(self.more, self.rows)
        return found if self.labels is None else found.with_index(self.labels)
