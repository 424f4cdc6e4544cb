"""From the verdict back to the trials: what a record says of those that it rests on."""

from collections import Counter

from tapas._spec import Plain
from tapas.audit._run_folder import GAMES
from tapas.audit._subject_run import SubjectRun
from tapas.engine import Store
from tapas.errors import StoreError
from tapas.game import PHASES, StoredLedger
from tapas.results import AuditRecord

EVIDENCE = "evidence"

__all__ = ["EVIDENCE", "evidence_of", "without_evidence"]


def evidence_of(subject: str, run: SubjectRun) -> dict[str, Plain] | None:
    """Digests of the stored trials of a subject, and the versions that they were played with."""
    ledger = run.player.ledger
    if not isinstance(ledger, StoredLedger):
        return None
    counts, observers = run.num_counted(), run.observer_keys()
    versions: Counter[tuple[tuple[str, str], ...]] = Counter()
    for phase in PHASES:
        versions += ledger.made_with(phase, counts[phase])
    return {
        "subject": subject,
        "game": ledger.name,
        "observers": dict(observers),
        "trials": {phase: counts[phase] for phase in PHASES},
        "digests": {
            phase: ledger.digest(phase, counts[phase], set(observers.values())) for phase in PHASES
        },
        "made_with": [
            {"trials": number, **dict(made_with)} for made_with, number in sorted(versions.items())
        ],
    }


def without_evidence(record: AuditRecord, store: Store) -> list[str]:
    """Subjects of a record that do not follow from the trials in a store, one line each."""
    said = record.provenance.get(EVIDENCE)
    if not said:
        return ["the record says nothing of the trials that it rests on: it was made without them"]
    wrong = []
    for one in said:
        try:
            ledger = StoredLedger(store, f"{GAMES}/{one['game']}")
            keys = set(one["observers"].values())
            found = {
                phase: ledger.digest(phase, one["trials"][phase], keys) for phase in one["digests"]
            }
        except (StoreError, KeyError, TypeError, AttributeError) as error:
            found = {"error": repr(error)}
        if found != one["digests"]:
            wrong.append(
                f"the trials in the store are not those that the record rests on ({one['subject']})"
            )
    return wrong
