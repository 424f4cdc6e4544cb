"""Files that are there whole or not at all."""

import errno
import io
import json
import os
import re
import shutil
import uuid
import zipfile
import zlib
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from tapas.errors import StoreError

__all__ = [
    "DAMAGED_NPZ",
    "make_private",
    "most_expanded",
    "parse_json",
    "read_json",
    "read_text",
    "refuse_bomb",
    "refuse_links",
    "remove_parts",
    "seen_from_here",
    "write_bytes",
    "write_text",
]

LARGEST_TEXT = 1 << 31  # bytes
LEAST_EXPANDED, MOST_EXPANSION = 1 << 27, 200  # bytes that are fine anyway; times its size

_PART = ".part"  # of files that are not whole yet
_A_PART = re.compile(r"\.[0-9a-f]{32}\.part")

# What numpy, zipfile and zlib raise on files that are cut or changed.
DAMAGED_NPZ = (
    OSError,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it, for its owner alone; one that exists is left as it is."""
    for place in reversed([folder, *folder.parents]):
        if not place.exists():
            place.mkdir(mode=0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(20, "Not a directory", str(folder))


def refuse_links(folder: Path) -> None:
    """Refuse a folder in which something is a link, a pipe or a device: writing goes elsewhere."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_symlink():
            raise StoreError(f"{path} is a link, and is not followed: remove it")
        if not path.is_file() and not path.is_dir() and path.exists():
            raise StoreError(f"{path} is neither a file nor a folder: remove it")


def seen_from_here(path: str | PathLike[str]) -> str:
    """A path relative to the current folder, for commands that are typed there."""
    try:
        return os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)


def read_text(path: str | PathLike[str], largest: int = LARGEST_TEXT) -> str:
    """UTF-8 text of a plain file: a pipe that nobody fills is refused, not waited for."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "Not a plain file", str(place))
    if place.stat().st_size > largest:
        raise ValueError("it is too large")
    return place.read_text(encoding="utf-8")


def read_json(path: str | PathLike[str], largest: int = LARGEST_TEXT) -> Any:
    """Values of a JSON file; what is wrong with it is an OSError or a ValueError."""
    return parse_json(read_text(path, largest))


def parse_json(text: str) -> Any:
    """Values of JSON in which no name stands twice: readers differ in which one they take."""
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r:.80} stands twice")
    return values


def refuse_bomb(content: bytes) -> None:
    """Refuse a zip file whose members would take far more room than tables do."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        size = sum(member.file_size for member in packed.infolist())
    if size > most_expanded(content):
        raise ValueError(f"it would expand to {size:,} bytes, which no table does")


def most_expanded(content: bytes) -> int:
    """Bytes that compressed content may come to."""
    return max(LEAST_EXPANDED, MOST_EXPANSION * len(content))


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write UTF-8 text, with its line ends as they are: see `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | PathLike[str], content: bytes) -> None:
    """Write a file in one step, making its folder.

    A reader finds the old content or the new one, never a part; a write that fails leaves the old
    one. Of several writers at once, the last wins. Links are followed, permissions are kept.
    """
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists() and not target.is_file():
        target.write_bytes(content)  # a device or a pipe is written to, never replaced
        return
    temporary = target.with_name(f".{uuid.uuid4().hex}{_PART}")
    try:
        temporary.write_bytes(content)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_parts(folder: Path) -> None:
    """Remove what writers left in a folder, and below, that were killed; none may be at work."""
    for path in folder.rglob(f".*{_PART}"):
        if _A_PART.fullmatch(path.name) and path.is_file():
            with suppress(OSError):
                path.unlink()
