"""A store in a folder: whole values, bound to their names, found again after a kill.

A value is there whole or not at all. Its digest covers its name and its content, so that neither a
damaged value nor one under another name is taken for it.
"""

import hashlib
import threading
import weakref
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from tapas._files import make_private, refuse_links, write_bytes
from tapas.engine._entry import Entry
from tapas.engine._index import (
    ENTRIES,
    INDEX,
    UNREADABLE,
    entry_digest,
    open_index,
    what_helps,
)
from tapas.engine._store import Store
from tapas.errors import StoreError

Cell = str | bytes | int | None
LARGEST_INLINE = 32_768  # bytes; larger values get a file of their own


class FolderStore(Store):
    """A store in a folder: small values in a sqlite file, large ones as npz files beside it.

    Threads may share it, processes open one each. A store that nobody holds any more is closed.

    Parameters
    ----------
    folder : path
        Made if needed.
    index : path, optional
        A copy of the index that is used in its place, where the folder is only to be read.
    """

    def __init__(self, folder: str | PathLike[str], *, index: Path | None = None) -> None:
        self.folder = Path(folder)
        self._files = self.folder / ENTRIES
        try:
            if index is None:
                make_private(self._files)
            refuse_links(self.folder)
            self._database = open_index(index or self.folder / INDEX)
        except StoreError:
            raise
        except UNREADABLE as error:
            raise StoreError(
                f"the index of {self.folder} cannot be used: {error}. {what_helps(error)}"
            ) from error
        except OSError as error:
            raise StoreError(f"the folder {self.folder} cannot be used: {error}") from error
        self._one_at_a_time = threading.Lock()
        self._finalizer = weakref.finalize(self, self._database.close)

    def __contains__(self, key: str) -> bool:
        return bool(self._rows("SELECT 1 FROM entries WHERE key = ?", key))

    def load(self, key: str) -> Entry:
        """The value called `key`, checked against its digest."""
        try:
            return Entry.from_bytes(self._content(key))
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"entry {key!r} in {self.folder} is damaged: {error}") from error

    def _content(self, key: str) -> bytes:
        """The bytes of a value, whose sizes were looked at before they were read."""
        query = "SELECT digest, size, length(content), file FROM entries WHERE key = ?"
        rows = self._rows(query, key)
        if not rows:
            raise StoreError(f"there is no entry {key!r} in {self.folder}")
        digest, size, held, file = rows[0]
        place = None if held is not None else self._files / Path(file).name
        if place is not None and place.is_symlink():
            raise ValueError("its file is a link")
        if (held if place is None else place.stat().st_size) != size:
            raise ValueError("its size differs")
        if place is None:
            content = self._rows("SELECT content FROM entries WHERE key = ?", key)[0][0]
        else:
            content = place.read_bytes()
        if entry_digest(key, content) != digest:
            raise ValueError("digest differs")
        return content

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value: the file first, whole, then the row that makes it count."""
        content = entry.to_bytes()
        about = (key, entry_digest(key, content), len(content))
        name = f"{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}.npz"
        file, is_small = self._files / name, len(content) <= LARGEST_INLINE
        place = (content, None) if is_small else (None, name)
        try:
            if not is_small:
                write_bytes(file, content)
            insert = "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)"
            self._execute(insert, *about, *place)
            if is_small:
                file.unlink(missing_ok=True)  # of a larger value before it
        except (OSError, *UNREADABLE) as error:
            raise StoreError(f"{key!r} cannot be written to {self.folder}: {error}") from error

    def discard(self, key: str) -> None:
        """Forget a value, and its file."""
        for (file,) in self._rows("SELECT file FROM entries WHERE key = ?", key):
            self._rows("DELETE FROM entries WHERE key = ?", key)
            if file is not None:
                (self._files / Path(file).name).unlink(missing_ok=True)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""
        beginning = prefix.encode()  # as bytes, because texts of sqlite may end at a zero
        rows = self._rows(
            "SELECT key FROM entries WHERE substr(CAST(key AS BLOB), 1, ?) = ? ORDER BY key",
            len(beginning),
            beginning,
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
        except UNREADABLE as error:
            raise StoreError(f"the index of {self.folder} cannot be read: {error}") from error
