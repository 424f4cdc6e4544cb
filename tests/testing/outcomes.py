"""Audits whose work is counted, and what comes out of them, to the bit."""

from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from tapas.attacks import Attack
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.results import AttackSummary, AuditRecord
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedMIA,
)


def summaries(record: AuditRecord) -> list[Any]:
    """All of a record with one subject, none of whose attacks crashed."""
    (subject,) = record.subjects
    assert subject.crashes == ()
    return list(subject.summaries)


def bits(found: Sequence[AttackSummary]) -> list[tuple[object, ...]]:
    """All that summaries say of trials, to the bit."""
    return [
        (
            one.attack,
            one.target_id,
            one.labels.tolist(),
            one.predictions.tolist(),
            None if one.scores is None else one.scores.tobytes(),
            one.groups.tolist(),
            one.dependence,
            one.relation,
        )
        for one in found  # type: ignore[attr-defined]
    ]


class Refuses(Executor):
    """Where nothing can be run."""

    def submit(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a trial was to be played")


def lines(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


class LogsReleases(Raw):
    """Adds a line to a file for every release, and is stopped where a line says so."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        with self.log.open("a") as file:
            file.write("released\n")
        if lines(self.log) == 7 and self.log.with_suffix(".stop").exists():
            raise KeyboardInterrupt
        return super().generate(num_samples, random_state)


def table_audit(
    generator: Any,
    attacks: Sequence[Attack],
    num_test: int = 6,
    *,
    data: AttackerKnowledgeOnData | None = None,
    **options: Any,
) -> Audit:
    people = load_sample("clinic", 120, seed=3)
    rest = people.take(range(1, 120))
    known = data or AuxiliaryDataKnowledge(rest, num_training_records=12, seed=0)
    threat_model = TargetedMIA(
        known, people.take([0]), BlackBoxKnowledge(generator, 12), replace_target=True, seed=4
    )
    return Audit(threat_model, attacks, 6, num_test, **options)
