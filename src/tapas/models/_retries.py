"""Asking again where a service says that it is busy."""

import time
from collections.abc import Callable
from typing import TypeVar

from tapas.errors import TapasError

BUSY = frozenset({408, 425, 429, *range(500, 600)})  # HTTP: later may go well
DROPPED = frozenset(  # of Python, requests, httpx and aiohttp, which derive from nothing in common
    (
        *("ConnectionError", "TimeoutError", "IncompleteRead"),
        *("Timeout", "ChunkedEncodingError"),
        *("NetworkError", "TimeoutException", "RemoteProtocolError"),
        "ClientConnectionError",
    )
)
ATTEMPTS = 8
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds; each wait is twice the one before

_Answer = TypeVar("_Answer")


def asked_again(ask: Callable[[], _Answer]) -> _Answer:
    """Return the answer; a busy service and a connection that was dropped are waited out.

    What tells is the kind of the error, or its HTTP status. This may stand in the error, as urllib
    has it, or in its response, as requests and httpx have it. A `Retry-After`
    that the service sends is kept to.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return ask()
        except TapasError:
            raise
        except Exception as error:
            if not _may_pass(error):
                raise
            time.sleep(_wait(error, attempt))
    return ask()


def _may_pass(error: Exception) -> bool:
    status = status_of(error)
    if status is not None:
        return status in BUSY
    causes = (error, getattr(error, "reason", None))  # urllib wraps what happened
    return any(kind.__name__ in DROPPED for cause in causes for kind in type(cause).__mro__)


def status_of(error: Exception) -> int | None:
    """The HTTP status that an error or its response has."""
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
