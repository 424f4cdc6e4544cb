"""Named values that survive: one folder, one sqlite index, arrays and JSON, nothing that runs.

A value is there whole or not at all. Its digest is checked when it is read, so a damaged one is
noticed and can be made again.
"""

import hashlib
import io
import json
import sqlite3
import threading
import weakref
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from tapas._files import write_bytes
from tapas.errors import StoreError

Cell = str | bytes | int | None
LARGEST_INLINE = 32_768  # bytes; larger values get a file of their own
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    content BLOB,
    file TEXT
)
"""


@dataclass(frozen=True, eq=False)
class Entry:
    """A value: arrays by name, and notes that JSON can hold."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """Pack into one npz file; arrays and notes that hold other Python objects are refused."""
        try:
            notes = np.frombuffer(json.dumps(self.notes).encode(), dtype=np.uint8)
        except (TypeError, ValueError) as error:
            raise StoreError(f"notes must be what JSON can hold: {error}") from error
        buffer = io.BytesIO()
        for name, array in self.arrays.items():
            if array.dtype.hasobject:
                raise StoreError(f"array {name!r} holds Python objects, which are not stored")
        np.savez(buffer, allow_pickle=False, **{"notes": notes, **self._prefixed()})
        return buffer.getvalue()

    def _prefixed(self) -> dict[str, np.ndarray]:
        return {f"array:{name}": array for name, array in self.arrays.items()}

    @classmethod
    def from_bytes(cls, content: bytes) -> "Entry":
        """Unpack what `to_bytes` made."""
        with np.load(io.BytesIO(content), allow_pickle=False) as packed:
            notes = json.loads(packed["notes"].tobytes())
            arrays = {
                name.removeprefix("array:"): packed[name]
                for name in packed.files
                if name.startswith("array:")
            }
        return cls(arrays, notes)


class Store(Protocol):
    """Where a run keeps what it has finished; a ``with`` block closes it at its end."""

    def __contains__(self, key: str) -> bool:
        """Whether there is a value called `key`."""

    def load(self, key: str) -> Entry:
        """The value called `key`; StoreError if it is missing or damaged."""

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value; it is there whole or not at all."""

    def discard(self, key: str) -> None:
        """Forget a value, if it is there."""

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""

    def close(self) -> None:
        """Let go of what the store holds open; nothing can be read or saved afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


class MemoryStore(Store):
    """A store that ends with the process."""

    def __init__(self) -> None:
        self._held: dict[str, bytes] | None = {}

    @property
    def _entries(self) -> dict[str, bytes]:
        if self._held is None:
            raise StoreError("the store is closed")
        return self._held

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def load(self, key: str) -> Entry:
        """The value called `key`."""
        if key not in self._entries:
            raise StoreError(f"there is no entry {key!r}")
        return Entry.from_bytes(self._entries[key])

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value."""
        self._entries[key] = entry.to_bytes()

    def discard(self, key: str) -> None:
        """Forget a value."""
        self._entries.pop(key, None)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""
        return iter(sorted(key for key in self._entries if key.startswith(prefix)))

    def close(self) -> None:
        """Forget all values."""
        self._held = None


class FolderStore(Store):
    """A store in a folder: small values in a sqlite file, large ones as npz files beside it.

    Threads may share it, processes open one each. A store that nobody holds any more is closed.

    Parameters
    ----------
    folder : path
        Made if needed.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._files = self.folder / "entries"
        try:
            self._files.mkdir(parents=True, exist_ok=True)
            self._database = _open_index(self.folder / "index.sqlite")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"the folder {self.folder} cannot be used: {error}") from error
        self._one_at_a_time = threading.Lock()
        self._finalizer = weakref.finalize(self, self._database.close)

    def __contains__(self, key: str) -> bool:
        return bool(self._rows("SELECT 1 FROM entries WHERE key = ?", key))

    def load(self, key: str) -> Entry:
        """The value called `key`, checked against its digest."""
        rows = self._rows("SELECT digest, content, file FROM entries WHERE key = ?", key)
        if not rows:
            raise StoreError(f"there is no entry {key!r} in {self.folder}")
        digest, content, file = rows[0]
        try:
            if content is None:
                content = (self._files / Path(file).name).read_bytes()
            if _digest(content) != digest:
                raise StoreError(f"entry {key!r} in {self.folder} is damaged (digest differs)")
            return Entry.from_bytes(content)
        except StoreError:
            raise
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise StoreError(f"entry {key!r} in {self.folder} is damaged: {error}") from error

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value: the file first, whole, then the row that makes it count."""
        content = entry.to_bytes()
        digest = _digest(content)
        try:
            if len(content) <= LARGEST_INLINE:
                row: tuple[Cell, ...] = (key, digest, content, None)
            else:
                name = f"{_digest(key.encode())[:32]}.npz"
                write_bytes(self._files / name, content)
                row = (key, digest, None, name)
            self._execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)", *row)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{key!r} cannot be written to {self.folder}: {error}") from error

    def discard(self, key: str) -> None:
        """Forget a value, and its file."""
        for (file,) in self._rows("SELECT file FROM entries WHERE key = ?", key):
            self._rows("DELETE FROM entries WHERE key = ?", key)
            if file is not None:
                (self._files / Path(file).name).unlink(missing_ok=True)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""
        rows = self._rows(
            "SELECT key FROM entries WHERE substr(key, 1, ?) = ? ORDER BY key",
            len(prefix),
            prefix,
        )
        return (key for (key,) in rows)

    def close(self) -> None:
        """Let go of the folder."""
        self._finalizer()

    def _execute(self, query: str, *parameters: Cell) -> list[tuple[Any, ...]]:
        with self._one_at_a_time:
            return self._database.execute(query, parameters).fetchall()

    def _rows(self, query: str, *parameters: Cell) -> list[tuple[Any, ...]]:
        try:
            return self._execute(query, *parameters)
        except sqlite3.Error as error:
            raise StoreError(f"the index of {self.folder} cannot be read: {error}") from error


def _open_index(path: Path) -> sqlite3.Connection:
    # Any thread may happen to drop a store, and with it close the connection.
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(_SCHEMA)
    except BaseException:
        database.close()
        raise
    return database


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=32).hexdigest()
