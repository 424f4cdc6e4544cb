"""The digest of every file of a finished run, so that any change of any byte is noticed."""

import hashlib
import json
from pathlib import Path

from tapas._files import read_json, write_text
from tapas._spec import digest_of
from tapas.results import PAGE_FILES

__all__ = ["break_seal", "broken_seal", "write_seal"]

SEAL_FILE = "seal.json"
# Made again from the record to be compared with it, or empty.
OTHERWISE_CHECKED = (*PAGE_FILES, "lock", SEAL_FILE)
LARGEST_SEAL = 1 << 26  # bytes


def break_seal(folder: Path) -> None:
    """A run begins to write."""
    (folder / SEAL_FILE).unlink(missing_ok=True)


def write_seal(folder: Path) -> None:
    """A run has written all that it writes, and has closed its files."""
    files = _digests(folder)
    write_text(folder / SEAL_FILE, json.dumps({"files": files, "digest": digest_of({**files})}))


def broken_seal(folder: Path) -> list[str]:
    """What has changed in a folder since it was sealed, one line each."""
    path = folder / SEAL_FILE
    try:
        seal = read_json(path, LARGEST_SEAL)
        sealed, said = dict(seal["files"]), seal["digest"]
        whole = json.dumps({"files": sealed, "digest": said})
        if said != digest_of(sealed) or path.read_text(encoding="utf-8") != whole:
            raise ValueError("its digest differs")
    except FileNotFoundError:
        return [
            f"{path} is missing: a run did not come to its end, or an earlier version wrote the "
            f"folder, and changes cannot be told (the same `tapas run` finishes it)"
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{path} is damaged: {error}"]
    found = _digests(folder)
    changed = [name for name in sorted(sealed) if found.get(name, sealed[name]) != sealed[name]]
    return [
        *(f"{folder / name} was changed after it was written" for name in changed),
        *(f"{folder / name} is missing" for name in sorted(set(sealed) - set(found))),
        *(f"{folder / name} was added later" for name in sorted(set(found) - set(sealed))),
    ]


def _digests(folder: Path) -> dict[str, str]:
    """By path below the folder; links are no files of the run."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    names = {path.relative_to(folder).as_posix(): path for path in files}
    return {
        name: _digest(path) for name, path in sorted(names.items()) if name not in OTHERWISE_CHECKED
    }


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
