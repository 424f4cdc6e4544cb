"""The same numbers in every process: libraries on one thread, and global randomness put back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from tapas._random import preserved_globals

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["same_everywhere"]

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def same_everywhere() -> Iterator[None]:
    """Numerical libraries on one thread, so that sums add up in one order; globals put back.

    Libraries that the work inside imports are limited too.
    """
    loaded = _libraries(len(sys.modules))
    usual = max((one.num_threads or 1 for one in loaded.lib_controllers), default=1)
    given = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    try:
        with loaded.limit(limits=1), preserved_globals():
            yield
    finally:
        for name, value in given.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        _release_latecomers(loaded, usual)


def _release_latecomers(loaded: "ThreadpoolController", threads: int) -> None:
    """Give libraries that were imported meanwhile as many threads as the others have."""
    known = {one.filepath for one in loaded.lib_controllers}
    for one in _libraries(len(sys.modules)).lib_controllers:
        if one.filepath not in known:
            one.set_num_threads(threads)


@lru_cache(maxsize=1)
def _libraries(modules: int) -> "ThreadpoolController":
    """Looked for anew where there are more modules: it takes milliseconds."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
