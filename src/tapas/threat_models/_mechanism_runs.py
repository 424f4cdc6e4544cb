"""Run a mechanism once: on a copy, with a seed of its own."""

import copy
import inspect
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from types import MethodType
from typing import Protocol, TypeGuard, runtime_checkable

import numpy as np

from tapas._random import integer_seed, seeded_globals
from tapas.datasets import Dataset
from tapas.errors import MechanismError, ReproducibilityWarning
from tapas.game import run_coroutine
from tapas.generators import Generator

SEED_PARAMETERS = ("random_state", "seed")


class FitsAndGenerates(Protocol):
    """What is run by its two methods."""

    @property
    def fit(self) -> Callable[..., object]:
        """Learns from private data."""

    @property
    def generate(self) -> Callable[..., object]:
        """Makes synthetic data: so many records."""


@runtime_checkable
class Named(Protocol):
    """What has a display name."""

    @property
    def label(self) -> str:
        """Display name."""


class Runs(Protocol):
    """What is run by a call."""

    def __call__(
        self, dataset: Dataset, num_samples: int | None, **parameters: object
    ) -> object: ...


Mechanism = Generator | FitsAndGenerates | Runs


@dataclass(frozen=True)
class MechanismRun:
    """One run: its output (perhaps still to be awaited) and the fitted copy it came from."""

    output: object
    fitted: object


def run_mechanism(
    generator: Mechanism,
    dataset: Dataset,
    num_samples: int | None,
    parameters: Mapping[str, object],
    *,
    rng: np.random.Generator,
    seed_globals: bool = True,
) -> MechanismRun:
    """Fit a copy of `generator` and generate; the original is left as it was.

    A seed is passed wherever a method names one of `SEED_PARAMETERS`. A coroutine is run to its
    end here, while the global generators are seeded; where they are not, it is left to the caller
    to await.
    """
    mechanism = own_copy(generator)
    with globals_for(integer_seed(rng), seed_globals):
        if uses_documented_call(mechanism):
            fit_seed = seed_argument(mechanism.fit, rng)
            mechanism.fit(dataset, **{**fit_seed, **parameters})
            output = mechanism.generate(num_samples, **seed_argument(mechanism.generate, rng))
        else:
            call = _call_of(mechanism)
            output = call(dataset, num_samples, **{**seed_argument(call, rng), **parameters})
        return MechanismRun(finished(output) if seed_globals else output, mechanism)


def globals_for(seed: int, seed_globals: bool) -> AbstractContextManager[None]:
    """Seeded global generators, except where other threads would see them."""
    return seeded_globals(seed) if seed_globals else nullcontext()


def name_of(generator: Mechanism) -> str:
    """Its display name, or that of its class where it has none."""
    label = str(generator.label) if isinstance(generator, Named) else Generator.UNNAMED
    return type(generator).__name__ if label == Generator.UNNAMED else label


def own_copy(generator: Mechanism) -> Mechanism:
    """A copy whose training cannot touch the original."""
    try:
        return copy.deepcopy(generator)
    except Exception as error:
        warnings.warn(
            f"{name_of(generator)!r} cannot be copied whole ({error}), so what one run changes "
            f"inside it may reach the next: make it anew in fit",
            ReproducibilityWarning,
            stacklevel=2,
        )
        return copy.copy(generator)


def uses_documented_call(generator: Mechanism) -> TypeGuard[FitsAndGenerates]:
    """Whether calling it means: fit, then generate."""
    if not callable(generator):
        return True
    return isinstance(generator, Generator) and type(generator).__call__ is Generator.__call__


def accepts_seed(generator: Mechanism) -> bool:
    """Whether all that is random in the mechanism can be steered by arguments.

    A `fit` without a seed may draw from the global generators; only our own are known not to.
    """
    if uses_documented_call(generator):
        own = type(generator).__module__.partition(".")[0] == "tapas"
        return bool(_seed_name(generator.generate)) and (own or bool(_seed_name(generator.fit)))
    return bool(_seed_name(_call_of(generator)))


def is_coroutine_mechanism(generator: Mechanism) -> bool:
    """Whether running the mechanism gives something to await."""
    methods = [getattr(generator, name, None) for name in ("__call__", "generate")]
    return any(inspect.iscoroutinefunction(method) for method in (generator, *methods))


def seed_argument(function: Callable[..., object], rng: np.random.Generator) -> dict[str, int]:
    """``{name: seed}`` if the function names a seed parameter, else nothing."""
    seed = integer_seed(rng)
    name = _seed_name(function)
    return {name: seed} if name else {}


def finished(output: object) -> object:
    """The output itself; where it is a coroutine, what that returns."""
    return run_coroutine(output) if inspect.iscoroutine(output) else output


def _call_of(generator: Mechanism) -> Callable[..., object]:
    """What runs where the mechanism is called."""
    if not callable(generator):
        raise MechanismError(f"{name_of(generator)!r} cannot be called")
    return generator if inspect.isroutine(generator) else generator.__call__


def _seed_name(function: Callable[..., object]) -> str | None:
    return _seed_name_of(function.__func__ if isinstance(function, MethodType) else function)


@lru_cache(maxsize=256)
def _seed_name_of(function: Callable[..., object]) -> str | None:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    return next((name for name in SEED_PARAMETERS if name in parameters), None)
