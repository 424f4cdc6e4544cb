"""Encoded tables as plain arrays and JSON, and as npz files: nothing that runs on loading."""

import io
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tapas._files import DAMAGED_NPZ, refuse_bomb, write_bytes
from tapas.datasets._columns import Column
from tapas.datasets._encoding import EncodedTable
from tapas.errors import StoreError

Packed = tuple[dict[str, np.ndarray], dict[str, Any]]


def pack_table(table: EncodedTable) -> Packed:
    """A table as arrays and notes that JSON can hold."""
    notes = {
        "columns": [column.name for column in table.columns],
        "vocabularies": [None if v is None else list(v) for v in table.vocabularies],
        "index": _index_labels(table.index),
    }
    return {"codes": table.codes, "numbers": table.numbers}, notes


def unpack_table(
    arrays: dict[str, np.ndarray], notes: dict[str, Any], columns: tuple[Column, ...]
) -> EncodedTable:
    """The table that `pack_table` packed, checked against the columns it should have."""
    if notes["columns"] != [column.name for column in columns]:
        raise StoreError("the stored table has other columns than its schema")
    codes = arrays["codes"]
    table = EncodedTable(
        columns=columns,
        codes=codes,
        numbers=arrays["numbers"],
        vocabularies=tuple(_as_vocabulary(words) for words in notes["vocabularies"]),
        labels=_as_index(notes["index"], len(codes)),
    )
    _check_contents(table)
    return table


def write_table(
    path: str | PathLike[str], table: EncodedTable, extra: dict[str, Any] | None = None
) -> None:
    """Write a table, and JSON values beside it; the file is there whole or not at all."""
    arrays, notes = pack_table(table)
    try:
        text = json.dumps({**notes, "extra": extra or {}})
    except TypeError as error:
        raise StoreError(f"{path}: a row label or value is not JSON: {error}") from error
    words = np.frombuffer(text.encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, notes=words, **arrays)
    write_bytes(path, buffer.getvalue())


def read_table(
    path: str | PathLike[str], columns: tuple[Column, ...]
) -> tuple[EncodedTable, dict[str, Any]]:
    """Read a table that `write_table` wrote, and the JSON values beside it."""
    try:
        content = Path(path).read_bytes()
        refuse_bomb(content)
        with np.load(io.BytesIO(content), allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in ("codes", "numbers")}
            notes = json.loads(packed["notes"].tobytes())
        return unpack_table(arrays, notes, columns), notes["extra"]
    except FileNotFoundError:
        raise
    except StoreError as error:
        raise StoreError(f"{path}: {error}") from error
    except (*DAMAGED_NPZ, AttributeError) as error:
        raise StoreError(f"{path} is damaged and cannot be read: {error}") from error


def _index_labels(index: pd.Index) -> list[Any] | None:
    if isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index))):
        return None
    return index.tolist()


def _as_index(labels: list[Any] | None, rows: int) -> pd.Index:
    return pd.RangeIndex(rows) if labels is None else pd.Index(labels)


def _as_vocabulary(words: list[Any] | None) -> np.ndarray | None:
    if words is None:
        return None
    vocabulary = np.empty(len(words), dtype=object)
    vocabulary[:] = words
    return vocabulary


def _check_contents(table: EncodedTable) -> None:
    coded = table.coded_columns()
    shapes = (len(table), len(coded)), (len(table), len(table.columns) - len(coded))
    if table.codes.shape != shapes[0] or table.numbers.shape != shapes[1]:
        raise StoreError("the stored table is damaged: its arrays have the wrong shape")
    for column, size, values in zip(coded, table.num_categories(), table.codes.T, strict=True):
        if values.min(initial=-1) < -1 or values.max(initial=-1) >= size:
            raise StoreError(
                f"the stored table is damaged: column {column.name!r} has impossible codes"
            )
