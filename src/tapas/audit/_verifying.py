"""Is a run folder whole? What can be kept of one that is not? Nothing of the audit is run."""

import warnings
from os import PathLike
from pathlib import Path

from tapas._files import read_json, refuse_links
from tapas._spec import digest_of
from tapas.audit._evidence import without_evidence
from tapas.audit._folder_lock import FolderLock
from tapas.audit._run_folder import MANIFEST_FILE, QUESTION, QUESTION_FILE, check_manifest
from tapas.audit._seal import broken_seal
from tapas.engine import Snapshot, damaged_entries, salvage
from tapas.errors import StoreError, TapasWarning
from tapas.results import AuditRecord, read_history, repair_history

__all__ = ["repair_run", "verify_run"]


def verify_run(folder: str | PathLike[str]) -> list[str]:
    """What is wrong with the folder of a run, or cannot be told, one line each.

    Nothing in the folder is changed, and nothing of the audit is run.
    """
    place = Path(folder)
    if not place.is_dir():
        return [f"there is no folder {place}"]
    wrong = []
    for check in (refuse_links, _check_format, _check_record, read_history):
        try:
            check(place)
        except StoreError as error:
            wrong.append(str(error))
    wrong += damaged_entries(place)
    return (wrong or _other_question(place)) + broken_seal(place)


def _check_format(folder: Path) -> None:
    if not (folder / MANIFEST_FILE).is_file():
        raise StoreError(f"{folder / MANIFEST_FILE} is missing")
    check_manifest(folder / MANIFEST_FILE)


def _check_record(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TapasWarning)  # it is said below
        record = AuditRecord.load(folder)
    if not record.has_digest:
        raise StoreError(
            f"the record in {folder} has a format without digest: whether it was changed cannot be "
            f"told (the same `tapas run` writes it anew)"
        )


def _other_question(folder: Path) -> list[str]:
    """The question stands in the store, in a file for people, and by its digest in two more."""
    try:
        record = AuditRecord.load(folder)
        with Snapshot(folder) as store:
            asked = store.load(QUESTION).notes["question"]
            wrong = without_evidence(record, store)
        written = read_json(folder / QUESTION_FILE)
        manifest = read_json(folder / MANIFEST_FILE)
    except (OSError, ValueError, KeyError, StoreError) as error:
        return [f"the question cannot be read: {error}"]
    fingerprint = digest_of(asked)
    if written != asked:
        wrong.append(f"{folder / QUESTION_FILE} is not the question that was asked")
    if manifest.get("fingerprint") != fingerprint:
        wrong.append(f"{folder / MANIFEST_FILE} belongs to another question")
    if record.fingerprint != fingerprint:
        wrong.append(f"the record in {folder} answers another question")
    return wrong


def repair_run(folder: str | PathLike[str]) -> tuple[int, int] | None:
    """Keep every whole value of a run's store; how many are kept, and how many lost.

    A folder that another version wrote is left as it is; so is one in which nothing is damaged,
    and then nothing is returned.
    """
    place = Path(folder)
    if not place.is_dir():
        raise StoreError(f"there is no folder {place}")
    lock = FolderLock(place)
    try:
        mended = _mended_manifest(place) | bool(repair_history(place))
        if damaged_entries(place):
            return salvage(place)
        return (_number_of_values(place), 0) if mended else None
    finally:
        lock.release()


def _mended_manifest(folder: Path) -> bool:
    """Whether a damaged manifest was put aside."""
    try:
        check_manifest(folder / MANIFEST_FILE)
    except StoreError:
        _refuse_other_versions(folder)
        (folder / MANIFEST_FILE).replace(folder / "manifest-damaged.json")
        return True
    return False


def _number_of_values(folder: Path) -> int:
    with Snapshot(folder) as store:
        return len(list(store.keys("")))


def _refuse_other_versions(folder: Path) -> None:
    """Of a manifest that says so and an index that does not say otherwise."""
    try:
        with Snapshot(folder):
            return
    except StoreError:
        pass
    try:
        says = read_json(folder / MANIFEST_FILE).get("format")
    except (OSError, ValueError, AttributeError):
        return
    if isinstance(says, int):
        check_manifest(folder / MANIFEST_FILE)
