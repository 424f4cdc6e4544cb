"""Standard streams that nobody may be reading: what is said is lost, what is decided is not."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Forgiving:
    """A text stream that goes on when its reader has left, or its disk is full."""

    def __init__(self, stream: TextIO, *, plain: bool) -> None:
        self._stream, self._plain = stream, plain

    def write(self, text: str) -> int:
        """Write, or drop; marks that steer terminals are written as such, not obeyed."""
        try:
            return self._stream.write(_STEERING.sub("\ufffd", text) if self._plain else text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        """Flush, or point the stream nowhere, so that the interpreter does not complain at exit."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            try:
                os.dup2(nowhere, self._stream.fileno())
            except (OSError, ValueError):
                return
            finally:
                os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def forgive() -> None:
    """Make the standard streams forgiving, and open those that were closed."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        setattr(sys, name, Forgiving(stream, plain=name == "stdout"))


@contextmanager
def output_as_errors() -> Iterator[None]:
    """Whatever is written to standard output, by whatever means, goes to standard error."""
    sys.stdout.flush()
    try:
        before = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 1)
        os.close(before)
