"""Summaries on disk as JSON and Parquet; nothing is ever unpickled."""

import importlib
import io
import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tapas._files import read_json, write_bytes
from tapas._spec import Plain
from tapas.errors import StoreError, TapasError
from tapas.stats import Dependence

__all__ = [
    "as_plain_list",
    "checked",
    "find_class",
    "from_dict",
    "from_json",
    "from_parquet",
    "to_dict",
    "to_parquet",
]

FORMAT = "tapas-summary"
VERSION = 2
_READABLE = (1, VERSION)
_KEY = FORMAT.encode()
_Kind = TypeVar("_Kind")
_TRIALS = ("labels", "predictions", "scores", "groups", "inputs_alone")


def to_dict(kind: str, fields: dict[str, Any]) -> dict[str, Plain]:
    """A summary's fields as plain values; NaN and infinities become strings."""
    plain: dict[str, Plain] = {name: _plain(value) for name, value in fields.items()}
    return {"format": FORMAT, "version": VERSION, "kind": kind, "fields": plain}


def from_dict(content: object, where: str) -> tuple[str, dict[str, Any]]:
    """A class name and constructor arguments from what `to_dict` made."""
    kind, version, fields = _checked(content, where)
    for name in ("scores", "inputs_alone"):
        if fields.get(name) is not None:
            fields[name] = np.array(fields[name], dtype=np.float64)
    return kind, _as_of_today(version, fields)


def from_json(source: str | Path) -> tuple[str, dict[str, Any]]:
    """Read JSON text, or a file of it, into a class name and constructor arguments."""
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    try:
        content = json.loads(str(source)) if is_text else read_json(source)
    except (OSError, ValueError, RecursionError) as error:
        where = "the text given" if is_text else source
        raise StoreError(f"no summary can be read from {where}: {error}") from error
    return from_dict(content, "the text given" if is_text else str(source))


def to_parquet(kind: str, fields: dict[str, Any], path: str | Path) -> Path:
    """Write one row per trial, with everything else in the file's metadata."""
    arrow, parquet = _pyarrow()
    columns: dict[str, Any] = {}
    for name in _TRIALS:
        values = fields.get(name)
        if values is None:
            continue
        if values.ndim == 2:
            columns |= {f"{name}_{j}": column for j, column in enumerate(values.T)}
        else:
            columns[name] = values
    head = to_dict(kind, {name: fields[name] for name in fields if name not in _TRIALS})
    table = arrow.table({name: arrow.array(values.tolist()) for name, values in columns.items()})
    content = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({_KEY: json.dumps(head).encode()}), content)
    write_bytes(path, content.getvalue())
    return Path(path)


def from_parquet(path: str | Path) -> tuple[str, dict[str, Any]]:
    """Read a file written by `to_parquet` into a class name and constructor arguments."""
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(Path(path))
    except (OSError, arrow.ArrowException) as error:
        raise StoreError(f"no summary can be read from {path}: {error}") from error
    metadata = (table.schema.metadata or {}).get(_KEY)
    kind, version, fields = _checked(json.loads(metadata) if metadata else None, str(path))
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for name in _TRIALS:
        parts = [columns[key] for key in columns if key.startswith(f"{name}_")]
        if name in columns:
            fields[name] = columns[name]
        elif parts:
            fields[name] = np.array(parts, dtype=np.float64).T
    return kind, _as_of_today(version, fields)


def rebuilt(base: type, read: Callable[[], tuple[str, dict[str, Any]]]) -> Any:
    """The object that a file describes; what is wrong with the file is a StoreError."""
    try:
        kind, fields = read()
        return find_class(base, kind)(**fields)
    except TapasError:
        raise
    except Exception as error:
        raise StoreError(f"the summary is damaged: {error!r}") from error


def find_class(base: type, kind: str) -> Any:
    """Return the class called `kind` among `base` and its subclasses."""
    waiting = [base]
    while waiting:
        candidate = waiting.pop()
        if candidate.__name__ == kind:
            return candidate
        waiting.extend(candidate.__subclasses__())
    raise StoreError(
        f"the file holds a {kind}, which is not a {base.__name__}; "
        "read it with AttackSummary, or import the module that defines it first"
    )


def _checked(content: object, where: str) -> tuple[str, int, dict[str, Any]]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise StoreError(f"{where} is not a summary written by tapas")
    version = content.get("version")
    if version not in _READABLE:
        raise StoreError(
            f"{where} has format version {version!r}, this version of tapas reads "
            f"{' and '.join(map(str, _READABLE))}"
        )
    return content["kind"], version, dict(content["fields"])


def _as_of_today(version: int, fields: dict[str, Any]) -> dict[str, Any]:
    """Fields of an earlier version; its audits of one model said so by their target alone."""
    if version == 1 and fields.get("groups") is None and fields.get("target_id") == "all":
        fields["dependence"] = str(Dependence.ONE_RELEASE)
    return fields


def checked(kind: type[_Kind], value: object) -> _Kind:
    """A value of a file, where it is of its kind."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")
    return value


def as_plain_list(values: Iterable[object]) -> list[Plain]:
    """Return values as JSON can hold them: None where one is missing, text for other things."""
    cells = [_plain(value) for value in values]
    return [None if cell in ("nan", "NaT", "<NA>") else cell for cell in cells]


def _plain(value: object) -> Plain:
    if isinstance(value, np.ndarray):
        cells = value.tolist()
        return cells if _is_plain(value) else _plain(cells)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _is_plain(values: np.ndarray) -> bool:
    """Whether JSON can hold all values as they are."""
    return values.dtype.kind in "biu" or (values.dtype.kind == "f" and np.isfinite(values).all())


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise StoreError(
            "Parquet files need the optional package pyarrow: pip install 'tapas-privacy[parquet]'"
        ) from error
