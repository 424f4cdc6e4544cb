"""Which parameters of a class are objects, so that a word can only be a name."""

import inspect
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin


def takes_objects(cls: Any, parameter: str) -> bool:
    """Whether a parameter is declared to be one or more objects of `tapas`, and no text."""
    try:
        declared = inspect.signature(cls).parameters[parameter].annotation
    except (KeyError, TypeError, ValueError):
        return False
    kinds = list(_kinds(declared))
    return str not in kinds and any(_is_of_tapas(kind) for kind in kinds)


def _kinds(declared: Any) -> Iterator[Any]:
    if get_origin(declared) is Literal:
        yield from map(type, get_args(declared))
    elif get_args(declared):
        for part in get_args(declared):
            yield from _kinds(part)
    else:
        yield declared


def _is_of_tapas(kind: Any) -> bool:
    return inspect.isclass(kind) and kind.__module__.split(".")[0] == "tapas"
