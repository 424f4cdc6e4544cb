"""Tasks that run elsewhere while this process does something else, and hand over when asked."""

import threading
from collections.abc import Iterator, Sequence
from queue import Empty, Full, Queue
from typing import Generic, TypeVar

from tapas.engine._tasks import Elsewhere
from tapas.errors import WorkersError

LEAST_HELD, HELD_PER_WORKER = 128, 4  # results that wait to be asked for
SECONDS_BETWEEN_LOOKS = 0.5  # at whether anybody still wants results
SECONDS_TO_END = 10.0

Key = TypeVar("Key")
Value = TypeVar("Value")


class _GivenUpError(Exception):
    """Nobody wants the results any more."""


class Ahead(Generic[Key, Value]):
    """Begins at once; `results` are those of whatever is done first.

    Where a task fails, no more are begun, and what follows is for the caller to run again: so the
    error is met where it belongs.

    Parameters
    ----------
    elsewhere : Elsewhere
    keys : sequence
    """

    def __init__(self, elsewhere: Elsewhere[Key, Value], keys: Sequence[Key]) -> None:
        self._elsewhere, self._keys = elsewhere, keys
        held = max(LEAST_HELD, HELD_PER_WORKER * elsewhere.count())
        self._done: Queue[tuple[Key, Value]] = Queue(held)
        self._enough, self._given_up = threading.Event(), threading.Event()
        self._loss: WorkersError | None = None
        self._thread = threading.Thread(target=self._run, name="tapas-ahead", daemon=True)
        self._thread.start()

    def results(self) -> Iterator[tuple[Key, Value]]:
        """Keys and values, each once; may be left and taken up again.

        Raises
        ------
        WorkersError
            Where the tasks run is gone.
        """
        while True:
            try:
                yield self._done.get(timeout=SECONDS_BETWEEN_LOOKS)
            except Empty:
                if not self._thread.is_alive() and self._done.empty():
                    break
        if self._loss is not None:
            raise self._loss

    def end(self) -> None:
        """Begin no more tasks; those under way, and all before them, are handed over."""
        self._enough.set()

    def close(self) -> None:
        """Give up what is not done yet."""
        self._given_up.set()
        self._elsewhere.end()
        self._thread.join(SECONDS_TO_END)

    def _run(self) -> None:
        try:
            self._elsewhere.run(self._keys, self._hold, self._has_enough)
        except WorkersError as loss:
            self._loss = loss
        except Exception:
            return  # the caller meets it again

    def _hold(self, key: Key, value: Value) -> None:
        while True:
            self._has_enough()
            try:
                return self._done.put((key, value), timeout=SECONDS_BETWEEN_LOOKS)
            except Full:
                continue

    def _has_enough(self) -> bool:
        if self._given_up.is_set():
            raise _GivenUpError
        return self._enough.is_set()
