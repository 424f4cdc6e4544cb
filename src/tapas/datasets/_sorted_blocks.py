"""Records sorted by the sides of random planes they are on: many meet their like at once."""

from collections.abc import Iterator

import numpy as np

_PLANES = 24
_BLOCK = 128
_BLOCKS_AT_ONCE = 64
_ROWS_AT_ONCE = 1 << 16


def closeness_in_blocks(
    vectors: np.ndarray, rows: np.ndarray, number: int, rng: np.random.Generator
) -> np.ndarray:
    """Mean of the largest products of some rows with others in the same block.

    The largest of all are never smaller. Where a block has too few others: minus infinity.
    """
    wanted, found = np.zeros(len(vectors), dtype=bool), np.full(len(vectors), -np.inf, np.float32)
    wanted[rows] = True
    for block in _blocks(_by_sides(vectors, rng)):
        block = block[wanted[block].any(axis=1)]
        if not len(block) or block.shape[1] <= number:
            continue
        some = vectors[block]
        products = some @ some.transpose(0, 2, 1)
        itself = np.arange(block.shape[1])
        products[:, itself, itself] = -np.inf
        asked = wanted[block]
        largest = products[asked]
        largest.partition(largest.shape[1] - number, axis=1)
        # A row may stand in the last block and in the one before.
        np.maximum.at(found, block[asked], largest[:, -number:].mean(axis=1))
    return found[rows]


def _by_sides(vectors: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """All rows, those on the same side of the first planes together."""
    planes = rng.normal(size=(vectors.shape[1], _PLANES)).astype(np.float32)
    middle = np.median(vectors[rng.integers(len(vectors), size=1000)] @ planes, axis=0)
    weights = 2.0 ** np.arange(_PLANES)[::-1]
    parts = range(0, len(vectors), _ROWS_AT_ONCE)
    keys = [(vectors[at : at + _ROWS_AT_ONCE] @ planes > middle) @ weights for at in parts]
    return np.argsort(np.concatenate(keys), kind="stable")


def _blocks(order: np.ndarray) -> Iterator[np.ndarray]:
    """Matrices of rows, a block in each line; the last block overlaps the one before."""
    size = min(_BLOCK, len(order))
    starts = np.arange(0, len(order) - size + 1, size)
    if starts[-1] + size < len(order):
        starts = np.append(starts, len(order) - size)
    for at in range(0, len(starts), _BLOCKS_AT_ONCE):
        yield order[starts[at : at + _BLOCKS_AT_ONCE, None] + np.arange(size)]
