"""How values of the kinds that everybody uses are described."""

import itertools
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Protocol

import numpy as np

from tapas._spec._code import path_of
from tapas._spec._plain import Plain, as_text, digest_of


class Reader(Protocol):
    """Who describes what is inside."""

    def describe(self, value: object, where: str) -> Plain:
        """Anything."""

    def class_source(self, cls: type) -> str | None:
        """The code of a class."""

    def function(self, function: FunctionType, where: str) -> Plain:
        """A function."""

    def module(self, module: ModuleType) -> Plain:
        """A module."""


def _array(reader: Reader, value: np.ndarray, where: str) -> Plain:
    if value.dtype.hasobject:
        items = [reader.describe(item, where) for item in value.ravel().tolist()]
        return {"array": list(value.shape), "items": items}
    content = np.ascontiguousarray(value).tobytes()
    return {"array": list(value.shape), "dtype": str(value.dtype), "digest": digest_of(content)}


def _set(reader: Reader, value: set[object], where: str) -> Plain:
    return {"set": sorted((reader.describe(item, where) for item in value), key=as_text)}


def _mapping(reader: Reader, value: Mapping[object, object], where: str) -> Plain:
    def name(key: object) -> str:
        if type(key) is str:
            return key
        return f"{type(key).__name__} {as_text(reader.describe(key, where))}"

    return {name(key): reader.describe(item, f"{where}[{key!r}]") for key, item in value.items()}


def _sequence(reader: Reader, value: tuple[object, ...], where: str) -> Plain:
    return [reader.describe(item, f"{where}[{index}]") for index, item in enumerate(value)]


def _partial(reader: Reader, value: "partial[object]", where: str) -> Plain:
    parts = (value.func, value.args, value.keywords)
    return {"path": "functools.partial", "state": _sequence(reader, parts, where)}


def _method(reader: Reader, value: MethodType, where: str) -> Plain:
    return {
        "path": "method",
        "of": reader.describe(value.__self__, where),
        "function": reader.describe(value.__func__, where),
    }


def _builtin(reader: Reader, value: BuiltinFunctionType, where: str) -> Plain:
    described: dict[str, Plain] = {"path": f"{value.__module__}.{value.__qualname__}"}
    if not isinstance(value.__self__, ModuleType):
        described["of"] = reader.describe(value.__self__, where)
    return described


def _class(reader: Reader, value: type, where: str) -> Plain:
    return {"path": path_of(value), "source": reader.class_source(value)}


def _by_text(reader: Reader, value: object, where: str) -> Plain:
    return {"path": path_of(type(value)), "text": str(value)}


def _enum(reader: Reader, value: Enum, where: str) -> Plain:
    content = reader.describe(value.value, where)
    return {"path": path_of(type(value)), "name": value.name, "value": content}


Describe = Callable[..., Plain]

# A subclass may hold more than these do.
EXACTLY: dict[type, Describe] = {
    np.ndarray: _array,
    bytes: lambda reader, value, where: {"bytes": digest_of(value)},
    bytearray: lambda reader, value, where: {"bytes": digest_of(bytes(value))},
    complex: _by_text,
    slice: _by_text,
    range: _by_text,
    itertools.count: _by_text,  # which later Pythons do not pickle
    set: _set,
    frozenset: _set,
    dict: _mapping,
    MappingProxyType: _mapping,
    list: _sequence,
    tuple: _sequence,
    FunctionType: lambda reader, value, where: reader.function(value, where),
    BuiltinFunctionType: _builtin,
    MethodType: _method,
    partial: _partial,
}

KINDS: tuple[tuple[type | tuple[type, ...], Describe], ...] = (
    (Enum, _enum),
    ((np.datetime64, np.timedelta64), lambda r, value, where: [str(value.dtype), str(value)]),
    (np.generic, lambda reader, value, where: reader.describe(value.item(), where)),
    (np.random.Generator, lambda r, value, where: r.describe(value.bit_generator.state, where)),
    (np.random.RandomState, lambda r, value, where: r.describe(value.get_state(), where)),
    (PurePath, _by_text),
    (type, _class),
    (ModuleType, lambda reader, value, where: {"module": reader.module(value)}),
)
