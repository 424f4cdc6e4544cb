"""What is wrong in an audit file, in words that name file, line and key."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from tapas.audit._config_parts import Part
from tapas.audit._config_yaml import Document


def complaints(document: Document, errors: Sequence[Any], root: type[Part]) -> list[str]:
    """What pydantic found, with file, line and key; no two that are the same."""
    places = [tuple(_as_written(document.values, error["loc"])) for error in errors]
    unquoted = {
        place
        for place, error in zip(places, errors, strict=True)
        if error["type"] == "string_type" and isinstance(error.get("input"), _NOT_TEXT)
    }
    lines = []
    for location, error in zip(places, errors, strict=True):
        key = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in location).lstrip(".")
        if location in unquoted:
            words = _to_be_quoted(document, location, error["input"])
        elif error["type"] == "extra_forbidden":
            words = _unknown_key(error, root)
        else:
            words = _WORDS.get(error["type"], _pydantic_words)(error)
        lines.append(f"{document.place(location)}: {key + ': ' if key else ''}{words}")
    return list(dict.fromkeys(lines))


def _to_be_quoted(document: Document, location: tuple[int | str, ...], came: object) -> str:
    """That YAML takes an unquoted word, such as Yes, for something else than a text."""
    read = str(came).lower() if isinstance(came, bool) else f"a {type(came).__name__}"
    name = f"{location[-1]}: " if location and isinstance(location[-1], str) else ""
    text = document.text(location) or str(came)
    return f'YAML reads {text} as {read}; a text stands in quotes: {name}"{text}"'


def _as_written(values: Any, location: tuple[int | str, ...]) -> list[int | str]:
    """The path of a complaint without the steps that are not in the file."""
    kept: list[int | str] = []
    here = values
    for step in location:
        alone = isinstance(step, int) and isinstance(here, (dict, str))
        if _is_type_name(step) or alone:
            continue
        kept.append(step)
        if isinstance(here, dict):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        else:
            here = None
    return kept


def _is_type_name(step: int | str) -> bool:
    """Steps that pydantic adds where a value may have one of several types."""
    return isinstance(step, str) and ("[" in step or step in ("str", "int", "float"))


def _unknown_key(error: Any, root: type[Part]) -> str:
    known = ", ".join(sorted(_keys_at(error["loc"][:-1], root)))
    return f"unknown key; known here: {known}" if known else "unknown key"


def _keys_at(location: tuple[int | str, ...], root: type[Part]) -> list[str]:
    """Names of the keys that are allowed below a path."""
    part: Any = root
    for step in location:
        if isinstance(step, int) or _is_type_name(step):
            continue
        fields = {field.alias or name: field for name, field in part.model_fields.items()}
        if step not in fields:
            return []
        part = _part_within(fields[step].annotation)
        if part is None:
            return []
    return [field.alias or name for name, field in part.model_fields.items()]


def _part_within(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _part_within(inner)
        if found is not None:
            return found
    return None


def _pydantic_words(error: Any) -> str:
    words = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error" or isinstance(error.get("input"), (dict, list)):
        return words
    return f"{words}, got {_came(error)}"


def _came(error: Any) -> str:
    text = repr(error.get("input"))
    return text if len(text) <= 60 else text[:57] + "..."


_NOT_TEXT = (bool, date)  # what YAML makes of yes, no, on, off and 2020-01-01
_WORDS: dict[str, Callable[[Any], str]] = {
    "missing": lambda error: "this key is required",
    "model_type": lambda error: f"expected keys with values, got {_came(error)}",
    "list_type": lambda error: f"expected a list, got {_came(error)}",
}
