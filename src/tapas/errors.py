"""What can go wrong, as one tree.

::

    TapasError
    ├── SchemaError              the data and its description disagree
    ├── RecordError              records asked for, added or replaced do not fit the dataset
    ├── KnowledgeError           the attacker's knowledge is incomplete or contradictory
    ├── ThreatModelError         a threat model is asked for something it cannot do
    ├── IncompatibleAttackError  an attack does not fit the threat model
    ├── NotTrainedError          an attack or generator is used before it was trained
    ├── MechanismError           the audited mechanism failed or returned something unusable
    ├── StoreError               a saved run cannot be written or read back
    ├── WorkersError             where trials run is gone, or cannot be started
    ├── ConfigError              a parameter or an audit file is wrong
    └── StatisticsError          a statistic is asked for something it cannot promise

Each class is also the builtin exception that scripts written for earlier
versions catch (``AssertionError``, ``ValueError``, ``RuntimeError``...).
"""

from concurrent.futures import BrokenExecutor

__all__ = [
    "ConfigError",
    "IncompatibleAttackError",
    "KnowledgeError",
    "MechanismError",
    "NotTrainedError",
    "RecordError",
    "ReproducibilityWarning",
    "SchemaError",
    "StatisticsError",
    "StoreError",
    "TapasError",
    "TapasWarning",
    "TargetInDataWarning",
    "ThreatModelError",
    "WorkersError",
]


class TapasError(Exception):
    """Base of every error that tapas raises on purpose."""


class SchemaError(TapasError, ValueError, AssertionError):
    """The data and its description disagree; the message names column, row and value."""


class RecordError(TapasError, ValueError, AssertionError, IndexError):
    """Records asked for, added or replaced do not fit the dataset."""


class KnowledgeError(TapasError, ValueError, AssertionError):
    """The attacker's knowledge is incomplete or contradictory."""


class ThreatModelError(TapasError, ValueError, AssertionError):
    """A threat model is asked for something it cannot do."""


class IncompatibleAttackError(TapasError, ValueError, AssertionError):
    """An attack does not fit the threat model it was given."""


class NotTrainedError(TapasError, RuntimeError, AssertionError):
    """An attack or generator is used before it was trained."""


class MechanismError(TapasError, RuntimeError):
    """The audited mechanism failed, or returned something that is not a release.

    Attributes
    ----------
    phase, index, seed
        Address of the failed trial, when the failure happened inside one:
        ``threat_model.draw_trial(phase, index)`` replays it.
    shared : str
        The same without words of the mechanism, which may hold private values: for records, pages
        and logs of machines that others read.
    """

    def __init__(
        self,
        message: str,
        *,
        phase: str | None = None,
        index: int | None = None,
        seed: int | None = None,
        shared: str = "the mechanism failed",
    ) -> None:
        super().__init__(message)
        self.phase = phase
        self.index = index
        self.seed = seed
        self.shared = shared
        if phase is not None and index is not None:
            # For tracebacks: on a command line and on pages, nobody holds a threat model.
            self.add_note(f"Replay it with threat_model.draw_trial({phase!r}, {index}).")

    def __reduce__(self) -> tuple[object, ...]:
        address = (self.phase, self.index, self.seed)
        return _rebuild_mechanism_error, (str(self), *address, self.shared)


class StoreError(TapasError, OSError):
    """A saved run cannot be written or read back."""


class WorkersError(TapasError, BrokenExecutor):
    """Where trials run is gone or cannot be started, which is no failure of what was running."""


class ConfigError(TapasError, ValueError, AssertionError):
    """A parameter or an audit file is wrong; the message names the key.

    Attributes
    ----------
    problems : tuple of str
        The messages one by one, where several things are wrong.
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class StatisticsError(TapasError, ValueError):
    """A statistic is asked for something it cannot promise."""


class TapasWarning(UserWarning):
    """Base of every warning that tapas gives."""


class TargetInDataWarning(TapasWarning):
    """A target is also present in the attacker's or the evaluator's data."""


class ReproducibilityWarning(TapasWarning):
    """Results may not be reproducible, or the mechanism ignores its seed."""


def _rebuild_mechanism_error(
    message: str, phase: str | None, index: int | None, seed: int | None, shared: str
) -> MechanismError:
    return MechanismError(message, phase=phase, index=index, seed=seed, shared=shared)
