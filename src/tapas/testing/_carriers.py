"""Whole numbers written into tables, so that any answer can travel as a synthetic dataset."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from tapas.datasets import TabularDataset
from tapas.errors import ConfigError

MISSING_CODE = -1


def blank_record(like: TabularDataset) -> TabularDataset:
    """One record with every value missing."""
    table = like.table.take([0])
    blank = replace(
        table,
        codes=np.full_like(table.codes, MISSING_CODE),
        numbers=np.full_like(table.numbers, np.nan),
    )
    return TabularDataset.from_table(blank, like.description)


def check_target(target: TabularDataset) -> TabularDataset:
    """Return a target that can be told from a blank record."""
    if not isinstance(target, TabularDataset) or len(target) != 1:
        raise ConfigError(f"target must be one record of a TabularDataset, got {target!r}")
    if blank_record(target) in target:
        raise ConfigError("the target has no value at all: choose a record that has some")
    return TabularDataset.from_table(target.table, target.description)


def rows_of(
    records: TabularDataset, copies: Sequence[int], num_samples: int | None
) -> TabularDataset:
    """Each record as often as `copies` says, then blank records up to `num_samples`.

    What exceeds `num_samples` is left out; with None there is nothing to fill or to leave out.
    """
    kinds = records + blank_record(records)
    wanted = np.maximum(np.asarray(copies, dtype=np.int64), 0)
    if num_samples is not None:
        wanted = np.minimum(wanted, num_samples)
    positions = np.repeat(np.arange(len(wanted)), wanted)
    if num_samples is not None:
        blanks = np.full(max(num_samples - len(positions), 0), len(records))
        positions = np.concatenate([positions, blanks])[:num_samples]
    return kinds.take(positions, reset_index=True)


def count_of(record: TabularDataset, dataset: TabularDataset) -> int:
    """How many rows of a dataset equal the record."""
    return int(dataset.table.matches(record.table).sum())


def number_as_rows(target: TabularDataset, number: int, num_samples: int) -> TabularDataset:
    """A release in which the target stands ``number + num_samples // 2`` times.

    The shift leaves room for negative numbers; those beyond the room are clipped.
    """
    copies = int(np.clip(number + num_samples // 2, 0, num_samples))
    return rows_of(target, [copies], num_samples)


def number_from_rows(target: TabularDataset, release: TabularDataset) -> int:
    """The number that `number_as_rows` wrote."""
    return count_of(target, release) - len(release) // 2


def columns_as_rows(
    target: TabularDataset, copies: Sequence[int], num_samples: int
) -> TabularDataset:
    """A release with the target's value in the first ``copies[j]`` rows of its j-th column."""
    table = rows_of(target, [num_samples], num_samples).table
    codes, numbers = table.codes.copy(), table.numbers.copy()
    coded = number = 0
    for position, column in enumerate(table.columns):
        kept = max(int(copies[position]), 0) if position < len(copies) else 0
        if column.is_coded:
            codes[kept:, coded] = MISSING_CODE
            coded += 1
        else:
            numbers[kept:, number] = np.nan
            number += 1
    emptied = replace(table, codes=codes, numbers=numbers, labels=pd.RangeIndex(num_samples))
    return TabularDataset.from_table(emptied, target.description)


def column_counts(target: TabularDataset, dataset: TabularDataset, columns: int) -> np.ndarray:
    """How many rows share the target's value, for each of the first `columns` columns."""
    names = [column.name for column in target.table.columns[:columns]]
    own, table = target.table, dataset.table
    return np.array([int((table.column(name) == own.column(name)[0]).sum()) for name in names])
