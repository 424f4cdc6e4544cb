"""Stop work that takes too long."""

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tapas.errors import TapasError


class TimeLimitError(TapasError, TimeoutError):
    """The work did not finish within its time."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimitError` in the block after `seconds`.

    In the main thread of a process a timer interrupts system calls too; in other threads the
    error arrives when Python code next runs.
    """
    if seconds is None:
        yield
    elif threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        with _by_signal(seconds):
            yield
    else:
        with _by_thread(seconds):
            yield


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    def expire(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError(f"it did not finish within {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    worker = threading.get_ident()
    finished = threading.Event()
    lock = threading.Lock()

    def expire() -> None:
        with lock:
            if not finished.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(worker), ctypes.py_object(TimeLimitError)
                )

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    except TimeLimitError:
        raise TimeLimitError(f"it did not finish within {seconds:g} seconds") from None
    finally:
        with lock:
            finished.set()
        timer.cancel()
