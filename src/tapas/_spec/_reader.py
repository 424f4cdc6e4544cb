"""Anything, by value."""

import copyreg
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import Protocol, TypeGuard

import numpy as np

from tapas._spec._code import CodeReader, path_of
from tapas._spec._foreign import FOREIGN
from tapas._spec._kinds import EXACTLY, KINDS
from tapas._spec._plain import Plain

_RESERVED = ("path", "source")


class SpecifiesItself(Protocol):
    """Says in plain values what matters about it; may hold other things, which are described."""

    def __spec__(self) -> Mapping[str, object]:
        """What tells this thing from others of its class."""


@dataclass
class ValueReader(CodeReader):
    """Describes things by value, remembering what it is inside of and what it could not tell."""

    _open: dict[int, int] = field(default_factory=dict)

    def describe(self, value: object, where: str) -> Plain:
        if value is None or type(value) in (bool, int, str):
            return value  # type: ignore[return-value]
        if type(value) is float:
            return value if np.isfinite(value) else {"float": str(value)}
        if id(value) in self._open:
            return {"inside": self._open[id(value)]}
        self._open[id(value)] = len(self._open)
        try:
            return self._described(value, where)
        finally:
            del self._open[id(value)]

    def _described(self, value: object, where: str) -> Plain:
        kind = type(value)
        if _specifies_itself(value):
            return self._object(value, value.__spec__(), where)
        if kind in EXACTLY:
            return EXACTLY[kind](self, value, where)
        for kinds, describe in KINDS:
            if isinstance(value, kinds):
                return describe(self, value, where)
        package = kind.__module__.partition(".")[0]
        found = FOREIGN[package](self, value, where) if package in FOREIGN else None
        return self._instance(value, where) if found is None else found

    def _object(self, value: object, state: Mapping[str, object], where: str) -> Plain:
        described: dict[str, Plain] = {"path": path_of(type(value))}
        if source := self.class_source(type(value)):
            described["source"] = source
        for name, item in state.items():
            known = f"self.{name}" if name in _RESERVED else name
            described[known] = self.describe(item, f"{where}.{name}")
        return described

    def _instance(self, value: object, where: str) -> Plain:
        kind = type(value)
        if _is_its_attributes(kind):
            return self._object(value, attributes_of(value), where)
        try:
            reduce = copyreg.dispatch_table.get(kind)
            made = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception:
            self.doubts.append(f"{where} is a {path_of(kind)}, which cannot be compared")
            # Whether it is the same object can still be told of an object that lives.
            return {"path": path_of(kind), **({} if self.reads_code else {"id": id(value)})}
        parts = made[1:] if isinstance(made, tuple) else (made,)
        return self._object(value, {"state": [_listed(part) for part in parts]}, where)


def _specifies_itself(value: object) -> TypeGuard[SpecifiesItself]:
    return callable(getattr(type(value), "__spec__", None))


def _listed(part: object) -> object:
    """Iterators of a reduced object as lists."""
    return list(part) if isinstance(part, Iterator) else part


def attributes_of(thing: object) -> dict[str, object]:
    """Attributes of an instance, from its dictionary and its slots; not what follows from them."""
    kind = type(thing)
    found = dict(getattr(thing, "__dict__", {}))
    for ancestor in kind.__mro__:
        slots = vars(ancestor).get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            private = slot.startswith("__") and not slot.endswith("__")
            name = f"_{ancestor.__name__.lstrip('_')}{slot}" if private else slot
            if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                found[name] = getattr(thing, name)
    return {name: value for name, value in found.items() if not _is_derived(kind, name)}


def _is_derived(cls: type, name: str) -> bool:
    """Whether the class says how an attribute follows from others."""
    for ancestor in cls.__mro__:
        if name in ancestor.__dict__:
            return isinstance(ancestor.__dict__[name], cached_property)
    return False


def _is_its_attributes(cls: type) -> bool:
    """Whether instances are told by their attributes, rather than by how they are pickled."""
    if cls in copyreg.dispatch_table or cls.__reduce_ex__ is not object.__reduce_ex__:
        return False
    return cls.__reduce__ is object.__reduce__ and not _holds_compiled_parts(cls)


@lru_cache(maxsize=1024)
def _holds_compiled_parts(cls: type) -> bool:
    compiled = (MethodDescriptorType, WrapperDescriptorType, GetSetDescriptorType)
    return any(
        isinstance(member, compiled) and name not in ("__dict__", "__weakref__")
        for ancestor in cls.__mro__
        if ancestor is not object
        for name, member in vars(ancestor).items()
    )
