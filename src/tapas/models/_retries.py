"""Asking again where a service says that it is busy."""

import time
from collections.abc import Callable
from typing import TypeVar

BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})  # HTTP: later may go well
ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; each wait is twice the one before

_Answer = TypeVar("_Answer")


def asked_again(ask: Callable[[], _Answer]) -> _Answer:
    """Return the answer; an error that carries an HTTP status of a busy service is waited out.

    The status may stand in the error, as urllib has it, or in its response, as requests and httpx
    have it. A `Retry-After` that the service sends is kept to.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return ask()
        except Exception as error:
            if _status(error) not in BUSY:
                raise
            time.sleep(_wait(error, attempt))
    return ask()


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int):
                return value
    return None


def _wait(error: Exception, attempt: int) -> float:
    for holder in (getattr(error, "response", None), error):
        headers = getattr(holder, "headers", None)
        said = None if headers is None else headers.get("Retry-After")
        if said is not None and str(said).strip().replace(".", "", 1).isdigit():
            return min(float(said), LONGEST_WAIT)
    return min(FIRST_WAIT * 2.0**attempt, LONGEST_WAIT)
