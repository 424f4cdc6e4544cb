"""Code that is not ours: whatever way it ends, that is its own failure and nobody else's."""

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tapas.errors import TapasError

SECONDS_BETWEEN_SIGNALS = 1.0  # a terminal and a supervisor may both pass one on


class TimeLimitError(TapasError, TimeoutError):
    """The work did not finish within its time."""


class CodeExitError(TapasError, RuntimeError):
    """Foreign code ended its process, or asked to."""


class _Expired(BaseException):
    """Time is up; no handler of ordinary errors may hold it back."""


class _State:
    """What this process knows of its supervision."""

    watched = False  # requests to end are noted here, so another KeyboardInterrupt is the code's
    requested: float | None = None
    tell: Callable[[float | None], None] | None = None  # whoever ends us when a limit is overrun


@contextmanager
def guarded(seconds: float | None = None) -> Iterator[None]:
    """Run foreign code; what would end this process, or pass for a request to, is an error of it.

    Parameters
    ----------
    seconds : float, optional
        It is stopped after so long with `TimeLimitError`, whatever errors it catches. Code that
        catches everything is ended from outside, where somebody supervises this process.
    """
    try:
        with _time_limit(seconds):
            yield
    except KeyboardInterrupt:
        if not _State.watched or _State.requested is not None:
            raise
        raise CodeExitError("it raised KeyboardInterrupt") from None
    except Exception:
        _pass_on_request()
        raise
    except BaseException as error:
        _pass_on_request()
        raise CodeExitError(f"it raised {_named(error)}") from error
    _pass_on_request()


def _named(error: BaseException) -> str:
    """An error without its words, which are the code's own; a status is none."""
    code = getattr(error, "code", None)
    return type(error).__name__ + (f"({code})" if isinstance(code, int) else "")


def _pass_on_request() -> None:
    """A request to end holds, though the code that it met may have swallowed it."""
    if _State.requested is not None:
        raise KeyboardInterrupt


def tell_limits(tell: Callable[[float | None], None]) -> None:
    """Have limits told to a supervisor: seconds where one begins, None where it is over."""
    _State.watched, _State.tell = True, tell


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and a polite end by the system both interrupt, and foreign code cannot hide them."""

    def end(number: int, frame: FrameType | None) -> None:
        before, _State.requested = _State.requested, time.monotonic()
        if before is None or _State.requested - before > SECONDS_BETWEEN_SIGNALS:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(one, signal.signal(one, end)) for one in (signal.SIGINT, signal.SIGTERM)]
    watched, _State.watched, _State.requested = _State.watched, True, None
    try:
        yield
    finally:
        _State.watched, _State.requested = watched, None
        for one, handler in before:
            signal.signal(one, handler)


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    in_main = threading.current_thread() is threading.main_thread()
    by = _by_signal if in_main and hasattr(signal, "setitimer") else _by_thread
    late = threading.Event()
    words = f"it did not finish within {seconds:g} seconds"
    if _State.tell is not None:
        _State.tell(seconds)
    try:
        with by(seconds, late):
            yield
    except BaseException as error:
        if late.is_set() and not isinstance(error, KeyboardInterrupt):
            raise TimeLimitError(words) from None
        raise
    finally:
        if _State.tell is not None:
            _State.tell(None)
    if late.is_set():
        raise TimeLimitError(words)


@contextmanager
def _by_signal(seconds: float, late: threading.Event) -> Iterator[None]:
    """A timer of the main thread, which interrupts system calls too."""

    def expire(number: int, frame: FrameType | None) -> None:
        late.set()
        raise _Expired

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _by_thread(seconds: float, late: threading.Event) -> Iterator[None]:
    """In other threads the end arrives when Python code next runs."""
    worker = threading.get_ident()
    finished = threading.Event()
    lock = threading.Lock()

    def expire() -> None:
        with lock:
            if not finished.is_set():
                late.set()
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(worker), ctypes.py_object(_Expired)
                )

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            finished.set()
        timer.cancel()
