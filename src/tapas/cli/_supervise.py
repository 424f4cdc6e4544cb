"""A command that runs other people's code does so in a child; only what it reports is believed.

Code that ends its process, whatever status it leaves, ends the child alone: the command then goes
on with every trial in a process of its own, and never leaves with 0.
"""

import mmap
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType

import click

GRACE = 2.0  # seconds beyond a time limit for code to stop by itself
LONGEST_WAIT = 0.1  # seconds between two looks at whether the child lives
PATIENCE = 0.5  # seconds for the parent to hear of a signal that was sent to both
SECONDS_TO_LEAVE = 30.0  # for a child that was asked to end
SECONDS_TO_LEAVE_IF_ASKED_AGAIN = 5.0
SECONDS_BETWEEN_REQUESTS = 1.0  # those that follow sooner are one
INTERRUPTED, INTERNAL, NOTHING_RAN = 2, 3, 5

isolated = False  # whether no trial may run in this process, because one ended such a process


class _EndedError(Exception):
    """The child ended without a report."""


def supervised(work: Callable[[], int], *, goes_on: bool, interrupted: str = "Interrupted.") -> int:
    """The exit code that `work` reports from a child process.

    With `goes_on`, work that ended its process is begun again, with trials kept apart. A child
    that is asked to end and does not is ended; then `interrupted` is said in its place.
    """
    global isolated
    try:
        return _in_child(work, interrupted)
    except _EndedError as error:
        if not goes_on or isolated:
            click.echo(f"Error: code of the audit ended the process ({error})", err=True)
            return NOTHING_RAN
        click.echo(
            f"Note: code of the audit ended the process ({error}); going on with every trial in a "
            f"process of its own",
            err=True,
        )
    isolated = True
    return supervised(work, goes_on=goes_on, interrupted=interrupted)


def _in_child(work: Callable[[], int], interrupted: str) -> int:
    global _asked_to_end
    reading, writing = os.pipe()
    _asked_to_end = asked = mmap.mmap(-1, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work_and_leave(work, writing)
    os.close(writing)
    requests = _Requests()

    def pass_on(number: int, frame: FrameType | None) -> None:
        requests.note(time.monotonic())
        asked[0] = 1
        with suppress(ProcessLookupError):
            os.kill(child, number)

    before = [(one, signal.signal(one, pass_on)) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        return _report_of(child, reading, requests, interrupted)
    finally:
        os.close(reading)
        for one, handler in before:
            signal.signal(one, handler)


class _Requests:
    """When somebody asked the child to end, and how long it may take."""

    def __init__(self) -> None:
        self.first: float | None = None
        self._end = float("inf")

    def note(self, now: float) -> None:
        """One has arrived."""
        if self.first is None:
            self.first, self._end = now, now + SECONDS_TO_LEAVE
        elif now - self.first > SECONDS_BETWEEN_REQUESTS:
            self._end = min(self._end, now + SECONDS_TO_LEAVE_IF_ASKED_AGAIN)

    def are_ignored(self) -> bool:
        """Whether the time to leave is over."""
        return time.monotonic() > self._end


def _work_and_leave(work: Callable[[], int], writing: int) -> None:
    """Runs in the child, which ends here whatever threads and exit handlers are left."""
    global _report_to
    _report_to = writing
    _end_with_parent()
    try:
        code = work()
    except BaseException:  # wanted by --debug
        traceback.print_exc()
        code = INTERNAL
    engine = sys.modules.get("tapas.engine")
    if engine is not None:
        engine.end_workers()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    _tell(f"exit {code}")
    os._exit(code)


_report_to: int | None = None
_asked_to_end: mmap.mmap | None = None  # shared with the child: whether somebody asked the parent


def is_request() -> bool:
    """Whether a signal that reached the child was sent by somebody, and not by code in it."""
    end = time.monotonic() + PATIENCE
    while _report_to is not None and _asked_to_end is not None and not _asked_to_end[0]:
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _tell(words: str) -> None:
    if _report_to is not None:
        os.write(_report_to, f"{words}\n".encode())


def tell_limits_to_parent() -> None:
    """Let the parent end this process where code overruns its time and will not stop."""
    from tapas.engine import tell_limits

    if _report_to is not None:
        tell_limits(lambda seconds: _tell("free" if seconds is None else f"limit {seconds!r}"))


def _end_with_parent() -> None:
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _report_of(child: int, reading: int, requests: _Requests, interrupted: str) -> int:
    """The exit code that the child reports; `_EndedError` where it ends without."""
    limit: float | None = None
    ended = status = 0
    line = _Line(reading)
    while True:
        # Once it has ended, what it said before is still on the line.
        for kind, value in line.listen(0 if ended else LONGEST_WAIT):
            if kind == "exit":
                if not ended:
                    os.waitpid(child, 0)
                return int(value)
            limit = time.monotonic() + float(value) + GRACE if kind == "limit" else None
        overran = not ended and limit is not None and time.monotonic() > limit
        if overran or (not ended and requests.are_ignored()):
            ended, status = _end(child)
        if ended and requests.first is not None:
            click.echo(interrupted, err=True)
            return INTERRUPTED
        if overran:
            click.echo("Error: code of the audit did not stop when its time was over", err=True)
            return NOTHING_RAN
        if ended:
            raise _EndedError(_in_words(status))
        ended, status = os.waitpid(child, os.WNOHANG)


def _end(child: int) -> tuple[int, int]:
    """End it with all that it started."""
    from tapas.engine import end_family

    end_family(child)
    return os.waitpid(child, 0)


class _Line:
    """Messages of the child, a line each: a word and perhaps a value."""

    def __init__(self, reading: int) -> None:
        self._reading = reading
        self._rest = b""

    def listen(self, seconds: float) -> Iterator[tuple[str, str]]:
        """Those that are there, or arrive within some time."""
        ready, _, _ = select.select([self._reading], [], [], seconds)
        words = os.read(self._reading, 65536) if ready else b""
        if ready and not words:
            time.sleep(seconds)  # the line is closed; the child is about to end
        *lines, self._rest = (self._rest + words).split(b"\n")
        for line in lines:
            kind, _, value = line.decode().partition(" ")
            yield kind, value


def _in_words(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"exit status {code}"
