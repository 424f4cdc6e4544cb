"""What a thing is, by value: two things with equal specs do the same.

A spec may only err towards "different". What cannot be compared with certainty is listed as a
doubt, and whoever keeps work under a spec does not reuse it then.
"""

import copyreg
import dis
import hashlib
import importlib.util
import itertools
import json
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache, partial
from pathlib import Path, PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Protocol, TypeGuard

import numpy as np

__all__ = [
    "Plain",
    "Spec",
    "SpecifiesItself",
    "attributes_of",
    "differences",
    "digest_of",
    "spec_of",
]

Plain = None | bool | int | float | str | list["Plain"] | dict[str, "Plain"]

_INSTALLED = tuple(
    {
        Path(sysconfig.get_paths()[key]).resolve()
        for key in ("stdlib", "platstdlib", "purelib", "platlib")
    }
)
_CODE = (FunctionType, staticmethod, classmethod, property, cached_property, type, ModuleType)
_RESERVED = ("path", "source")


class SpecifiesItself(Protocol):
    """Says in plain values what matters about it; may hold other things, which are described."""

    def __spec__(self) -> Mapping[str, object]:
        """What tells this thing from others of its class."""


@dataclass(frozen=True)
class Spec:
    """Identity of a thing.

    Attributes
    ----------
    path : str
        Import path of its class, or of the function that it is.
    arguments : mapping
        What it is made of, as plain values; data by digest.
    source : str or None
        Digest of its code, where that is no installed package's.
    doubts : tuple of str
        Parts that cannot be compared.
    """

    path: str
    arguments: Mapping[str, Plain]
    source: str | None = None
    doubts: tuple[str, ...] = ()

    def plain(self) -> dict[str, Plain]:
        """The spec as JSON values."""
        code = {} if self.source is None else {"source": self.source}
        return {"path": self.path, **code, **self.arguments}

    @cached_property
    def digest(self) -> str:
        """Equal for equal specs."""
        return digest_of(self.plain())


def spec_of(thing: object, *, code: bool = True) -> Spec:
    """The spec of a thing as it is now.

    Without `code`, what it is made of counts, but not how its classes are written or what its
    functions refer to: enough to tell whether one and the same object has changed.
    """
    reader = _Reader(reads_code=code)
    try:
        described = reader.describe(thing, "it")
    except RecursionError:
        reader.doubts.append("it is too deep to be compared")
        described = None
    if not isinstance(described, dict) or "path" not in described:
        described = {"path": _path(type(thing)), "value": described}
    path, source = described.pop("path"), described.pop("source", None)
    return Spec(str(path), described, None if source is None else str(source), tuple(reader.doubts))


def digest_of(value: Plain | bytes) -> str:
    """Digest of plain values or bytes."""
    content = value if isinstance(value, bytes) else _text(value).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def differences(stored: Plain, asked: Plain, path: str = "") -> list[str]:
    """Where two trees of plain values differ, one line each."""
    if isinstance(stored, dict) and isinstance(asked, dict):
        keys = sorted({*stored, *asked})
        pairs = [
            (f"{path}.{key}" if path else key, stored.get(key), asked.get(key)) for key in keys
        ]
    elif isinstance(stored, list) and isinstance(asked, list) and len(stored) == len(asked):
        pairs = [
            (f"{path}[{position}]", left, right)
            for position, (left, right) in enumerate(zip(stored, asked, strict=True))
        ]
    elif stored == asked:
        return []
    else:
        return [f"{path}: stored {_short(stored)}, asked {_short(asked)}"]
    return [line for below, left, right in pairs for line in differences(left, right, below)]


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


def _specifies_itself(value: object) -> TypeGuard[SpecifiesItself]:
    return callable(getattr(type(value), "__spec__", None))


