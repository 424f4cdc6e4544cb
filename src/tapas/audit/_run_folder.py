"""The folder of a run: trials of its games, the question asked last, the records."""

import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from tapas import _files
from tapas._provenance import provenance
from tapas._spec import Plain, Spec, differences, digest_of, spec_of
from tapas.audit._folder_lock import FolderLock
from tapas.audit._seal import break_seal, write_seal
from tapas.compat import AttackDoors
from tapas.engine import FAILURES, Entry, FolderStore, Store
from tapas.errors import StoreError
from tapas.game import Game, StoredLedger, TableBriefing
from tapas.results import AuditRecord, append_verdict

QUESTION_FILE = "question.json"
MANIFEST_FILE = "manifest.json"
LOG_FILE = "errors.log"
RECORD_FILE = "record.json"
QUESTION, GAMES, SUBJECTS = "question", "games", "subjects"
STORE_FORMAT = 3

LARGEST_MANIFEST = 1 << 20  # bytes

_log = logging.getLogger(__name__)


class RunFolder:
    """Trials kept under the identity of their game: what differs is played, never taken over.

    Parameters
    ----------
    folder : path
        Made if needed.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._finished, self._asked = False, ""
        self._lock = FolderLock(self.folder)
        try:
            check_manifest(self.folder / MANIFEST_FILE)
            _files.remove_parts(self.folder)
            self._store = FolderStore(self.folder)
            self._log = _opened_log(self.folder / LOG_FILE)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        FAILURES.removeHandler(self._log)
        self._log.close()
        self._store.close()
        try:
            if self._finished and error is None:
                self._refuse_other_content()
                write_seal(self.folder)
        except StoreError:
            raise
        except OSError as problem:
            raise _unwritable(self.folder, problem) from problem
        finally:
            self._lock.release()

    def begin(self, question: Mapping[str, Plain]) -> None:
        """Note what is asked."""
        self._asked = digest_of(dict(question))
        manifest = {
            "format": STORE_FORMAT,
            "fingerprint": self._asked,
            "started": now(),
            "versions": provenance(),
        }
        try:
            break_seal(self.folder)
            self._set_aside(self._asked)
            self._store.save(QUESTION, Entry(notes={"question": dict(question)}))
            _files.write_text(self.folder / MANIFEST_FILE, json.dumps(manifest, indent=1))
            _files.write_text(self.folder / QUESTION_FILE, json.dumps(dict(question), indent=1))
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def ledger(self, number: int, subject: str, game: Game) -> StoredLedger:
        """The ledger of a game; one line says why trials of a subject are played again."""
        spec, key = game.spec, f"{SUBJECTS}/{number}"
        name = spec.digest
        if spec.doubts:
            name = f"{spec.digest}-{uuid.uuid4().hex[:8]}"
            _log.warning(
                "%s: trials are not reused, because %s", subject, "; ".join(spec.doubts[:3])
            )
        elif not any(self._store.keys(f"{GAMES}/{name}/")):
            self._say_what_changed(key, subject, spec)
        self._store.save(key, Entry(notes={"spec": spec.plain()}))
        return stored_ledger(self._store, name, game)

    def note_attacks(self, number: int, subject: str, attacks: Sequence[AttackDoors]) -> None:
        """Note who attacks a subject; one line says of each that has changed what it was."""
        for attack in attacks:
            key, spec = f"attacks/{number}/{attack.label}", spec_of(attack)
            changed = what_changed(self._store, key, spec)
            if changed:
                _log.warning(
                    "%s: %s has changed (%s), and looks again at what it would see differently",
                    subject,
                    attack.label,
                    changed,
                )
            self._store.save(key, Entry(notes={"spec": spec.plain()}))

    def _say_what_changed(self, key: str, subject: str, spec: Spec) -> None:
        changed = what_changed(self._store, key, spec)
        if changed:
            _log.warning(
                "%s: the trials in %s belong to another game (%s) and are not used",
                subject,
                self.folder,
                changed,
            )

    def _set_aside(self, fingerprint: str) -> None:
        """Keep a record that is damaged, or of another question, beside that which is to come."""
        try:
            before = AuditRecord.load(self.folder)
            name = f"record-{before.fingerprint[:8]}.json"
            stays = before.fingerprint == fingerprint
        except StoreError:
            name = "record-damaged.json"
            stays = not (self.folder / RECORD_FILE).is_file()
        if not stays:
            (self.folder / RECORD_FILE).replace(self.folder / name)

    def finish(self, record: AuditRecord) -> None:
        """Write the record, last of all, and add its verdict to those before."""
        try:
            record.save(self.folder)
            append_verdict(self.folder, record)
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self._finished = True

    def _refuse_other_content(self) -> None:
        """Code of the audit may have written here, too."""
        try:
            with FolderStore(self.folder) as store:
                asked = digest_of(store.load(QUESTION).notes["question"])
            said = _files.read_json(self.folder / MANIFEST_FILE, LARGEST_MANIFEST)["fingerprint"]
            whole = asked == said == self._asked and self._lock.is_in_place
        except (StoreError, ValueError, KeyError, TypeError, FileNotFoundError):
            whole = False
        if not whole:
            raise StoreError(
                f"{self.folder} was changed by something else while the run was under way: run "
                f"again, into another folder if this is refused"
            )


def _unwritable(folder: Path, error: OSError) -> StoreError:
    return StoreError(f"{folder} cannot be written: {error.strerror or error}")


def stored_ledger(store: Store, name: str, game: Game) -> StoredLedger:
    """The trials of a game that a store keeps under a name."""
    briefing = game.briefing("test")
    tables = isinstance(briefing, TableBriefing)
    description = briefing.targets.description if isinstance(briefing, TableBriefing) else None
    values = game.goal.values if tables or game.goal.kind != "attribute" else ()
    return StoredLedger(store, f"{GAMES}/{name}", values, description)


def what_changed(store: Store, key: str, spec: Spec) -> str:
    """What differs from the spec that was noted under a key; nothing where none was."""
    if key not in store:
        return ""
    try:
        return "; ".join(differences(store.load(key).notes["spec"], spec.plain())[:3])
    except (StoreError, KeyError):
        return ""


def _opened_log(path: Path) -> logging.Handler:
    """What failing code said, for the owner of the folder alone: it may hold private values."""
    path.touch(mode=0o600)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    FAILURES.setLevel(logging.INFO)
    FAILURES.propagate = False
    FAILURES.addHandler(handler)
    return handler


def check_manifest(path: Path) -> None:
    """Refuse a folder that another version wrote, or something else."""
    try:
        found = _files.read_json(path, LARGEST_MANIFEST)["format"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path} is damaged ({error}): `tapas repair {path.parent}` keeps the trials that are "
            f"whole"
        ) from error
    if found != STORE_FORMAT:
        raise StoreError(
            f"{path} says format {found!r}; this version of tapas reads format {STORE_FORMAT}: use "
            f"another folder, or the version that wrote it"
        )


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
