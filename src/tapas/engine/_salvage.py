"""Look a store through, and keep what is whole of a damaged one."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from tapas.engine._entry import Entry
from tapas.engine._index import ENTRIES, INDEX, UNREADABLE, entry_digest, open_index
from tapas.engine._snapshot import Snapshot, copied_index
from tapas.engine._store import Store
from tapas.errors import StoreError

MOST_MISSES = 10_000  # numbers of rows without a row, after which no more are expected
_ROW = "SELECT key, digest, size, content, file FROM entries WHERE rowid = ?"

Row = tuple[str, str, int, bytes | None, str | None]


def damaged_entries(folder: Path) -> list[str]:
    """What is wrong with the store in a folder, one line each; nothing is changed."""
    if not (folder / INDEX).is_file():
        return [f"{folder / INDEX}: there is no index"]
    if not (folder / INDEX).stat().st_size:  # which sqlite takes for a new one
        return [f"{folder / INDEX} is empty"]
    try:
        with copied_index(folder) as place, closing(open_index(place)) as index:
            found = [str(line) for (line,) in index.execute("PRAGMA integrity_check(5)")]
        with Snapshot(folder) as store:
            wrong = [] if found == ["ok"] else [f"the index is damaged: {line}" for line in found]
            return wrong + [words for key in store.keys("") if (words := _damage(store, key))]
    except (StoreError, *UNREADABLE) as error:
        return [str(error)]


def _damage(store: Store, key: str) -> str:
    try:
        store.load(key)
    except StoreError as error:
        return str(error)
    return ""


def salvage(folder: Path) -> tuple[int, int]:
    """Begin a new index with every value that is whole; how many are kept, and how many lost.

    The old index stays beside it.
    """
    kept = lost = 0
    new = folder / f"{INDEX}.new"
    new.unlink(missing_ok=True)
    with closing(open_index(new)) as index:
        with copied_index(folder) as place:
            for row in _rows(place):
                if _is_whole(row, folder):
                    index.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", row)
                    kept += 1
                else:
                    lost += 1
        index.execute("PRAGMA journal_mode=DELETE")
    old = folder / INDEX
    if old.is_file():
        old.replace(folder / "index-damaged.sqlite")
    for beside in ("-wal", "-shm"):
        (folder / f"{INDEX}{beside}").unlink(missing_ok=True)
    new.replace(old)
    return kept, lost


def _rows(index: Path) -> Iterator[Row]:
    """Rows that can be read, by their numbers: a damaged part hides its own only."""
    with closing(sqlite3.connect(index)) as database:
        with suppress(*UNREADABLE):
            database.execute("PRAGMA writable_schema=ON")  # reads files that were cut short, too
        number = missed = 0
        while missed < MOST_MISSES:
            number, missed = number + 1, missed + 1
            with suppress(*UNREADABLE):
                for row in database.execute(_ROW, (number,)).fetchall():
                    missed = 0
                    yield row


def _is_whole(row: Row, folder: Path) -> bool:
    key, digest, size, content, file = row
    try:
        if content is None:
            place = folder / ENTRIES / Path(str(file)).name
            if place.is_symlink() or place.stat().st_size != size:
                return False
            content = place.read_bytes()
        if len(content) != size or entry_digest(key, content) != digest:
            return False
        Entry.from_bytes(content)
    except Exception:
        return False
    return True
