"""One run at a time in a folder."""

import os
import time
from pathlib import Path
from typing import IO

from tapas._files import make_private, refuse_links
from tapas.errors import StoreError

LOCK_FILE = "lock"
PATIENCE = 3.0  # seconds: a run that was just killed may not be quite gone


class FolderLock:
    """Held while a run uses a folder; the system lets go of it when the process ends.

    Parameters
    ----------
    folder : Path
        Made if needed.
    """

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] | None = None
        try:
            make_private(folder)
            refuse_links(folder)
            self._file = (folder / LOCK_FILE).open("ab")
        except StoreError:
            raise
        except OSError as error:
            raise StoreError(f"the folder {folder} cannot be used: {error}") from error
        end = time.monotonic() + PATIENCE
        while not _is_taken(self._file):
            if time.monotonic() > end:
                self.release()
                raise StoreError(
                    f"another run is using {folder}: wait for it, or give another folder"
                )
            time.sleep(0.05)

    @property
    def is_in_place(self) -> bool:
        """Whether what is locked is still what the folder holds."""
        try:
            return self._file is not None and os.path.samestat(
                os.fstat(self._file.fileno()), os.stat(self._file.name)
            )
        except OSError:
            return False

    def release(self) -> None:
        """Let others in."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _is_taken(file: IO[bytes]) -> bool:
    """Whether the lock is ours now; where the system has none, it always is."""
    if os.name != "posix":
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
