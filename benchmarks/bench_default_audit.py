"""Where the CPU of a default audit goes: `tapas init` on a table, 100 targets, 200 + 200 trials.

Run with ``python benchmarks/bench_default_audit.py TABLE.csv [TRIALS]``: releases of 1,000 records
from private data of 1,000, one core, the audited subject alone (each of the two controls costs as
much again, less the exposure map). CPU seconds of each step.
"""

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RECORDS = 1_000


@contextmanager
def timed(name: str) -> Iterator[None]:
    start = time.process_time()
    yield
    print(f"{name:<44s} {time.process_time() - start:7.1f}", flush=True)


def write_audit(table: str, folder: Path) -> Path:
    """What `tapas init` writes, with the size of private data and of releases."""
    copy = folder / "people.csv"
    copy.write_bytes(Path(table).read_bytes())
    command = [sys.executable, "-m", "tapas", "init", copy.name]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    path = folder / "audit.yaml"
    text = path.read_text()
    for size in ("1000", "500"):
        text = text.replace(f"  # records: {size} ", f"  records: {RECORDS} # ")
    path.write_text(text)
    return path


def main() -> None:
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        path = write_audit(sys.argv[1], Path(place))
        with timed("all"):
            carry_out(path, trials)


def carry_out(path: Path, trials: int) -> None:
    with timed("imports and tables"):
        from tapas.audit import load_audit
        from tapas.audit._exposure_map import exposure_map
        from tapas.audit._learning_curves import learning_curves
        from tapas.audit._subject_run import SubjectRun
        from tapas.engine import Workers
        from tapas.game import Ledger, TrialPolicy
        from tapas.report import AuditPage
        from tapas.results import AuditedSubject, AuditRecord

        audit = load_audit(path)
    subject = audit.subjects[0]
    run = SubjectRun(
        subject.threat_model,
        audit.attacks,
        trials,
        trials,
        ledger=Ledger(),
        workers=Workers(1),
        policy=TrialPolicy(),
    )
    observers = run.observers()
    with timed(f"play and observe {2 * trials} trials"):
        for phase in ("train", "test"):
            run.player.play(phase, trials, tuple(observers.values()))
    for attack, observer in observers.items():
        with timed(f"{attack.label} learns"):
            run._learn(attack, observer)
    with timed("judge all attacks"):
        summaries = run.test(trials)
    with timed("exposure map"):
        exposure, _ = exposure_map(run)
    with timed("learning curves"):
        learning = learning_curves(run)
    with timed("page"):
        told = AuditedSubject(
            subject.label,
            subject.role,
            tuple(summaries),
            (),
            (),
            run.played(),
            exposure=exposure,
            learning=learning,
        )
        record = AuditRecord(
            title=audit.title,
            question=audit.asked(),
            fingerprint="",
            seed=0,
            subjects=(told,),
            claim=audit.claim,
            gates=tuple(audit.gates),
            provenance={},
            stopped=None,
            complete=True,
        )
        AuditPage(record).publish(path.parent)


if __name__ == "__main__":
    main()
