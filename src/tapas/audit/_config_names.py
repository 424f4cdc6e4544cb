"""Names in an audit file, and the classes that they stand for."""

import ast
import difflib
import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tapas._spec import is_installed
from tapas._validate import listing
from tapas.audit._named_parameters import takes_objects
from tapas.audit._problems import Problems
from tapas.engine import guarded
from tapas.errors import ConfigError, TapasError

_BASES = {"attacks": "Attack", "generators": "Generator"}
_UNFINISHED = ("TrainableThresholdAttack",)  # to be subclassed, though not abstract


class Names:
    """Finds classes by name and makes objects of them.

    Parameters
    ----------
    folder : Path
        Where the audit file is: modules beside it can be used.
    where : str
        How messages call the file.
    """

    def __init__(self, folder: Path, where: str) -> None:
        self.folder = folder.resolve()
        self.where = where
        self.own_code: dict[str, str] = {}
        self.problems = Problems()

    def make(
        self,
        use: str,
        parameters: dict[str, Any],
        label: str | None,
        rooms: tuple[str, ...],
        key: str,
        *,
        parts: bool = False,
    ) -> Any:
        """An object of the class called `use`; `key` is where the file names it.

        With `parts`, what attacks and generators are made of (distances, features) can be named.
        """
        cls = self.find(use, rooms, key, parts=parts)
        arguments = {
            name: self._value(
                value, rooms, f"{key}.parameters.{name}", named=takes_objects(cls, name)
            )
            for name, value in parameters.items()
        }
        if label is not None and accepts(cls, "label"):
            arguments["label"] = label
        try:
            with guarded():
                return cls(**arguments)
        except TapasError as error:
            raise ConfigError(f"{self.where}: {key}: {error}") from error
        except Exception as error:
            raise ConfigError(
                f"{self.where}: {key}: {use} cannot be made: {type(error).__name__}: {error}"
            ) from error

    def find(self, use: str, rooms: tuple[str, ...], key: str, *, parts: bool = False) -> Any:
        """The class called `use`: a public name of one of the rooms, or ``module:Name``."""
        if ":" in use:
            return self._foreign(use, key)
        known = {name: room for room in rooms for name in usable_names((room,), parts=parts)}
        if use not in known:
            near = difflib.get_close_matches(use, known, n=1)
            hint = (
                f"did you mean {near[0]!r}?"
                if near
                else f"there are {listing(known)} (`tapas list`)."
            )
            raise ConfigError(
                f"{self.where}: {key}: there is no {use!r}; {hint} Your own class is written "
                f"package.module:Name"
            )
        return getattr(importlib.import_module(f"tapas.{known[use]}"), use)

    def _value(self, value: Any, rooms: tuple[str, ...], key: str, *, named: bool) -> Any:
        """A parameter: plain, or again something made by name; a word is one where `named`."""
        if named and isinstance(value, str):
            value = {"use": value}
        if isinstance(value, dict) and "use" in value and {*value} <= {"use", "parameters"}:
            inner = value.get("parameters") or {}
            if not isinstance(value["use"], str) or not isinstance(inner, dict):
                raise ConfigError(f"{self.where}: {key}: use is a name, parameters are keys")
            # An attack may be told the generator that it is after.
            beside = ("generators",) if rooms == ("attacks",) else ()
            return self.make(value["use"], inner, None, (*rooms, *beside), key, parts=True)
        if isinstance(value, list):
            return [
                self._value(item, rooms, f"{key}[{i}]", named=named) for i, item in enumerate(value)
            ]
        return value

    def _foreign(self, use: str, key: str) -> Any:
        module_name, _, name = use.partition(":")
        if str(self.folder) not in sys.path:
            sys.path.append(str(self.folder))  # behind installed modules: json.py hides no json
        try:
            with guarded():
                module = importlib.import_module(module_name)
        except Exception as error:
            raise ConfigError(
                f"{self.where}: {key}: {module_name} cannot be imported: "
                f"{type(error).__name__}: {error}"
            ) from error
        beside = self.folder.joinpath(*module_name.split(".")).with_suffix(".py")
        if beside.is_file() and _file_of(module) != beside:
            raise ConfigError(
                f"{self.where}: {key}: {beside.name} has the name of another module "
                f"({module_name}): rename it"
            )
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if not callable(found):
            raise ConfigError(f"{self.where}: {key}: {module_name} has no class {name!r}")
        self._remember(module)
        return found

    def _remember(self, module: ModuleType) -> None:
        """Code beside the audit file is part of the question, and travels to other machines."""
        file = _file_of(module)
        if file is None or not self._is_own(module.__name__, file):
            return
        import cloudpickle

        if module.__name__ in self.own_code:
            return
        cloudpickle.register_pickle_by_value(module)
        self.remember_file(module.__name__, file)
        for name in imported_names(file, module.__name__, module.__package__ or ""):
            used = sys.modules.get(name)
            beside = self.folder.joinpath(*name.split(".")).with_suffix(".py")
            if used is not None:
                self._remember(used)
            elif beside.is_file():  # to be imported when it is needed
                self.remember_file(name, beside)

    def _is_own(self, name: str, file: Path) -> bool:
        """Whether a module lies beside the audit file, rather than being installed there."""
        if name.split(".")[0] == "tapas" or is_installed(str(file)):
            return False
        return file.resolve().is_relative_to(self.folder)

    def remember_file(self, name: str, file: Path) -> None:
        """Make the content of a file part of the question."""
        self.own_code[name] = hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()


def imported_names(file: Path, module: str, package: str) -> list[str]:
    """Modules that a file imports anywhere, or may; packages that they lie in included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.rsplit(".", node.level - 1)[0] if node.level else ""
            start = ".".join(part for part in (base, node.module) if part)
            found.update([start, *(f"{start}.{alias.name}" for alias in node.names)])
    parents = {name.rsplit(".", depth)[0] for name in found for depth in range(name.count(".") + 1)}
    return sorted(found | parents - {"", module})


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return None if file is None else Path(file).resolve()


def usable_names(rooms: tuple[str, ...], *, parts: bool = False) -> list[str]:
    """Public names of the rooms that can be used in an audit file, or as parts in it."""
    names: list[str] = []
    for room in rooms:
        module = importlib.import_module(f"tapas.{room}")
        base = object if parts or room not in _BASES else getattr(module, _BASES[room])
        names += [name for name in module.__all__ if _is_usable(getattr(module, name), base)]
    return names


def _is_usable(thing: Any, base: type) -> bool:
    if not inspect.isclass(thing) or inspect.isabstract(thing):
        return False
    return issubclass(thing, base) and thing is not base and thing.__name__ not in _UNFINISHED


def accepts(cls: Any, parameter: str) -> bool:
    """Whether objects of a class are made with this parameter."""
    try:
        return parameter in inspect.signature(cls).parameters
    except (TypeError, ValueError):
        return False
