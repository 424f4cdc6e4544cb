"""Tables as rows of floats that networks learn, and back.

The places of a row follow from the schema alone, so that networks of many tables have one shape:
a normal score for each number column, then a mark for each category of each coded column, for
"missing" among them, and for whether a number is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tapas.datasets import EncodedTable
from tapas.generators._copula import CopulaMargin, decimals_of_column, ranked_numbers
from tapas.generators._discretise import rounded
from tapas.generators._states import from_columns


@dataclass(frozen=True)
class Places:
    """Where each column of a schema stands in a row.

    Attributes
    ----------
    numbers : int
        How many number columns there are; they stand first.
    choices : tuple of int
        How many marks each coded column has, missing first, and after these two for each number
        column: there, missing.
    """

    numbers: int
    choices: tuple[int, ...]

    @classmethod
    def of(cls, tables: Sequence[EncodedTable]) -> Self:
        """Places for the columns of tables of one schema."""
        coded = [max(sizes) for sizes in zip(*map(_sizes, tables), strict=True)]
        numbers = len(tables[0].columns) - len(coded)
        return cls(numbers, (*(1 + size for size in coded), *(2,) * numbers))

    @property
    def width(self) -> int:
        """Floats in a row."""
        return self.numbers + sum(self.choices)


@dataclass(frozen=True, eq=False)
class DeepColumns:
    """How one table is written as floats.

    Attributes
    ----------
    schema : EncodedTable
        Without rows.
    places : Places
    margins : dict of CopulaMargin
        Of each number column: its distinct numbers, and how they are spread.
    decimals : dict
    seen : ndarray of bool
        Which marks occur; others are never drawn.
    rows : int
        How many the table has.
    """

    schema: EncodedTable
    places: Places
    margins: dict[str, CopulaMargin]
    decimals: dict[str, int | None]
    seen: np.ndarray
    rows: int

    @classmethod
    def learn(cls, table: EncodedTable, places: Places) -> tuple[Self, np.ndarray]:
        """From a table, with its rows as floats."""
        margins, decimals = {}, {}
        for column in table.number_columns():
            ranks, values = ranked_numbers(table.column(column.name))
            margins[column.name] = CopulaMargin.of(ranks, values)
            decimals[column.name] = decimals_of_column(column, values)
        made = cls(table.take([]), places, margins, decimals, np.empty(0), len(table))
        rows = made.encode(table)
        seen = np.asarray(rows[:, places.numbers :].any(axis=0))
        return cls(made.schema, places, margins, decimals, seen, len(table)), rows

    def encode(self, table: EncodedTable) -> np.ndarray:
        """Rows of float32; a number that is missing stands in the middle."""
        numbers = [table.column(column.name) for column in table.number_columns()]
        scores = [
            _normal_scores(margin, values)
            for margin, values in zip(self.margins.values(), numbers, strict=True)
        ]
        codes = [table.column(c.name).astype(np.int64) + 1 for c in table.columns if c.is_coded]
        codes += [np.isnan(values).astype(np.int64) for values in numbers]
        marks = [
            np.eye(width, dtype=np.float32)[code]
            for width, code in zip(self.places.choices, codes, strict=True)
        ]
        parts = [np.stack(scores, axis=1)] if scores else []
        return np.concatenate([*parts, *marks], axis=1).astype(np.float32)

    def decode(self, scores: np.ndarray, marks: np.ndarray) -> EncodedTable:
        """A table from normal scores, (rows, numbers), and chosen marks, (rows, choices)."""
        from scipy.special import ndtr

        coded = len(self.places.choices) - self.places.numbers
        drawn, next_code, next_number = [], 0, 0
        for column in self.schema.columns:
            if column.is_coded:
                drawn.append(marks[:, next_code] - 1)
                next_code += 1
                continue
            margin, missing = self.margins[column.name], marks[:, coded + next_number] == 1
            values = np.full(len(marks), np.nan)
            if len(margin.values):
                uniforms = ndtr(scores[:, next_number].astype(np.float64))
                found = margin.quantiles(uniforms, self.rows)
                values = np.where(missing, np.nan, rounded(found, self.decimals[column.name]))
            drawn.append(values)
            next_number += 1
        return from_columns(self.schema, drawn, len(marks))


def _sizes(table: EncodedTable) -> list[int]:
    """Categories of each coded column: those declared, or else those that occur."""
    both = zip(table.coded_columns(), table.vocabularies, strict=True)
    return [len(column.values or (() if words is None else words)) for column, words in both]


def _normal_scores(margin: CopulaMargin, values: np.ndarray) -> np.ndarray:
    """Normal score of each number, between those of its neighbours; 0 for NaN."""
    scores = np.zeros(len(values))
    present = ~np.isnan(values)
    if len(margin.values):
        scores[present] = np.interp(values[present], margin.values, margin.scores())
    return scores
