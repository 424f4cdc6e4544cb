"""The same numbers in every process."""

from collections.abc import Iterator
from contextlib import contextmanager

from tapas._random import preserved_globals
from tapas.engine._one_thread import one_thread


@contextmanager
def same_everywhere() -> Iterator[None]:
    """Numerical libraries on one thread; globals put back."""
    with one_thread(), preserved_globals():
        yield