@dataclass
class _Reader:
    """Describes things by value, remembering what it is inside of and what it could not tell."""

    reads_code: bool = True
    doubts: list[str] = field(default_factory=list)
    _open: dict[int, int] = field(default_factory=dict)
    _code: set[int] = field(default_factory=set)

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
        if kind in _EXACTLY:
            return _EXACTLY[kind](self, value, where)
        for kinds, describe in _KINDS:
            if isinstance(value, kinds):
                return describe(self, value, where)
        package = kind.__module__.partition(".")[0]
        found = _FOREIGN[package](self, value, where) if package in _FOREIGN else None
        return self._instance(value, where) if found is None else found

    def _object(self, value: object, state: Mapping[str, object], where: str) -> Plain:
        described: dict[str, Plain] = {"path": _path(type(value))}
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
            self.doubts.append(f"{where} is a {_path(kind)}, which cannot be compared")
            # Whether it is the same object can still be told of an object that lives.
            return {"path": _path(kind), **({} if self.reads_code else {"id": id(value)})}
        parts = made[1:] if isinstance(made, tuple) else (made,)
        return self._object(value, {"state": [_listed(part) for part in parts]}, where)

    # -- code --------------------------------------------------------------------------------

    def class_source(self, cls: type) -> str | None:
        """Digest of what a class and its ancestors define in code of the user's own."""
        own = [ancestor for ancestor in cls.__mro__ if _is_own(ancestor.__module__)]
        if not own or id(cls) in self._code or not self.reads_code:
            return None
        self._code.add(id(cls))
        try:
            return digest_of([self._class_body(ancestor) for ancestor in own])
        finally:
            self._code.discard(id(cls))

    def _class_body(self, cls: type) -> Plain:
        body: list[Plain] = [_path(cls)]
        for name, member in sorted(vars(cls).items()):
            bookkeeping = name.startswith("__") and not isinstance(member, _CODE)
            if name == "_abc_impl" or (bookkeeping and name.endswith("__")):
                continue
            body.append([name, self._referred(member, f"{cls.__qualname__}.{name}")])
        return body

    def _referred(self, value: object, where: str) -> Plain:
        """What code names or a class holds: code as it is written, values by value.

        Objects of the user's own classes that may change are known by their class.
        """
        if isinstance(value, property):
            return [self._referred(part, where) for part in (value.fget, value.fset)]
        if isinstance(value, cached_property):
            return self._referred(value.func, where)
        if isinstance(value, ModuleType):
            return self.module(value)
        if isinstance(value, type):
            return [_path(value), self.class_source(value)]
        if isinstance(value, FunctionType):
            return self.function(value, where)
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            return [_path(type(value)), self.function(wrapped, where)]
        if _is_own(type(value).__module__) and not _is_constant(value):
            return [_path(type(value)), self.class_source(type(value))]
        return self.describe(value, where)

    def function(self, function: FunctionType, where: str) -> Plain:
        """A function by its code, defaults, what it closes over and own code that it names."""
        name = f"{function.__module__}.{function.__qualname__}"
        if not _is_own(function.__module__) or id(function.__code__) in self._code:
            return {"path": name}
        self._code.add(id(function.__code__))
        try:
            cells = [_cell(cell) for cell in function.__closure__ or ()]
            inside: list[Plain] = [
                self._code_of(function.__code__, where),
                self.describe(function.__defaults__, where),
                self.describe(function.__kwdefaults__, where),
                [self._closed_over(cell, where) for cell in cells],
            ]
            if self.reads_code:
                inside.append(self._names_used(function, where))
        finally:
            self._code.discard(id(function.__code__))
        return {"path": name, "source": digest_of(inside)}

    def _closed_over(self, value: object, where: str) -> Plain:
        return (
            self._referred(value, where)
            if isinstance(value, _CODE)
            else self.describe(value, where)
        )

    def _code_of(self, code: CodeType, where: str) -> Plain:
        constants: list[Plain] = [
            self._code_of(constant, where)
            if isinstance(constant, CodeType)
            else self.describe(constant, where)
            for constant in code.co_consts
        ]
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (*code.co_names, *code.co_varnames, *code.co_freevars)
        steps = digest_of(code.co_code + code.co_exceptiontable)
        return [steps, constants, list(names), list(counts)]

    def _names_used(self, function: FunctionType, where: str) -> Plain:
        known = function.__globals__
        used: list[Plain] = [
            [name, self._referred(known[name], f"{where}.{name}")]
            for name in _names(function.__code__, "LOAD_GLOBAL", "LOAD_NAME")
            if name in known
        ]
        return used + [self._imported(name) for name in _names(function.__code__, "IMPORT_NAME")]

    def _imported(self, name: str) -> Plain:
        """A module that a function imports when it runs."""
        if name in sys.modules:
            return self.module(sys.modules[name])
        found = importlib.util.find_spec(name.partition(".")[0]) if name else None
        if found is None or found.origin is None or not found.has_location:
            return name
        if _is_installed(found.origin):
            return name
        if "." in name:
            self.doubts.append(f"module {name} is not imported yet")
        return [name, self._file(found.origin)]

    def module(self, module: ModuleType) -> Plain:
        """An own module by its file, its values and the own modules that it uses."""
        name, file = module.__name__, getattr(module, "__file__", None)
        if not _is_own(name) or file is None or id(module) in self._code:
            return name
        self._code.add(id(module))
        held = [(key, vars(module)[key]) for key in sorted(vars(module)) if key[:2] != "__"]
        return [
            name,
            self._file(file),
            [[key, self.describe(value, key)] for key, value in held if _is_constant(value)],
            [self.module(other) for _, other in held if isinstance(other, ModuleType)],
        ]

    def _file(self, file: str) -> Plain:
        try:
            return digest_of(Path(file).read_bytes())
        except OSError:
            self.doubts.append(f"the module {file} cannot be read")
            return None


