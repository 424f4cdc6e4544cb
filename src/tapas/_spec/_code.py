"""Code of the user's own: as it is written, with what it refers to."""

import dis
import importlib.util
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path, PurePath
from types import CodeType, FunctionType, ModuleType

import numpy as np

from tapas._spec._installed import is_installed
from tapas._spec._plain import Plain, digest_of

_CODE = (FunctionType, staticmethod, classmethod, property, cached_property, type, ModuleType)


@dataclass
class CodeReader(ABC):
    """Describes code, remembering what it is inside of and what it could not tell."""

    reads_code: bool = True
    doubts: list[str] = field(default_factory=list)
    _code: set[int] = field(default_factory=set)

    @abstractmethod
    def describe(self, value: object, where: str) -> Plain:
        """Anything, by value."""

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
        body: list[Plain] = [path_of(cls)]
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
            return [path_of(value), self.class_source(value)]
        if isinstance(value, FunctionType):
            return self.function(value, where)
        wrapped = getattr(value, "__wrapped__", None)
        if isinstance(wrapped, FunctionType):
            return [path_of(type(value)), self.function(wrapped, where)]
        if _is_own(type(value).__module__) and not _is_constant(value):
            return [path_of(type(value)), self.class_source(type(value))]
        return self.describe(value, where)

    def function(self, function: FunctionType, where: str) -> Plain:
        """A function by its code, defaults, what it closes over and own code that it names."""
        name = f"{function.__module__}.{function.__qualname__}"
        if not _is_own(function.__module__) or id(function.__code__) in self._code:
            return {"path": name}
        self._code.add(id(function.__code__))
        try:
            cells = [_content_of(cell) for cell in function.__closure__ or ()]
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
            for name in _names_in(function.__code__, "LOAD_GLOBAL", "LOAD_NAME")
            if name in known
        ]
        return used + [self._imported(name) for name in _names_in(function.__code__, "IMPORT_NAME")]

    def _imported(self, name: str) -> Plain:
        """A module that a function imports when it runs."""
        if name in sys.modules:
            return self.module(sys.modules[name])
        found = importlib.util.find_spec(name.partition(".")[0]) if name else None
        if found is None or found.origin is None or not found.has_location:
            return name
        if is_installed(found.origin):
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


def _is_constant(value: object) -> bool:
    """Whether it is a value, rather than an object with a life of its own."""
    plain = (bool, int, float, complex, str, bytes, tuple, list, dict, set, frozenset, np.ndarray)
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    return value is None or isinstance(value, (*plain, Enum, PurePath)) or bool(frozen)


def _is_own(module_name: str | None) -> bool:
    """Whether code is the user's own: neither Python's, nor an installed package's, nor ours."""
    # What is run as `__main__` may stand in a package (a debugger, a test runner), its code not.
    if module_name is None or module_name == "__main__":
        return True
    if module_name.partition(".")[0] in ("tapas", "builtins"):
        return False
    module = sys.modules.get(module_name)
    file = getattr(module, "__file__", None)
    if file is None:
        return module is None
    return not is_installed(file)


def path_of(thing: type) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _names_in(code: CodeType, *steps: str) -> list[str]:
    """Names that some steps of code use, its inner functions included."""
    used = {str(step.argval) for step in dis.get_instructions(code) if step.opname in steps}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            used.update(_names_in(constant, *steps))
    return sorted(used)


def _content_of(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:
        return None
