"""Canaries: records unlike any other, which a leaking mechanism gives away first."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from tapas._validate import check_count
from tapas.datasets._columns import MISSING_CODE, Column
from tapas.datasets._description import DataDescription
from tapas.datasets._encoding import EncodedTable
from tapas.datasets._rows import RandomSource, as_generator
from tapas.datasets._tabular import TabularDataset, TabularRecord
from tapas.errors import RecordError

CANARY = "CANARY"
_ATTEMPTS = 20


def create_canary(dataset: TabularDataset) -> tuple[TabularDataset, TabularRecord]:
    """Make a record that differs from every row of `dataset` in every column.

    Categories get a value of their own, which the schema gains; numbers and dates go one beyond
    the largest; a number in [0, 1] takes a value that no row has.

    Returns
    -------
    dataset : TabularDataset
        The same rows under the extended description. The canary is not among them.
    canary : TabularRecord
        Its identifier is "canary".
    """
    table = dataset.table
    schema, values = [], {}
    for entry, column in zip(dataset.description.schema, dataset.description.parsed, strict=True):
        if column.is_coded:
            values[column.name], entry = _new_category(column, entry, table.vocabularies)
        else:
            values[column.name] = _new_number(column, table.column(column.name))
        schema.append(entry)
    description = DataDescription(
        schema, dataset.label, explanations=dataset.description.explanations
    )
    extended = TabularDataset.from_table(replace(table, columns=description.parsed), description)
    canary = TabularRecord([list(values.values())], description, "canary")
    canary.set_id("canary")
    return extended, canary


def rare_combinations(
    dataset: TabularDataset, number: int, random_state: RandomSource = None
) -> TabularDataset:
    """Make up records whose values all occur in `dataset`, in combinations that do not.

    Every value is drawn with equal chances from those of its column. Mechanisms that count
    combinations give such canaries away before any real record, and the schema stays as it is.
    """
    check_count(number, "number", minimum=1)
    rng, table = as_generator(random_state), dataset.table
    found: EncodedTable | None = None
    for _ in range(_ATTEMPTS):
        codes = [_any_value(column, number, rng) for column in table.codes.T]
        numbers = [_any_value(column, number, rng) for column in table.numbers.T]
        drawn = replace(
            table.take([]),
            codes=np.array(codes, dtype=table.codes.dtype).reshape(-1, number).T,
            numbers=np.array(numbers, dtype=float).reshape(-1, number).T,
            labels=None,
        )
        found = drawn if found is None else found.concat(drawn)
        found = found.take(_first_of_their_kind(found, table), reset_index=True)
        if len(found) >= number:
            names = pd.Index([f"canary {row}" for row in range(number)])
            chosen = replace(found.take(np.arange(number)), labels=names)
            return TabularDataset.from_table(chosen, dataset.description)
    raise RecordError(
        f"{number} combinations that the data does not have were asked for, and hardly any were "
        f"found: ask for fewer, or take more columns"
    )


def _any_value(column: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Values that occur in a column, missing ones only where all are, with equal chances."""
    missing = np.isnan(column) if column.dtype.kind == "f" else column == MISSING_CODE
    present = np.unique(column if missing.all() else column[~missing])
    return rng.choice(present, number)


def _first_of_their_kind(found: EncodedTable, table: EncodedTable) -> np.ndarray:
    """Rows that neither the table nor a row before them equals."""
    keep: list[int] = []
    for row in range(len(found)):
        one = found.take([row])
        known = (table.count_differences(one) == 0).any()
        if not known and not (found.take(keep).count_differences(one) == 0).any():
            keep.append(row)
    return np.array(keep, dtype=int)


def _new_category(
    column: Column, entry: dict[str, Any], vocabularies: Iterable[np.ndarray | None]
) -> tuple[Any, dict[str, Any]]:
    if isinstance(column.values, range):
        size = len(column.values)
        return size, {**entry, "representation": size + 1}
    if column.values is not None:
        word = _unused_word({str(value) for value in column.values})
        return word, {**entry, "representation": [*column.values, word]}
    used = {str(word) for words in vocabularies if words is not None for word in words}
    return _unused_word(used), entry


def _unused_word(used: set[str]) -> str:
    word, number = CANARY, 1
    while word in used:
        number += 1
        word = f"{CANARY}{number}"
    return word


def _new_number(column: Column, numbers: np.ndarray) -> Any:
    present = np.unique(numbers[~np.isnan(numbers)])
    if column.type == "interval":
        number = _widest_gap(present)
    else:
        number = float(present[-1]) + 1 if len(present) else 0.0
    return column.decode(np.array([number]))[0]


def _widest_gap(present: np.ndarray) -> float:
    """1 where no row has it, else the middle of the widest gap between values in [0, 1]."""
    if 1.0 not in present:
        return 1.0
    edges = np.concatenate([[0.0], present[(present > 0) & (present <= 1)]])
    gaps = np.diff(edges)
    widest = int(np.argmax(gaps))
    return float(edges[widest] + gaps[widest] / 2)
