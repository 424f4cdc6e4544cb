"""Contracts as lists of promises: each is looked at alone, and all that are broken are named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, ParamSpec

from tapas.errors import TapasError

P = ParamSpec("P")


class BrokenPromiseError(TapasError, AssertionError):
    """Something does not do what an audit relies on; the message names each promise."""


@dataclass(frozen=True)
class Promise(Generic[P]):
    """One promise of a contract.

    Attributes
    ----------
    name : str
    promise : str
        In words.
    find_breach : callable
        Given what is checked, returns what was seen instead, or None where the promise is kept.
    """

    name: str
    promise: str
    find_breach: Callable[P, str | None]

    def __call__(self, *checked: P.args, **options: P.kwargs) -> None:
        """Raise BrokenPromiseError where the promise is broken."""
        try:
            breach = self.find_breach(*checked, **options)
        except Exception as error:
            raise BrokenPromiseError(
                f"{self.name}: {self.promise}. Instead: {type(error).__name__}: {error}"
            ) from error
        if breach is not None:
            raise BrokenPromiseError(f"{self.name}: {self.promise}. Instead: {breach}")

    def __str__(self) -> str:
        return self.name


def kept_promises(
    label: str, promises: Sequence[Promise[P]], *checked: P.args, **options: P.kwargs
) -> list[str]:
    """Names of the promises, if all are kept; BrokenPromiseError names every one that is not."""
    broken = []
    for promise in promises:
        try:
            promise(*checked, **options)
        except BrokenPromiseError as error:
            broken.append(str(error))
    if broken:
        raise BrokenPromiseError(
            f"{label} breaks {len(broken)} of {len(promises)} promises:\n- " + "\n- ".join(broken)
        )
    return [promise.name for promise in promises]
