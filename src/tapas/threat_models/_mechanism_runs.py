"""Run a mechanism once: on a copy, with a seed of its own."""

import asyncio
import copy
import inspect
import threading
import warnings
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tapas._random import integer_seed, seeded_globals
from tapas.errors import ReproducibilityWarning
from tapas.generators import Generator

SEED_PARAMETERS = ("random_state", "seed")


@dataclass(frozen=True)
class MechanismRun:
    """One run: its output (perhaps still to be awaited) and the fitted copy it came from."""

    output: Any
    fitted: Any


def run_mechanism(
    generator: Any,
    dataset: Any,
    num_samples: int | None,
    parameters: dict[str, Any],
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
            call = mechanism if inspect.isroutine(mechanism) else mechanism.__call__
            seed = {**seed_argument(call, rng), **parameters}
            output = mechanism(dataset, num_samples, **seed)
        return MechanismRun(finished(output) if seed_globals else output, mechanism)


def globals_for(seed: int, seed_globals: bool) -> AbstractContextManager[None]:
    """Seeded global generators, except where other threads would see them."""
    return seeded_globals(seed) if seed_globals else nullcontext()


def own_copy(generator: Any) -> Any:
    """A copy whose training cannot touch the original."""
    try:
        return copy.deepcopy(generator)
    except Exception as error:
        warnings.warn(
            f"{getattr(generator, 'label', type(generator).__name__)!r} cannot be copied whole "
            f"({error}), so what one run changes inside it may reach the next: make it anew in fit",
            ReproducibilityWarning,
            stacklevel=2,
        )
        return copy.copy(generator)


def uses_documented_call(generator: Any) -> bool:
    """Whether calling it means: fit, then generate."""
    if not callable(generator):
        return True
    return isinstance(generator, Generator) and type(generator).__call__ is Generator.__call__


def accepts_seed(generator: Any) -> bool:
    """Whether all that is random in the mechanism can be steered by arguments.

    A `fit` without a seed may draw from the global generators; only our own are known not to.
    """
    if uses_documented_call(generator):
        own = type(generator).__module__.partition(".")[0] == "tapas"
        return bool(_seed_name(generator.generate)) and (own or bool(_seed_name(generator.fit)))
    return bool(_seed_name(generator.__call__ if not inspect.isroutine(generator) else generator))


def is_coroutine_mechanism(generator: Any) -> bool:
    """Whether running the mechanism gives something to await."""
    call = generator if inspect.isroutine(generator) else getattr(generator, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(generator, "generate", None)
    )


def seed_argument(function: Callable[..., Any], rng: np.random.Generator) -> dict[str, int]:
    """``{name: seed}`` if the function names a seed parameter, else nothing."""
    seed = integer_seed(rng)
    name = _seed_name(function)
    return {name: seed} if name else {}


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on a loop of our own, also where a loop is already running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: dict[str, Any] = {}

    def in_thread() -> None:
        try:
            outcome["value"] = asyncio.run(coroutine)
        except BaseException as error:
            outcome["error"] = error

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def finished(output: Any) -> Any:
    """The output itself; where it is a coroutine, what that returns."""
    return run_coroutine(output) if inspect.iscoroutine(output) else output


def _seed_name(function: Callable[..., Any]) -> str | None:
    return _seed_name_of(getattr(function, "__func__", function))


@lru_cache(maxsize=256)
def _seed_name_of(function: Callable[..., Any]) -> str | None:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    return next((name for name in SEED_PARAMETERS if name in parameters), None)
