"""Which rows agree with records column by column, as bits."""

import numpy as np

from tapas.datasets import TabularDataset

__all__ = ["CONTINUOUS", "agreeing", "bits_of", "count_ones", "packed"]

CONTINUOUS = ("real", "datetime")
_BITS = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


def agreeing(
    dataset: TabularDataset,
    records: TabularDataset,
    position: int,
    edges: np.ndarray | None = None,
    *,
    two_sided: tuple[str, ...] = CONTINUOUS,
) -> list[np.ndarray]:
    """Which rows agree with each record in a column, (records, rows), for each of its sides.

    Columns of the kinds `two_sided` have two: rows at most, and rows at least, the record's value.
    With `edges`, numbers agree where they are in the same bin. Missing agrees with missing.
    """
    table, column = dataset.table, dataset.table.columns[position]
    name = column.name
    if column.is_coded and column.values is None:
        # The vocabularies of two tables may differ: let the tables compare their words.
        return [table.select([name]).count_differences(records.table.select([name])) == 0]
    mine, theirs = records.table.column(name)[:, None], table.column(name)
    if column.is_coded:
        return [mine == theirs]
    if edges is not None:
        return [_bins(mine, edges) == _bins(theirs, edges)]
    absent = np.isnan(mine) & np.isnan(theirs)
    if column.kind in two_sided:
        return [(theirs <= mine) | absent, (theirs >= mine) | absent]
    return [(theirs == mine) | absent]


def bits_of(agreements: np.ndarray) -> np.ndarray:
    """Bits of (records, rows) as words of 64 rows, (words, records)."""
    return np.ascontiguousarray(packed(agreements).T)


def packed(rows: np.ndarray) -> np.ndarray:
    """Bits of the last axis in words of 64."""
    whole = np.zeros((*rows.shape[:-1], 8 * -(-rows.shape[-1] // 64)), dtype=np.uint8)
    found = np.packbits(rows, axis=-1)
    whole[..., : found.shape[-1]] = found
    return whole.view(np.uint64)


def count_ones(words: np.ndarray) -> np.ndarray:
    """How many bits are set, over the second axis."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words).sum(axis=1, dtype=np.uint32)
    each = _BITS[np.ascontiguousarray(words).view(np.uint8)].reshape(*words.shape, 8)
    return each.sum(axis=(1, -1), dtype=np.uint32)


def _bins(numbers: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number of the bin; the outer ones are open; -1 for missing."""
    found = np.searchsorted(edges[1:-1], numbers, side="right")
    return np.where(np.isnan(numbers), -1, found)
