"""What may be told of an error to everybody: its class and its place, none of its words.

The words of foreign code may hold private records. They go to the logger `tapas.failures`, which
a run writes to a file of its folder.
"""

import logging
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tapas._spec import is_installed
from tapas.engine._guard import CodeExitError, TimeLimitError
from tapas.errors import (
    ConfigError,
    IncompatibleAttackError,
    MechanismError,
    NotTrainedError,
    ThreatModelError,
)

FAILURES = logging.getLogger("tapas.failures")
LONGEST_NAME = 80
_ABOUT_USE = (ConfigError, IncompatibleAttackError, NotTrainedError, ThreatModelError)
_OURS = str(Path(__file__).parents[1])
_SAID = "_tapas_said"


@dataclass(frozen=True)
class _Said:
    """What is told of an error to everybody, and what stays on this machine."""

    to_all: str
    here: str


def told(error: BaseException) -> str:
    """Class and place of an error; the words of those that are all our own."""
    said = getattr(error, _SAID, None)
    if isinstance(said, _Said):
        return said.to_all
    if isinstance(error, MechanismError):
        return error.shared
    if isinstance(error, (TimeLimitError, CodeExitError)) or _is_about_use(error):
        return str(error)
    name = type(error).__name__[:LONGEST_NAME]
    return f"{name}{_place(error)}"


def _is_about_use(error: BaseException) -> bool:
    """Whether we raised it ourselves, and about how things fit together rather than about data."""
    frames = traceback.extract_tb(error.__traceback__)
    return isinstance(error, _ABOUT_USE) and bool(frames) and frames[-1].filename.startswith(_OURS)


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    foreign = [one for one in frames if not one.filename.startswith(_OURS)]
    own = [one for one in foreign if not is_installed(one.filename)]
    for frame in (own or foreign or frames)[-1:]:
        return f" at {Path(frame.filename).name[-LONGEST_NAME:]}:{frame.lineno}"
    return ""


def log_failure(where: str, error: BaseException) -> None:
    """Keep the words of an error, and where it was raised, on this machine."""
    if FAILURES.isEnabledFor(logging.INFO):
        said = getattr(error, _SAID, None)
        FAILURES.info("%s\n%s", where, said.here if isinstance(said, _Said) else _words(error))


def before_it_travels(error: BaseException) -> BaseException:
    """The error, which leaves its traceback behind, with what that tells."""
    with suppress(AttributeError, TypeError):  # of those that take no note
        retold(error, error)
    return error


def retold(error: BaseException, other: BaseException) -> BaseException:
    """Another error, of which the same is told."""
    setattr(other, _SAID, _Said(told(error), _words(error)))
    return other


def _words(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
