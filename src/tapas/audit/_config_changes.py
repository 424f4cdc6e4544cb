"""Changes to an audit file that are made where it is used: KEY=VALUE."""

from collections.abc import Mapping, Sequence
from typing import Any

from tapas.audit._config_yaml import plain_value
from tapas.errors import ConfigError

Keys = tuple[str, ...]


def changed_values(
    values: Mapping[str, Any], changes: Sequence[str], where: str
) -> tuple[dict[str, Any], dict[Keys, str]]:
    """The values of an audit file with changes made to them, and the change that set each key.

    A change is ``data.drop=[name]``: the path of a key, and its value as YAML. Keys on the way
    that are not there are made; a bare name (``generator: Raw``) becomes its ``use``.
    """
    found: dict[str, Any] = dict(values)
    made: dict[Keys, str] = {}
    for change in changes:
        path, equals, text = change.partition("=")
        keys = tuple(path.strip().split("."))
        if not equals or not all(keys):
            raise ConfigError(
                f"{where}: {change!r} changes nothing: write KEY=VALUE, such as "
                f"model.access=labels or data.drop=[name]"
            )
        found = _with(found, keys, plain_value(text, f"{where}: {path}"), f"{where}: {change!r}")
        made[keys] = change
    return found, made


def _with(values: Mapping[str, Any], keys: Keys, value: Any, where: str) -> dict[str, Any]:
    first, *rest = keys
    if not rest:
        return {**values, first: value}
    below = values.get(first)
    if isinstance(below, str):
        below = {"use": below}
    if not isinstance(below, Mapping | None):
        raise ConfigError(
            f"{where}: {first} is a list or a number here: give it a value as a whole"
        )
    return {**values, first: _with(below or {}, tuple(rest), value, where)}
