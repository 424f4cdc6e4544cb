"""Addressed random streams: the same address always gives the same numbers.

A stream is found by where it is used, never by how many were drawn before it,
so results do not depend on the order of work or on the number of workers.
"""

import random
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.random import seed as seed_numpy

__all__ = [
    "Part",
    "Parts",
    "TrialPart",
    "ambient_rng",
    "integer_seed",
    "part_stream",
    "preserved_globals",
    "resolve_seed",
    "seeded_globals",
    "stream",
    "trial_stream",
]


class TrialPart(IntEnum):
    """Parts of a trial that have a random stream of their own."""

    BACKGROUND = 0
    SECRET = 1
    PLACEMENT = 2
    MECHANISM = 3
    OBSERVATION = 4
    PROBE = 5
    PROBE_AGAIN = 6


class Part(NamedTuple):
    """A part of a game or an audit with streams of its own: its number, and indices that follow.

    The address of a stream is the number and the indices, so that parts of one number but
    different depth never meet.
    """

    number: int
    depth: int = 0


class Parts:
    """Every stream that is not a trial's: this list is the only place where numbers are given."""

    AUXILIARY_SPLIT = Part(0)
    SIDE_SPLIT = Part(0, 1)
    RANDOM_TARGETS = Part(1)
    SIDE_ORDER = Part(1, 1)
    LEAVING_ROWS = Part(2)
    POOL_CUT = Part(2, 1)
    SAMPLE_HALVES = Part(3)
    REFERENCE_TARGETS = Part(3, 1)
    REFERENCE_OTHERS = Part(3, 2)
    SHADOW_TRAINING = Part(4)
    PROPERTY_TRAINING = Part(4, 1)
    OBSERVING_ATTRIBUTE = Part(5)
    OBSERVING_AUDITED = Part(5, 1)
    OBSERVING_SHADOW = Part(5, 2)
    FITTING = Part(6)
    FILE_REFERENCE = Part(10)
    SHADOW_DATA = Part(20)
    SAMPLE_ROWS = Part(21)
    AUDITED_MODEL = Part(22)
    CONTROL_TABLES = Part(23, 1)
    SIDE_THINNING = Part(26)
    FRESH_ROUND = Part(27, 1)
    OBSERVING_FILE = Part(25, 1)
    INPUTS_ALONE = Part(28)
    MADE_UP_TARGETS = Part(29)
    CANARY_COINS = Part(36)
    MAPPED_RECORDS = Part(30)
    DIAGNOSED_RECORDS = Part(31, 1)


_preserving: ContextVar[bool] = ContextVar("_preserving", default=False)


def resolve_seed(seed: int | None) -> int:
    """Return `seed`, or fresh entropy that the caller records."""
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a non-negative integer or None, got {seed!r}")
    return int(seed)


def stream(seed: int, *address: int) -> np.random.Generator:
    """Return the generator that lives at `address` under `seed`."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=address))


def part_stream(seed: int, part: Part, *indices: int) -> np.random.Generator:
    """Return the stream of a part of a game or an audit; one of `Parts`."""
    if len(indices) != part.depth:
        raise ValueError(f"{part} takes {part.depth} indices, got {len(indices)}")
    return stream(seed, part.number, *indices)


def trial_stream(
    seed: int, round_: int, phase: int, index: int, part: TrialPart
) -> np.random.Generator:
    """Return the stream of a part of a trial."""
    return stream(seed, round_, phase, index, int(part))


def integer_seed(rng: np.random.Generator) -> int:
    """Draw a seed that foreign ``random_state``/``seed`` arguments accept."""
    return int(rng.integers(2**32, dtype=np.uint64))


def ambient_rng() -> np.random.Generator:
    """Return a generator seeded from numpy's global state.

    Used where a caller gave no seed: scripts that call ``np.random.seed``, and foreign code that
    runs under `seeded_globals`, stay reproducible.
    """
    return np.random.default_rng(list(np.random.bytes(16)))  # noqa: NPY002


@contextmanager
def preserved_globals() -> Iterator[None]:
    """Put the global numpy, random and torch generators back afterwards."""
    numpy_state = np.random.get_state()  # noqa: NPY002
    python_state = random.getstate()
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    token = _preserving.set(True)
    try:
        yield
    finally:
        _preserving.reset(token)
        np.random.set_state(numpy_state)  # noqa: NPY002
        random.setstate(python_state)
        if torch is not None:
            torch.set_rng_state(torch_state)


@contextmanager
def seeded_globals(seed: int) -> Iterator[None]:
    """Seed the global generators for foreign code; inside `preserved_globals` that is all."""
    with nullcontext() if _preserving.get() else preserved_globals():
        seed_numpy(seed % 2**32)  # noqa: NPY002
        random.seed(seed)
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.manual_seed(seed)
        yield
