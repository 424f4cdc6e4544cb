"""Where an executor runs tasks, and how many at once, as far as it says."""

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any

SECONDS_BETWEEN_COUNTS = 2.0


class Room:
    """How many tasks may run at once, counted again now and then: workers come and go."""

    def __init__(self, count: Callable[[], int]) -> None:
        self._count, self._known, self._counted = count, count(), time.monotonic()

    def now(self) -> int:
        """The number of a moment ago."""
        if time.monotonic() - self._counted >= SECONDS_BETWEEN_COUNTS:
            with suppress(OSError):  # what becomes of a scheduler that is gone, tasks tell
                self._known = self._count()
            self._counted = time.monotonic()
        return self._known


def room_of(executor: Executor | None) -> int | None:
    """Its number of workers, at this moment; None if it does not say."""
    if type(executor).__module__.startswith("distributed."):
        return max(1, _workers_of_dask(executor))
    own = getattr(executor, "_max_workers", None)
    return own if isinstance(own, int) else None


def is_elsewhere(executor: Executor) -> bool:
    """Whether tasks run in other processes; one that cannot be asked is not trusted with it."""
    try:
        return bool(executor.submit(os.getpid).result() != os.getpid())
    except Exception:
        return False


def _workers_of_dask(executor: Any) -> int:
    """Those that have what the executor asks for; the threads of one take turns."""
    asked: Mapping[str, float] = executor._kwargs.get("resources") or {}
    client = executor._client
    return sum(
        all(worker["resources"].get(name, 0) >= least for name, least in asked.items())
        for worker in client.sync(client.scheduler.identity)["workers"].values()
    )
