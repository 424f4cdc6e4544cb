"""Rows by position, and random rows."""

import threading
from collections.abc import Sequence

import numpy as np

from tapas._random import ambient_rng
from tapas.errors import RecordError

RecordIds = Sequence[int] | np.ndarray
RandomSource = int | np.random.Generator | np.random.RandomState | None
"""A seed or what draws; None follows numpy's global state."""


class _OfThisThread(threading.local):
    def __init__(self) -> None:
        self.sampler = np.random.RandomState()


_of_this_thread = _OfThisThread()


def as_positions(record_ids: RecordIds) -> np.ndarray:
    positions = np.atleast_1d(np.asarray(record_ids))
    return positions if len(positions) else positions.astype(np.intp)


def checked_positions(positions: RecordIds, rows: int) -> np.ndarray:
    where = as_positions(positions)
    if where.dtype == bool or not np.issubdtype(where.dtype, np.integer):
        raise RecordError(f"rows are found by position (whole numbers), got {where[:3].tolist()}")
    outside = where[(where < -rows) | (where >= rows)]
    if len(outside):
        raise RecordError(f"row {outside[0]} is outside a dataset of {rows} rows")
    return where


def as_sampler(random_state: RandomSource) -> np.random.Generator | np.random.RandomState:
    if random_state is None:
        return ambient_rng()
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return random_state
    # Seeding one anew gives the same draws as making one, ten times faster.
    _of_this_thread.sampler.seed(random_state)
    return _of_this_thread.sampler


def as_generator(random_state: RandomSource) -> np.random.Generator:
    return ambient_rng() if random_state is None else np.random.default_rng(random_state)


def disjoint_draws(
    number: int, size: int, num_rows: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Rows of so many samples, disjoint until all are used up; then rows are shuffled anew."""
    per_pass = num_rows // size if size else 1
    drawn: list[np.ndarray] = []
    for sample in range(number):
        block = sample % per_pass
        if block == 0:
            order = rng.permutation(num_rows)
        drawn.append(order[block * size : (block + 1) * size])
    return drawn
