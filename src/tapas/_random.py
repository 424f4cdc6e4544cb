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

import numpy as np
from numpy.random import seed as seed_numpy

__all__ = [
    "ambient_rng",
    "integer_seed",
    "preserved_globals",
    "resolve_seed",
    "seeded_globals",
    "stream",
]

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
