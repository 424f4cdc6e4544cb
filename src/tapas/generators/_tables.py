"""Contingency tables over cells: counting, cleaning noisy counts, drawing from them."""

from collections.abc import Sequence

import numpy as np

from tapas.datasets import EncodedTable


def joint_cells(cells: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Number of each row's cell in the product of some columns, the last varying fastest."""
    joint = np.zeros(cells.shape[1], dtype=np.int64)
    for column, size in zip(cells, sizes, strict=True):
        joint = joint * size + column
    return joint


def count_cells(cells: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Contingency table of some columns (columns, rows), with one axis per column."""
    total = int(np.prod(sizes, dtype=np.int64))
    return np.bincount(joint_cells(cells, sizes), minlength=total).reshape(sizes)


def estimated_rows(tables: Sequence[np.ndarray]) -> float:
    """Number of records that several noisy tables of the same records agree on, at least 1.

    A sum over k cells has k times the variance of one: small tables count more.
    """
    weights = np.array([1 / table.size for table in tables])
    totals = np.array([table.sum() for table in tables])
    return max(float(weights @ totals / weights.sum()), 1.0)


def projected(counts: np.ndarray, total: float) -> np.ndarray:
    """The nearest non-negative counts that sum to `total`.

    Setting negative counts to 0 alone would add up all positive noise; here every count that
    stays positive is lowered by the same amount instead.
    """
    falling = np.sort(counts, axis=None)[::-1].astype(np.float64)
    excess = (np.cumsum(falling) - total) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(counts - excess[last], 0.0)


def shares(counts: np.ndarray, fallback: np.ndarray | None = None) -> np.ndarray:
    """Noisy counts as probabilities along the last axis.

    Negative counts become 0. Where nothing is left, `fallback` (uniform by default) is used.
    """
    kept = np.maximum(counts, 0).astype(np.float64)
    totals = kept.sum(axis=-1, keepdims=True)
    if fallback is None:
        fallback = np.full(counts.shape[-1], 1 / counts.shape[-1])
    return np.where(totals > 0, kept / np.where(totals > 0, totals, 1), fallback)


def log_shares(probabilities: np.ndarray, records: float) -> np.ndarray:
    """Logarithms, what never occurred counting as half of a record."""
    return np.log(np.maximum(probabilities, 0.5 / max(records, 1.0)))


def log_copies(asked: EncodedTable, kept: EncodedTable) -> np.ndarray:
    """Log of the share of kept records that equal each one asked for, (records, 1)."""
    copies = (kept.count_differences(asked) == 0).mean(axis=1)
    return log_shares(copies, len(kept))[:, None]


def draw(probabilities: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `size` cells from one distribution."""
    return draw_given(probabilities[None, :], np.zeros(size, dtype=np.int64), rng)


def draw_given(conditional: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a cell for each entry of `given` from that row of `conditional`."""
    width = conditional.shape[1]
    cumulative = np.cumsum(conditional, axis=1)
    cumulative /= cumulative[:, -1:]
    # One sorted array: row r occupies (r, r + 1], so a single search serves all rows.
    ladder = (cumulative + np.arange(len(conditional))[:, None]).ravel()
    found = np.searchsorted(ladder, given + rng.random(len(given)), side="right")
    return np.minimum(found - given * width, width - 1)
