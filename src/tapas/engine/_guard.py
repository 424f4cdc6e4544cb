"""Code that is not ours: whatever way it ends, that is its own failure and nobody else's."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from tapas.errors import TapasError

SECONDS_BETWEEN_SIGNALS = 1.0  # a terminal and a supervisor may both pass one on
LEAST_LEFT = 0.001  # seconds; a timer of 0 would never end


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
    note: Callable[[str], None] | None = None  # whoever sees us end


@contextmanager
def guarded(seconds: float | None = None) -> Iterator[None]:
    """Run foreign code; what would end this process, or pass for a request to, is an error of it.

    The working folder, the mask of file modes and the standard streams are put back afterwards. A
    copy of this process that the code forked, and let run on, ends here.

    Parameters
    ----------
    seconds : float, optional
        It is stopped after so long with `TimeLimitError`, whatever errors it catches. Code that
        catches everything is ended from outside, where somebody supervises this process.
    """
    before = _Surroundings()
    try:
        try:
            if seconds is None:
                yield
            else:
                with _time_limit(seconds):
                    yield
        finally:
            before.put_back()
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


class _Surroundings:
    """What foreign code may change of this process, as it was."""

    def __init__(self) -> None:
        self._process, self._streams = os.getpid(), (sys.stdout, sys.stderr)
        # Code in other threads shares the rest.
        self._alone = threading.current_thread() is threading.main_thread()
        if self._alone:
            self._mask = os.umask(0o077)
            os.umask(self._mask)
            try:
                self._folder = os.getcwd()
            except OSError:
                self._folder = "."

    def put_back(self) -> None:
        """Undo what was changed; a copy of the process ends."""
        if os.getpid() != self._process:
            os._exit(1)
        if self._alone:
            sys.stdout, sys.stderr = self._streams
            os.umask(self._mask)
            with suppress(OSError):
                os.chdir(self._folder)


def _named(error: BaseException) -> str:
    """An error without its words, which are the code's own; a status is none."""
    code = getattr(error, "code", None)
    return type(error).__name__ + (f"({code})" if isinstance(code, int) else "")


def _pass_on_request() -> None:
    """A request to end holds, though the code that it met may have swallowed it."""
    if _State.requested is not None:
        raise KeyboardInterrupt


def tell_limits(
    tell: Callable[[float | None], None], note: Callable[[str], None] | None = None
) -> None:
    """Have limits told to a supervisor: seconds where one begins, None where it is over.

    And, by `note`, whose code begins to run.
    """
    _State.watched, _State.tell, _State.note = True, tell, note


def code_of(whom: str) -> None:
    """From here on this runs somebody else's code: a process that ends now was ended by it."""
    if _State.note is not None:
        _State.note(whom)


@contextmanager
def interruptible(is_request: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Ctrl-C and a polite end by the system both interrupt, and foreign code cannot hide them.

    A signal that `is_request` denies is the code's own, and ends the process as it would any.
    """

    def end(number: int, frame: FrameType | None) -> None:
        if not is_request():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
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
def off_the_clock() -> Iterator[None]:
    """Work of ours that foreign code waits for: its time stands still meanwhile."""
    clock, _Running.clock = getattr(_Running, "clock", None), None
    if clock is None:
        yield
        return
    clock.stop()
    try:
        yield
    finally:
        _Running.clock = clock
        clock.start()


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """A limit within another stops the clock of the other."""
    in_main = threading.current_thread() is threading.main_thread()
    clock = (_Alarm if in_main and hasattr(signal, "setitimer") else _Timer)(seconds)
    words = f"it did not finish within {seconds:g} seconds"
    with off_the_clock():
        _Running.clock = clock
        try:
            try:
                clock.start()
                yield
            finally:
                clock.stop()
        except BaseException as error:
            if clock.late and not isinstance(error, KeyboardInterrupt):
                raise TimeLimitError(words) from None
            raise
        finally:
            clock.stop()  # again: time may have been up in the midst of the first
            _Running.clock = None
        if clock.late:
            raise TimeLimitError(words)


class _Clock:
    """Time that is left; when it is over, `_Expired` is raised in the thread that started it."""

    def __init__(self, seconds: float) -> None:
        self.left, self.late = seconds, False
        self._since = time.monotonic()

    def start(self) -> None:
        """Go on; whoever supervises this process is told how long it may last."""
        if _State.tell is not None:
            _State.tell(self.left)
        self._since = time.monotonic()

    def stop(self) -> None:
        """Stand still."""
        self.left = max(LEAST_LEFT, self.left - (time.monotonic() - self._since))
        if _State.tell is not None:
            _State.tell(None)


class _Alarm(_Clock):
    """A timer of the main thread, which interrupts system calls too."""

    def start(self) -> None:
        super().start()
        self._before = signal.signal(signal.SIGALRM, self._expire)
        signal.setitimer(signal.ITIMER_REAL, self.left)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before)
        super().stop()

    def _expire(self, number: int, frame: FrameType | None) -> None:
        self.late = True
        raise _Expired


class _Timer(_Clock):
    """In other threads the end arrives when Python code next runs."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self._lock, self._stopped = threading.Lock(), threading.Event()

    def start(self) -> None:
        super().start()
        self._stopped = threading.Event()
        timer = threading.Timer(self.left, self._expire, (threading.get_ident(), self._stopped))
        timer.daemon = True
        timer.start()

    def stop(self) -> None:
        with self._lock:
            self._stopped.set()
        super().stop()

    def _expire(self, worker: int, stopped: threading.Event) -> None:
        with self._lock:
            if not stopped.is_set():
                self.late = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(worker), ctypes.py_object(_Expired)
                )


_Running = threading.local()  # the clock of each thread
