"""What a folder holds now, to be read: whatever is done with it, the folder stays as it is."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path

from tapas.engine._entry import Entry
from tapas.engine._folder_store import FolderStore
from tapas.engine._index import INDEX
from tapas.engine._store import MemoryStore, Store
from tapas.errors import StoreError

__all__ = ["Snapshot", "copied_index"]


class Snapshot(Store):
    """A store over that of a folder, which need not be writable; what is saved ends with it.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._above, self._gone = MemoryStore(), set[str]()
        with ExitStack() as held:
            index = held.enter_context(copied_index(Path(folder)))
            if not index.is_file():
                raise StoreError(f"{Path(folder) / INDEX}: there is no index")
            self._below = held.enter_context(FolderStore(folder, index=index))
            self._held = held.pop_all()

    def __contains__(self, key: str) -> bool:
        return key in self._above or (key not in self._gone and key in self._below)

    def load(self, key: str) -> Entry:
        """The value called `key`."""
        return (self._above if key in self._above or key in self._gone else self._below).load(key)

    def save(self, key: str, entry: Entry) -> None:
        """Keep a value in memory."""
        self._above.save(key, entry)

    def discard(self, key: str) -> None:
        """Forget a value here; the folder keeps it."""
        self._above.discard(key)
        self._gone.add(key)

    def keys(self, prefix: str = "") -> Iterator[str]:
        """Names that begin with `prefix`, in order."""
        below = {key for key in self._below.keys(prefix) if key not in self._gone}
        return iter(sorted(below.union(self._above.keys(prefix))))

    def close(self) -> None:
        """Let go of the folder."""
        self._above.close()
        self._held.close()


@contextmanager
def copied_index(folder: Path) -> Iterator[Path]:
    """A copy of an index, so that looking at it changes nothing."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as room:
        for name in (INDEX, f"{INDEX}-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(folder / name, Path(room) / name)
        yield Path(room) / INDEX