def _array(reader: _Reader, value: np.ndarray, where: str) -> Plain:
    if value.dtype.hasobject:
        items = [reader.describe(item, where) for item in value.ravel().tolist()]
        return {"array": list(value.shape), "items": items}
    content = np.ascontiguousarray(value).tobytes()
    return {"array": list(value.shape), "dtype": str(value.dtype), "digest": digest_of(content)}


def _set(reader: _Reader, value: set[object], where: str) -> Plain:
    return {"set": sorted((reader.describe(item, where) for item in value), key=_text)}


def _mapping(reader: _Reader, value: Mapping[object, object], where: str) -> Plain:
    def name(key: object) -> str:
        if type(key) is str:
            return key
        return f"{type(key).__name__} {_text(reader.describe(key, where))}"

    return {name(key): reader.describe(item, f"{where}[{key!r}]") for key, item in value.items()}


def _sequence(reader: _Reader, value: tuple[object, ...], where: str) -> Plain:
    return [reader.describe(item, f"{where}[{index}]") for index, item in enumerate(value)]


def _partial(reader: _Reader, value: "partial[object]", where: str) -> Plain:
    parts = (value.func, value.args, value.keywords)
    return {"path": "functools.partial", "state": _sequence(reader, parts, where)}


def _method(reader: _Reader, value: MethodType, where: str) -> Plain:
    return {
        "path": "method",
        "of": reader.describe(value.__self__, where),
        "function": reader.describe(value.__func__, where),
    }


def _builtin(reader: _Reader, value: BuiltinFunctionType, where: str) -> Plain:
    described: dict[str, Plain] = {"path": f"{value.__module__}.{value.__qualname__}"}
    if not isinstance(value.__self__, ModuleType):
        described["of"] = reader.describe(value.__self__, where)
    return described


def _class(reader: _Reader, value: type, where: str) -> Plain:
    return {"path": _path(value), "source": reader.class_source(value)}


def _by_text(reader: _Reader, value: object, where: str) -> Plain:
    return {"path": _path(type(value)), "text": str(value)}


