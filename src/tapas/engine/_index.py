"""The sqlite file of a store: opened only where it is what this version writes."""

import hashlib
import sqlite3
from pathlib import Path

from tapas.errors import StoreError

INDEX = "index.sqlite"
ENTRIES = "entries"
APPLICATION = 0x54415041  # marks a file as ours
LAYOUT = 3
# What a damaged index raises: sqlite quotes what it holds, which may be no text at all.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
OF_THE_DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
TABLE = """
CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    content BLOB,
    file TEXT
)
"""


def entry_digest(key: str, content: bytes) -> str:
    """Of a value under its name; the name says which game, phase and trial it belongs to."""
    name = key.encode(errors="surrogatepass")
    return hashlib.blake2b(
        len(name).to_bytes(8, "little") + name + content, digest_size=32
    ).hexdigest()


def what_helps(error: Exception) -> str:
    """Against an error of `UNREADABLE` on opening an index."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code & 0xFF in OF_THE_DISK:  # the rest of the code says more of the same
        return "The disk is full or fails: where there is room, the same command goes on"
    return "`tapas repair` keeps what is whole in a run folder"


def open_index(path: Path) -> sqlite3.Connection:
    """Open the index, or begin one."""
    # Any thread may happen to drop a store, and with it close the connection.
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA trusted_schema=OFF")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute("BEGIN IMMEDIATE")
        _begin_or_refuse(database, path)
        database.execute("COMMIT")
    except BaseException:
        database.close()
        raise
    return database


def _begin_or_refuse(database: sqlite3.Connection, path: Path) -> None:
    held = database.execute("SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    marks = ("application_id", "user_version")
    application, layout = (database.execute(f"PRAGMA {m}").fetchone()[0] for m in marks)
    if not held and (application, layout) == (0, 0):
        database.execute(TABLE)
        database.execute(f"PRAGMA application_id={APPLICATION}")
        database.execute(f"PRAGMA user_version={LAYOUT}")
    elif application != APPLICATION and held != [("table", "entries")]:
        raise StoreError(f"{path} is not a store of tapas")
    elif (application, layout) != (APPLICATION, LAYOUT):
        raise StoreError(
            f"{path} has layout {layout or 'of an early version'}; this version of tapas reads "
            f"layout {LAYOUT}: use another folder, or the version that wrote it"
        )
    elif held != [("table", "entries")]:
        raise StoreError(f"{path} holds more than the values of a store: it is not used")
