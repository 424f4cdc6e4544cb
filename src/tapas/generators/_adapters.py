"""Wrap any Python synthesiser: an object, a class or a function."""

import inspect
from collections.abc import Callable
from typing import Any, Protocol

import pandas as pd

from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.generators._foreign import (
    ForeignGenerator,
    frame_of,
    independent,
    reseed,
    seed_argument,
)

SAMPLING_METHODS = ("sample", "generate")


class Synthesiser(Protocol):
    """What has ``fit(frame)``; it must also have ``sample(n)`` or ``generate(n)``."""

    @property
    def fit(self) -> Callable[..., object]:
        """Learn from a data frame."""


class GeneratorFromObject(ForeignGenerator):
    """Audits an object with ``fit(frame)`` and ``sample(n)`` or ``generate(n)``.

    Every fit works on a copy of the object as it was given. A ``random_state`` or ``seed``
    parameter of either method receives a different number in each run of an audit; so does the
    object's ``set_random_state`` method, or else its ``random_state`` or ``seed`` attribute:
    a seed kept from run to run would make all releases alike.

    Parameters
    ----------
    model : object
        Not yet fitted. What it samples may be a data frame, an array with the columns in order,
        a dict of one data frame, or something with ``dataframe()`` or ``to_pandas()``.
    label : str, optional
        Display name; the object's class by default.
    fit_arguments : dict, optional
        Further arguments of the object's ``fit``.
    repair : bool
        Round and clip numbers that break the schema, instead of refusing the release.
    """

    def __init__(
        self,
        model: Synthesiser,
        label: str | None = None,
        *,
        fit_arguments: dict[str, Any] | None = None,
        repair: bool = False,
    ) -> None:
        if isinstance(model, type):
            raise ConfigError(
                f"GeneratorFromObject wraps an object, got the class {model.__name__}: use "
                f"GeneratorFromClass({model.__name__}, ...)"
            )
        check_synthesiser(model)
        super().__init__(label or type(model).__name__, repair=repair)
        self.model = model
        self.fit_arguments = dict(fit_arguments or {})

    def _train(self, dataset: TabularDataset, seed: int | None) -> Synthesiser:
        return _fitted(independent(self.model), dataset, self.fit_arguments, seed)

    def _sample(self, num_samples: int, seed: int | None) -> object:
        return _sampled(self.fitted_, num_samples, seed)


class GeneratorFromClass(ForeignGenerator):
    """Audits a class whose objects have ``fit(frame)`` and ``sample(n)`` or ``generate(n)``.

    A new object is made for each fit, with a seed where the class has a ``random_state`` or
    ``seed`` parameter that is not given here. For the rest see `GeneratorFromObject`.

    Parameters
    ----------
    model_class : type or callable
    label : str, optional
        Display name; the class and its arguments by default.
    fit_arguments : dict, optional
        Further arguments of ``fit``.
    repair : bool
    **arguments
        Arguments of the class.
    """

    def __init__(
        self,
        model_class: Callable[..., Any],
        label: str | None = None,
        *,
        fit_arguments: dict[str, Any] | None = None,
        repair: bool = False,
        **arguments: object,
    ) -> None:
        if not callable(model_class):
            raise ConfigError(f"model_class must be a class, got {model_class!r}")
        if isinstance(model_class, type):
            check_synthesiser(model_class)
        name = getattr(model_class, "__name__", type(model_class).__name__)
        super().__init__(label or described_call(name, arguments), repair=repair)
        self.model_class = model_class
        self.fit_arguments = dict(fit_arguments or {})
        self.arguments = arguments

    def _train(self, dataset: TabularDataset, seed: int | None) -> Synthesiser:
        model = self.model_class(**{**seed_argument(self.model_class, seed), **self.arguments})
        check_synthesiser(model)
        return _fitted(model, dataset, self.fit_arguments, seed)

    def _sample(self, num_samples: int, seed: int | None) -> object:
        return _sampled(self.fitted_, num_samples, seed)


class GeneratorFromFunction(ForeignGenerator):
    """Audits a function ``(frame, n, seed) -> frame`` that fits and samples in one go.

    Parameters
    ----------
    function : callable
        Called with a data frame, the number of records and, if it names a parameter ``seed`` or
        ``random_state`` (or takes three positional arguments), a number that differs in each run.
    label : str, optional
        Display name; the function's by default.
    repair : bool
        Round and clip numbers that break the schema, instead of refusing the release.
    """

    def __init__(
        self, function: Callable[..., Any], label: str | None = None, *, repair: bool = False
    ) -> None:
        if not callable(function):
            raise ConfigError(f"function must be callable as (frame, n, seed), got {function!r}")
        name = getattr(function, "__name__", type(function).__name__)
        super().__init__(label or name, repair=repair)
        self.function = function

    def _train(self, dataset: TabularDataset, seed: int | None) -> pd.DataFrame:
        return frame_of(dataset)

    def _sample(self, num_samples: int, seed: int | None) -> object:
        named = seed_argument(self.function, seed)
        positional = () if named or not _takes_three(self.function) else (seed,)
        return self.function(self.fitted_.copy(), num_samples, *positional, **named)


def check_synthesiser(model: object) -> None:
    """Refuse what has no ``fit``, or no ``sample`` and no ``generate``."""
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    has_fit = callable(getattr(model, "fit", None))
    if not has_fit or not any(callable(getattr(model, m, None)) for m in SAMPLING_METHODS):
        raise ConfigError(
            f"{name} must have the methods fit(frame) and sample(n) or generate(n); "
            f"wrap other shapes with GeneratorFromFunction"
        )


def described_call(name: str, arguments: dict[str, Any]) -> str:
    """``Name(key=value, ...)`` as a label."""
    inside = ", ".join(f"{key}={value}" for key, value in arguments.items())
    return f"{name}({inside})" if inside else name


def _fitted(
    model: Synthesiser, dataset: TabularDataset, arguments: dict[str, Any], seed: int | None
) -> Synthesiser:
    reseed(model, seed)
    model.fit(frame_of(dataset), **{**seed_argument(model.fit, seed), **arguments})
    return model


def _sampled(model: Synthesiser, num_samples: int, seed: int | None) -> object:
    reseed(model, seed)
    name = next(name for name in SAMPLING_METHODS if callable(getattr(model, name, None)))
    method = getattr(model, name)
    return method(num_samples, **seed_argument(method, seed))


def _takes_three(function: Callable[..., Any]) -> bool:
    """Whether a third argument is asked for; one with a default is an option, not the seed."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return (
        len(parameters) >= 3
        and parameters[2].kind in by_position
        and parameters[2].default is inspect.Parameter.empty
    )