def _enum(reader: _Reader, value: Enum, where: str) -> Plain:
    content = reader.describe(value.value, where)
    return {"path": _path(type(value)), "name": value.name, "value": content}


Describe = Callable[..., Plain]

# A subclass may hold more than these do.
_EXACTLY: dict[type, Describe] = {
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

_KINDS: tuple[tuple[type | tuple[type, ...], Describe], ...] = (
    (Enum, _enum),
    ((np.datetime64, np.timedelta64), lambda r, value, where: [str(value.dtype), str(value)]),
    (np.generic, lambda reader, value, where: reader.describe(value.item(), where)),
    (np.random.Generator, lambda r, value, where: r.describe(value.bit_generator.state, where)),
    (np.random.RandomState, lambda r, value, where: r.describe(value.get_state(), where)),
    (PurePath, _by_text),
    (type, _class),
    (ModuleType, lambda reader, value, where: {"module": reader.module(value)}),
)


def _pandas(reader: _Reader, value: object, where: str) -> Plain:
    """A frame, series or index by its content; None for other things of pandas."""
    import pandas as pd

    kind, names = _path(type(value)), [getattr(value, "name", None)]
    if isinstance(value, pd.Index):
        value = value.to_series()
    if not isinstance(value, (pd.DataFrame, pd.Series)):
        return None
    columns = [value] if isinstance(value, pd.Series) else [c for _, c in value.items()]
    if isinstance(value, pd.DataFrame):
        names = [*value.columns]
    content = [_column(reader, column, where) for column in (*columns, value.index.to_series())]
    return {"path": kind, "names": reader.describe(names, where), "columns": content}


def _column(reader: _Reader, column: object, where: str) -> Plain:
    """Type and digest of the values of a series."""
    import pandas as pd

    if not isinstance(column, pd.Series):
        return None
    kind: object = str(column.dtype)
    if isinstance(column.dtype, pd.CategoricalDtype):
        kind = [list(column.dtype.categories), column.dtype.ordered]
    if column.dtype == object and pd.api.types.infer_dtype(column) != "string":
        return [str(column.dtype), reader.describe(column.tolist(), where)]
    hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
    return [reader.describe(kind, where), digest_of(hashes.tobytes())]


def _torch(reader: _Reader, value: object, where: str) -> Plain:
    """A dense tensor by its content; None for other things of torch."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    content = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
    shape: list[Plain] = [*value.shape]
    return {"tensor": shape, "dtype": str(value.dtype), "digest": digest_of(content.tobytes())}


_FOREIGN: dict[str, Describe] = {"pandas": _pandas, "torch": _torch}


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


def _is_constant(value: object) -> bool:
    """Whether it is a value, rather than an object with a life of its own."""
    plain = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray)
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    return value is None or isinstance(value, (*plain, Enum, PurePath)) or bool(frozen)


def _listed(part: object) -> object:
    """Iterators of a reduced object as lists."""
    return list(part) if isinstance(part, Iterator) else part


def _names(code: CodeType, *steps: str) -> list[str]:
    """Names that some steps of code use, its inner functions included."""
    used = {str(step.argval) for step in dis.get_instructions(code) if step.opname in steps}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            used.update(_names(constant, *steps))
    return sorted(used)


def _cell(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:
        return None


def _is_own(module_name: str | None) -> bool:
    """Whether code is the user's own: neither Python's, nor an installed package's, nor ours."""
    if module_name is None:
        return True
    if module_name.partition(".")[0] in ("tapas", "builtins"):
        return False
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    if file is None:
        return module_name == "__main__" or module is None
    return not _is_installed(file)


@lru_cache(maxsize=4096)
def _is_installed(file: str) -> bool:
    place = Path(file).resolve()
    return any(place.is_relative_to(root) for root in _INSTALLED)


def _path(thing: type) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _text(value: Plain) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _short(value: Plain) -> str:
    text = json.dumps(value) if value is not None else "nothing"
    return text if len(text) <= 80 else text[:77] + "..."
