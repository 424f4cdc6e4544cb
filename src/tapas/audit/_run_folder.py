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
from tapas._spec import Plain, Spec, differences, digest_of, spec_of
from tapas.audit._provenance import provenance
from tapas.compat import AttackDoors
from tapas.engine import Entry, FolderStore
from tapas.errors import StoreError
from tapas.game import Game, Ledger, StoredLedger, TableBriefing
from tapas.results import AuditRecord, append_verdict

QUESTION_FILE = "question.json"
MANIFEST_FILE = "manifest.json"
STORE_FORMAT = 2

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
        self._store = FolderStore(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._store.close()

    def begin(self, question: Mapping[str, Plain]) -> None:
        """Note what is asked."""
        manifest = {
            "format": STORE_FORMAT,
            "fingerprint": digest_of(dict(question)),
            "started": now(),
            "versions": provenance(),
        }
        try:
            _files.write_text(self.folder / MANIFEST_FILE, json.dumps(manifest, indent=1))
            _files.write_text(self.folder / QUESTION_FILE, json.dumps(dict(question), indent=1))
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be written: {error.strerror or error}"
            ) from error

    def ledger(self, number: int, subject: str, game: Game) -> Ledger:
        """The ledger of a game; one line says why trials of a subject are played again."""
        spec, key = game.spec, f"subjects/{number}"
        name = spec.digest
        if spec.doubts:
            name = f"{spec.digest}-{uuid.uuid4().hex[:8]}"
            _log.warning(
                "%s: trials are not reused, because %s", subject, "; ".join(spec.doubts[:3])
            )
        elif not any(self._store.keys(f"games/{name}/")):
            self._say_what_changed(key, subject, spec)
        self._store.save(key, Entry(notes={"spec": spec.plain()}))
        briefing = game.briefing("test")
        tables = isinstance(briefing, TableBriefing)
        description = briefing.targets.description if isinstance(briefing, TableBriefing) else None
        values = game.goal.values if tables or game.goal.kind != "attribute" else ()
        return StoredLedger(self._store, f"games/{name}", values, description)

    def note_attacks(self, number: int, subject: str, attacks: Sequence[AttackDoors]) -> None:
        """Note who attacks a subject; one line says of each that has changed what it was."""
        for attack in attacks:
            key, spec = f"attacks/{number}/{attack.label}", spec_of(attack)
            changed = self._changed(key, spec)
            if changed:
                _log.warning(
                    "%s: %s has changed (%s), and looks again at what it would see differently",
                    subject,
                    attack.label,
                    changed,
                )
            self._store.save(key, Entry(notes={"spec": spec.plain()}))

    def _say_what_changed(self, key: str, subject: str, spec: Spec) -> None:
        changed = self._changed(key, spec)
        if changed:
            _log.warning(
                "%s: the trials in %s belong to another game (%s) and are not used",
                subject,
                self.folder,
                changed,
            )

    def _changed(self, key: str, spec: Spec) -> str:
        """What differs from the spec that was noted before; nothing where none was."""
        if key not in self._store:
            return ""
        try:
            return "; ".join(differences(self._store.load(key).notes["spec"], spec.plain())[:3])
        except (StoreError, KeyError):
            return ""

    def finish(self, record: AuditRecord) -> None:
        """Write the record, one of another question is kept beside it; add its verdict."""
        try:
            before = AuditRecord.load(self.folder)
        except StoreError:
            before = None
        if before is not None and before.fingerprint != record.fingerprint:
            name = f"record-{before.fingerprint[:8]}.json"
            _files.write_text(self.folder / name, before.to_json())
        record.save(self.folder)
        append_verdict(self.folder, record)


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
