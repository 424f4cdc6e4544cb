"""The compact form of a table: small integer codes for categories, float64 for numbers.

A table is encoded once; subsets are index gathers. Arrays are never changed after they are made,
so tables can share them freely.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets._columns import MISSING_CODE, OTHER, Column, canonical
from tapas.errors import ConfigError, SchemaError

Vocabularies = tuple[np.ndarray | None, ...]
Labels: TypeAlias = pd.Index | np.ndarray | None


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Codes and numbers of every row, with the row labels.

    Attributes
    ----------
    columns : tuple of Column
        All columns in schema order.
    codes : ndarray of small integers, (rows, coded columns)
        Position in the column's categories; -1 is missing.
    numbers : ndarray of float64, (rows, number columns)
        NaN is missing.
    vocabularies : tuple
        For each coded column the values that codes stand for where the schema does not list
        them (strings), else None.
    labels : pandas.Index or ndarray, optional
        Row labels; None is 0, 1, ...
    """

    columns: tuple[Column, ...]
    codes: np.ndarray
    numbers: np.ndarray
    vocabularies: Vocabularies
    labels: Labels = None

    @cached_property
    def index(self) -> pd.Index:
        """Row labels; made when asked for, which trials never do."""
        return pd.RangeIndex(len(self)) if self.labels is None else pd.Index(self.labels)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return int(self.codes.nbytes + self.numbers.nbytes)

    @property
    def is_blank(self) -> bool:
        """Whether every value is missing."""
        return not ((self.codes != MISSING_CODE).any() or (~np.isnan(self.numbers)).any())

    def digest(self) -> str:
        """Digest of the columns and values; row labels do not count."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        content = hashlib.blake2b(digest_size=16)
        words = [None if v is None else list(v) for v in self.vocabularies]
        content.update(repr((self.columns, words)).encode())
        content.update(np.ascontiguousarray(self.codes, dtype=np.int64).tobytes())
        content.update(np.ascontiguousarray(self.numbers).tobytes())
        return content.hexdigest()

    def coded_columns(self) -> list[Column]:
        """Columns held in `codes`, in order."""
        return [column for column in self.columns if column.is_coded]

    def num_categories(self) -> list[int]:
        """How many categories the codes of each coded column can stand for."""
        sizes = []
        for column, words in zip(self.coded_columns(), self.vocabularies, strict=True):
            categories = column.values if column.values is not None else words
            sizes.append(0 if categories is None else len(categories))
        return sizes

    def number_columns(self) -> list[Column]:
        """Columns held in `numbers`, in order."""
        return [column for column in self.columns if not column.is_coded]

    def take(
        self, rows: np.ndarray | Sequence[int], *, reset_index: bool = False
    ) -> "EncodedTable":
        """Gather rows by position; label them 0, 1, ... or as they were."""
        where = np.asarray(rows, dtype=np.intp)
        labels = None if reset_index else taken_labels(self.labels, where, len(self))
        return self._with_rows(
            self.codes.take(where, axis=0), self.numbers.take(where, axis=0), labels
        )

    def splice(self, other: "EncodedTable", rows: np.ndarray) -> "EncodedTable":
        """Gather from this table followed by `other`, labelled 0, 1, ..."""
        if not _share_vocabularies(self, other) or self.codes.dtype != other.codes.dtype:
            return self.concat(other).take(rows, reset_index=True)
        foreign = np.flatnonzero(rows >= len(self))
        if len(foreign) == 0:
            return self.take(rows, reset_index=True)
        if len(foreign) == len(rows):
            return other.take(rows - len(self), reset_index=True)
        spliced = self.take(np.where(rows < len(self), rows, 0), reset_index=True)
        spliced.codes[foreign] = other.codes[rows[foreign] - len(self)]
        spliced.numbers[foreign] = other.numbers[rows[foreign] - len(self)]
        return spliced

    def with_index(self, index: Labels = None) -> "EncodedTable":
        """Same rows under other labels (0, 1, ... by default)."""
        return self._with_rows(self.codes, self.numbers, index)

    def _with_rows(self, codes: np.ndarray, numbers: np.ndarray, labels: Labels) -> "EncodedTable":
        return EncodedTable(self.columns, codes, numbers, self.vocabularies, labels)

    def concat(self, *others: "EncodedTable") -> "EncodedTable":
        """Rows of this table followed by those of the others."""
        tables = [self]
        for other in others:
            tables.append(_with_vocabularies_of(tables[-1], other))
        dtype = np.result_type(*(table.codes.dtype for table in tables))
        return replace(
            self,
            codes=np.concatenate([table.codes.astype(dtype, copy=False) for table in tables]),
            numbers=np.concatenate([table.numbers for table in tables]),
            vocabularies=tables[-1].vocabularies,
            labels=self.index.append([table.index for table in others]) if others else self.labels,
        )

    def with_value(self, name: str, value: object) -> "EncodedTable":
        """Every row with `value` in the column called `name`."""
        column, position = self._locate(name)
        encoded, vocabulary = column.encode(pd.Series([value] * len(self)))
        if not column.is_coded:
            numbers = self.numbers.copy()
            numbers[:, position] = encoded
            return replace(self, numbers=numbers)
        if vocabulary is not None:
            own = self.vocabularies[position]
            merged = _merged_vocabulary(own if own is not None else np.empty(0, object), vocabulary)
            encoded = _recode(encoded, vocabulary, merged)
            vocabularies = list(self.vocabularies)
            vocabularies[position] = merged
            table = replace(self, vocabularies=tuple(vocabularies))
        else:
            table = self
        codes = table.codes.astype(np.result_type(table.codes.dtype, smallest_integer(encoded)))
        codes[:, position] = encoded
        return replace(table, codes=codes)

    def column(self, name: str) -> np.ndarray:
        """Codes or numbers of one column."""
        column, position = self._locate(name)
        return self.codes[:, position] if column.is_coded else self.numbers[:, position]

    def select(self, names: Sequence[str]) -> "EncodedTable":
        """Keep the named columns, in schema order."""
        wanted = set(names)
        keep = tuple(column for column in self.columns if column.name in wanted)
        coded = [i for i, c in enumerate(self.coded_columns()) if c.name in wanted]
        number = [i for i, c in enumerate(self.number_columns()) if c.name in wanted]
        return replace(
            self,
            columns=keep,
            codes=self.codes[:, coded],
            numbers=self.numbers[:, number],
            vocabularies=tuple(self.vocabularies[i] for i in coded),
        )

    def matches(self, record: "EncodedTable") -> np.ndarray:
        """Which rows equal the one row of `record` (missing equals missing)."""
        codes = _codes_in_vocabularies_of(self, record)[0]
        rows = np.arange(len(self))
        for own, value in zip(
            (*self.codes.T, *self.numbers.T), (*codes, *record.numbers[0]), strict=True
        ):
            left = own[rows]
            rows = rows[(left == value) | ((left != left) & (value != value))]
        found = np.zeros(len(self), dtype=bool)
        found[rows] = True
        return found

    def same_values(self, other: "EncodedTable") -> bool:
        """Whether both tables hold the same rows in the same order (labels aside)."""
        return (
            len(self) == len(other)
            and self.columns == other.columns
            and np.array_equal(self.codes, _codes_in_vocabularies_of(self, other))
            and np.array_equal(self.numbers, other.numbers, equal_nan=True)
        )

    def count_differences(self, records: "EncodedTable") -> np.ndarray:
        """Number of differing columns, (len(records), len(self)); missing equals missing."""
        counts = np.zeros(
            (len(records), len(self)), dtype=np.min_scalar_type(max(1, len(self.columns)))
        )
        own, theirs = self.codes, _codes_in_vocabularies_of(self, records)
        for left, right in zip(_by_column(theirs), _by_column(own), strict=True):
            counts += (left[:, None] != right).view(np.uint8)
        for left, right in zip(_by_column(records.numbers), _by_column(self.numbers), strict=True):
            differ = left[:, None] != right
            missing = np.isnan(left)
            if missing.any():
                differ &= ~(missing[:, None] & np.isnan(right))
            counts += differ.view(np.uint8)
        return counts.astype(np.int32)

    def to_frame(self) -> pd.DataFrame:
        """Materialise the values as a data frame."""
        vocabularies = iter(self.vocabularies)
        codes = iter(self.codes.T)
        numbers = iter(self.numbers.T)
        values = {
            column.name: (
                column.decode(next(codes), next(vocabularies))
                if column.is_coded
                else column.decode(next(numbers))
            )
            for column in self.columns
        }
        frame = pd.DataFrame(values, columns=[column.name for column in self.columns])
        frame.index = self.index if len(self.columns) else pd.RangeIndex(0)
        return frame

    def _locate(self, name: str) -> tuple[Column, int]:
        coded = number = 0
        for column in self.columns:
            if column.name == name:
                return column, coded if column.is_coded else number
            coded, number = coded + column.is_coded, number + (not column.is_coded)
        raise SchemaError(
            f"there is no column {name!r}; the columns are "
            f"{listing(column.name for column in self.columns)}"
        )


def encode_frame(
    frame: pd.DataFrame, columns: tuple[Column, ...], *, unknown: str = "error"
) -> EncodedTable:
    """Validate a frame whose columns stand in schema order, and encode it."""
    if unknown not in ("error", OTHER):
        raise ConfigError(f"unknown must be 'error' or 'other', got {unknown!r}")
    codes, numbers, vocabularies = [], [], []
    for position, column in enumerate(columns):
        encoded, vocabulary = column.encode(frame.iloc[:, position], unknown=unknown)
        if column.is_coded:
            codes.append(encoded)
            vocabularies.append(vocabulary)
        else:
            numbers.append(encoded)
    return EncodedTable(
        columns=columns,
        codes=_stack_codes(codes, len(frame)),
        numbers=np.stack(numbers, axis=1) if numbers else np.empty((len(frame), 0)),
        vocabularies=tuple(vocabularies),
        labels=frame.index,
    )


def taken_labels(labels: Labels, rows: np.ndarray, number: int) -> Labels:
    """Labels of some of `number` rows; none were 0, 1, ..."""
    if labels is not None:
        return labels.take(rows)
    return np.where(rows < 0, rows + number, rows)


def numeric_matrix(table: EncodedTable) -> np.ndarray:
    """One float column per number or ordered column, one 0/1 column per category.

    A missing number or ordered category is NaN; a missing category has no 1 in its block.
    """
    widths = [numeric_width(column) for column in table.columns]
    matrix = np.zeros((len(table), sum(widths)))
    codes, numbers = iter(table.codes.T), iter(table.numbers.T)
    offset = 0
    for column, width in zip(table.columns, widths, strict=True):
        values = next(codes if column.is_coded else numbers)
        if column.is_one_hot:
            present = np.flatnonzero(values != MISSING_CODE)
            # Codes are held in few bits, in which a sum with the offset would not fit.
            matrix[present, offset + values[present].astype(np.intp)] = 1.0
        elif column.is_coded:
            matrix[:, offset] = np.where(values == MISSING_CODE, np.nan, values)
        else:
            matrix[:, offset] = values
        offset += width
    return matrix


def numeric_width(column: Column) -> int:
    """How many columns the numeric view spends on `column`."""
    if column.kind == "string" or (column.is_coded and column.values is None):
        raise SchemaError(
            f"column {column.name!r} holds free text or has no declared categories, and cannot be "
            f"turned into numbers. Leave it out (dataset.view(exclude_columns=[{column.name!r}])) "
            f"or declare it as 'finite' with its list of values."
        )
    return len(column.values) if column.is_one_hot and column.values is not None else 1


def smallest_integer(codes: np.ndarray) -> np.dtype:
    """The smallest signed integer type that holds all codes."""
    return np.min_scalar_type(-1 - int(codes.max(initial=0)))


def _stack_codes(codes: list[np.ndarray], rows: int) -> np.ndarray:
    if not codes:
        return np.empty((rows, 0), dtype=np.int8)
    dtype = np.result_type(*(smallest_integer(column) for column in codes))
    return np.stack([column.astype(dtype) for column in codes], axis=1)


def _by_column(matrix: np.ndarray) -> np.ndarray:
    """Columns as contiguous rows, which compare several times faster."""
    return np.ascontiguousarray(matrix.T)


def _merged_vocabulary(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    known = {canonical(word) for word in first}
    new = [word for word in second if canonical(word) not in known]
    merged = np.empty(len(first) + len(new), dtype=object)
    merged[: len(first)] = first
    merged[len(first) :] = new
    return merged


def _recode(codes: np.ndarray, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
    """Codes into `source` as codes into `destination`; -2 where the word is not there."""
    position = {canonical(word): code for code, word in enumerate(destination)}
    known = (position.get(canonical(word), -2) for word in source)
    lookup = np.array([*known, MISSING_CODE], dtype=np.int64)
    return lookup[codes]


def _share_vocabularies(first: EncodedTable, second: EncodedTable) -> bool:
    return all(a is b for a, b in zip(first.vocabularies, second.vocabularies, strict=True))


def _with_vocabularies_of(first: EncodedTable, second: EncodedTable) -> EncodedTable:
    """`second` recoded so that its open vocabularies extend those of `first`."""
    if _share_vocabularies(first, second):
        return second
    codes = second.codes.astype(np.int64)
    vocabularies: list[np.ndarray | None] = []
    for position, (a, b) in enumerate(zip(first.vocabularies, second.vocabularies, strict=True)):
        if a is None or b is None or a is b:
            vocabularies.append(a)
            continue
        merged = _merged_vocabulary(a, b)
        codes[:, position] = _recode(codes[:, position], b, merged)
        vocabularies.append(merged)
    return replace(
        second, codes=codes.astype(smallest_integer(codes)), vocabularies=tuple(vocabularies)
    )


def _codes_in_vocabularies_of(table: EncodedTable, records: EncodedTable) -> np.ndarray:
    codes = records.codes
    for position, (own, theirs) in enumerate(
        zip(table.vocabularies, records.vocabularies, strict=True)
    ):
        if own is not None and theirs is not None and own is not theirs:
            codes = codes.astype(np.int64) if codes is records.codes else codes
            codes[:, position] = _recode(codes[:, position], theirs, own)
    return codes
