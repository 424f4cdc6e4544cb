"""Read YAML that strangers may have written: small, plain, without references."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from tapas.errors import ConfigError

LARGEST_FILE = 1_000_000  # bytes
DEEPEST = 20


class Document:
    """A YAML file as plain values, which knows on which line each of them stands.

    Attributes
    ----------
    path : Path
    values : dict
    changes : mapping
        Changes to them that were made elsewhere, by the keys that they set.
    """

    changes: Mapping[tuple[str, ...], str] = MappingProxyType({})

    def __init__(self, path: Path) -> None:
        self.path = path
        self._root, values = _parsed(_read(path), str(path))
        self.values = {} if self._root is None else values
        if not isinstance(self.values, dict):
            raise ConfigError(
                f"{path}: an audit file holds keys with values (title: ..., data: ...), got "
                f"{type(self.values).__name__}"
            )

    def place(self, location: Sequence[int | str]) -> str:
        """File and line of the value at a path of keys, or of the nearest one above it.

        Of a value that was changed, the file and the change.
        """
        for keys, change in self.changes.items():
            if tuple(location[: len(keys)]) == keys:
                return f"{self.path} with {change}"
        node = self._nearest(location)
        return f"{self.path}:{1 if node is None else node.start_mark.line + 1}"

    def text(self, location: Sequence[int | str]) -> str | None:
        """A single value at a path of keys as it is written; None where it is part of a change."""
        for keys, change in self.changes.items():
            if tuple(location[: len(keys)]) == keys:
                return change.partition("=")[2] if len(keys) == len(location) else None
        return str(self._nearest(location).value)

    def _nearest(self, location: Sequence[int | str]) -> Any:
        """The part of the tree at a path of keys, or the nearest one above it."""
        node = self._root
        for step in location:
            below = _child(node, step)
            if below is None:
                break
            node = below
        return node


class _RefusedError(Exception):
    """The text is YAML, but of a kind that is not read."""


class _PlainLoader(yaml.SafeLoader):
    """Refuses references (which can grow without limit), repeated keys and deep nesting."""

    _depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            line = self.peek_event().start_mark.line + 1
            raise _RefusedError(f"line {line}: references (*name) are not read: write it out")
        self._depth += 1
        if self._depth > DEEPEST:
            raise _RefusedError(f"more than {DEEPEST} levels are nested: that is no audit file")
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key, str) and key in seen:
                line = key_node.start_mark.line + 1
                raise _RefusedError(f"line {line}: the key {key!r} occurs twice")
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep)


def plain_value(text: str, where: str) -> Any:
    """One value that is written as YAML; errors begin with `where`."""
    return _parsed(text, where)[1]


def _parsed(text: str, where: str) -> tuple[Any, Any]:
    """The tree of a text, and what it says."""
    try:
        loader = _PlainLoader(text)
        root = loader.get_single_node()
        return root, None if root is None else loader.construct_document(root)
    except _RefusedError as error:
        raise ConfigError(f"{where}: {error}") from None
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        words = " ".join(str(part) for part in (error.context, error.problem) if part)
        raise ConfigError(f"{where}{line}: not valid YAML: {words}") from None
    except (yaml.YAMLError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ConfigError(f"{where}: not valid YAML: {first}") from None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(content) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than {LARGEST_FILE:,} bytes: that is no audit file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text: {error.reason}") from None


def _child(node: Any, step: int | str) -> Any:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None
