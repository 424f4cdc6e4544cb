"""An audit: subjects x attacks x sizes."""

import copy
import inspect
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from tapas._validate import check_count
from tapas.audit._check import CheckReport, check_names, check_subject
from tapas.audit._question import describe, differences, fingerprint, provenance
from tapas.audit._stopping import StopEarly
from tapas.engine import FolderStore, Progress, Store, Workers
from tapas.errors import ConfigError, MechanismError, StoreError
from tapas.generators import Generator
from tapas.results import (
    AttackCrash,
    AttackSummary,
    AuditedSubject,
    AuditRecord,
    Claim,
    Gate,
    TrialFailure,
)
from tapas.threat_models import (
    LabelInferenceThreatModel,
    NoBoxKnowledge,
    StoredLedger,
    TrialPolicy,
)

QUESTION_FILE = "question.json"
MANIFEST_FILE = "manifest.json"
STORE_FORMAT = 1


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism under a threat model, as part of an audit.

    Attributes
    ----------
    threat_model : LabelInferenceThreatModel
    name : str
        Display name; the generator's by default.
    role : {"audited", "control"}
        Controls (resampled records, independent columns) show where the scale begins and ends.
    """

    threat_model: LabelInferenceThreatModel
    name: str = ""
    role: Literal["audited", "control"] = "audited"

    @property
    def label(self) -> str:
        """Display name: the one given, the generator's, or its class where it has none."""
        if self.name:
            return self.name
        knowledge = self.threat_model.atk_know_gen
        generator = getattr(knowledge, "generator", knowledge)
        unnamed = getattr(generator, "label", None) == Generator.UNNAMED
        return type(generator).__name__ if unnamed else knowledge.label


@dataclass(frozen=True, eq=False)
class Audit:
    """Attack every subject with every attack.

    Parameters
    ----------
    threat_model : threat model, Subject, or a sequence of them
    attacks : sequence of Attack
    num_train, num_test : int
        Trials for training attacks and for judging them.
    title : str
    claim : Claim, optional
        An (epsilon, delta) that the mechanism is said to guarantee.
    gates : sequence of Gate
        Limits that decide whether a release may go ahead.
    stop_early : StopEarly, optional
        For one subject: stop playing test trials when enough is known.
    max_failures : int
        How many failing trials are recorded and left out before the run stops.
    timeout : float, optional
        Seconds after which one run of the mechanism counts as failed.
    keep_data : bool
        Whether released data is kept in the store beside what attacks observed.
    question : mapping, optional
        The audit as its author wrote it; described from the objects by default.
    """

    threat_model: Any
    attacks: Sequence[Any]
    num_train: int
    num_test: int
    title: str = "Privacy audit"
    claim: Claim | None = None
    gates: Sequence[Gate] = ()
    stop_early: StopEarly | None = None
    max_failures: int = 0
    timeout: float | None = None
    keep_data: bool = False
    question: Mapping[str, Any] | None = None
    subjects: tuple[Subject, ...] = field(init=False)

    def __post_init__(self) -> None:
        given = self.threat_model
        several = given if isinstance(given, (list, tuple)) else [given]
        subjects = tuple(s if isinstance(s, Subject) else Subject(s) for s in several)
        object.__setattr__(self, "subjects", subjects)
        object.__setattr__(self, "attacks", tuple(self.attacks))
        check_count(self.num_train, "num_train")
        check_count(self.num_test, "num_test", minimum=1)
        check_count(self.max_failures, "max_failures")
        if not subjects or not self.attacks:
            raise ConfigError("an audit needs at least one threat model and one attack")
        if self.stop_early is not None and len(subjects) > 1:
            raise ConfigError("stop_early is for audits of one subject")

    # -- before ------------------------------------------------------------------------------

    def check(self) -> CheckReport:
        """Report every incompatibility; plays one trial of each phase per subject."""
        problems = check_names([attack.label for attack in self.attacks], "attack")
        problems += check_names([subject.label for subject in self.subjects], "subject")
        problems += self._undefined_gates()
        cautions: list[str] = []
        seconds = 0.0
        for subject in self.subjects:
            found, warned, spent = check_subject(subject.threat_model, self.attacks, self.num_train)
            problems += [f"{subject.label}: {problem}" for problem in found]
            cautions += [f"{subject.label}: {caution}" for caution in warned]
            seconds += spent / 2
        return CheckReport(
            tuple(problems),
            tuple(cautions),
            seconds / len(self.subjects) if not problems else None,
        )

    def _undefined_gates(self) -> list[str]:
        values = max(
            len(getattr(subject.threat_model, "attribute_values", ())) for subject in self.subjects
        )
        return [
            f"a gate on {gate.metric} is not defined for a secret of {values} values: limit "
            f"accuracy instead"
            for gate in self.gates
            if values > 2 and gate.metric != "accuracy"
        ]

    def asked(self) -> dict[str, Any]:
        """The question as plain values."""
        if self.question is not None:
            return json.loads(json.dumps(dict(self.question)))
        return {
            "title": self.title,
            "subjects": [
                {"name": s.label, "role": s.role, "threat_model": _describe_game(s.threat_model)}
                for s in self.subjects
            ],
            "attacks": [{"label": attack.label, **describe(attack)} for attack in self.attacks],
            "num_train": self.num_train,
            "num_test": self.num_test,
            "claim": describe(self.claim),
            "gates": describe(tuple(self.gates)),
            "max_failures": self.max_failures,
            "timeout": self.timeout,
        }

    # -- the run -----------------------------------------------------------------------------

    def run(
        self,
        store: str | PathLike[str] | None = None,
        executor: Executor | None = None,
        progress: Callable[..., Progress] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> AuditRecord:
        """Play all trials, judge all attacks.

        Parameters
        ----------
        store : path, optional
            A folder. What is there already is not played again: a run that was killed goes on
            where it was, with the same result. A folder that holds another question is refused.
        executor : concurrent.futures.Executor, optional
            Where trials run; local processes by default.
        progress : type, optional
            Built with ``total=``; a bar on a terminal by default.
        n_jobs : int, optional
            Number of local processes.
        """
        start = time.perf_counter()
        asked = self.asked()
        place = None if store is None else open_store(Path(store), asked)
        workers = Workers(n_jobs, executor)
        subjects, reasons = [], []
        for number, subject in enumerate(self.subjects):
            model = self._prepared(subject, f"subject{number}", place, workers, progress)
            outcome, reason = self._carry_out(subject, model)
            subjects.append(outcome)
            reasons += [reason] if reason else []
        record = AuditRecord(
            title=self.title,
            question=asked,
            fingerprint=fingerprint(asked),
            seed=self.subjects[0].threat_model.seed,
            subjects=tuple(subjects),
            claim=self.claim,
            gates=tuple(self.gates),
            provenance={
                **provenance(),
                "finished": _now(),
                "seconds": round(time.perf_counter() - start, 3),
            },
            stopped="; ".join(reasons) or None,
        )
        if store is not None:
            record.save(store)
        return record

    def _prepared(
        self,
        subject: Subject,
        prefix: str,
        store: Store | None,
        workers: Workers,
        progress: Callable[..., Progress] | None,
    ) -> Any:
        """A view of the threat model that runs as this audit wants, and remembers in the store."""
        model = copy.copy(subject.threat_model)
        model.workers = workers
        model.iterator_tracker = progress or model.iterator_tracker
        model.policy = TrialPolicy(self.max_failures, self.timeout, self.keep_data)
        if store is not None:
            model._ledger = StoredLedger(
                store, prefix, self._observation_names(), _released_description(model)
            )
        return model

    def _observation_names(self) -> dict[Any, str]:
        names: dict[Any, str] = {}
        for number, attack in enumerate(self._observers()):
            names.setdefault(attack.observation_key, f"attack{number}")
        return names

    def _observers(self) -> list[Any]:
        return [attack for attack in self.attacks if getattr(attack, "uses_observations", False)]

    def _carry_out(self, subject: Subject, model: Any) -> tuple[AuditedSubject, str | None]:
        can_train = not isinstance(model.atk_know_gen, NoBoxKnowledge)
        stopped = None
        try:
            if can_train:
                model.play(self._observers(), self.num_train, training=True)
            stopped, played = self._play_tests(model)
        except MechanismError as error:
            # The run stops with what it has: finished trials are judged.
            stopped, played = str(error), len(model._ledger.indices("test"))
        summaries, crashes = self._judge(model, played) if played else ([], [])
        outcome = AuditedSubject(
            name=subject.label,
            role=subject.role,
            summaries=tuple(summaries),
            failures=tuple(_failures(model)),
            crashes=tuple(crashes),
            trials={phase: len(model._ledger.indices(phase)) for phase in ("train", "test")},
        )
        return outcome, stopped

    def _play_tests(self, model: Any) -> tuple[str | None, int]:
        if self.stop_early is None:
            model.play(self._observers(), self.num_test, training=False)
            return None, self.num_test
        played = 0
        while played < self.num_test:
            played = min(played + self.stop_early.every, self.num_test)
            model.play(self._observers(), played, training=False)
            summaries, _ = self._judge(model, played)
            reason = self.stop_early.reason(summaries)
            if reason is not None:
                return reason, played
        return None, played

    def _judge(self, model: Any, num_test: int) -> tuple[list[AttackSummary], list[AttackCrash]]:
        summaries: list[AttackSummary] = []
        crashes: list[AttackCrash] = []
        for view, attack in self._pairs(model):
            try:
                _train(attack, view, self.num_train)
                summaries.append(view.test(attack, num_samples=num_test))
            except Exception as error:
                target = getattr(view, "target_record", None)
                name = target.label if target is not None else str(view.current_label)
                crashes.append(AttackCrash(attack.label, name, f"{type(error).__name__}: {error}"))
        return summaries, crashes

    def _pairs(self, model: Any) -> Iterator[tuple[Any, Any]]:
        for view in model:
            for attack in self.attacks:
                yield view, attack


def _train(attack: Any, threat_model: Any, num_train: int) -> None:
    if "num_samples" in inspect.signature(attack.train).parameters:
        attack.train(threat_model, num_samples=num_train)
    else:
        attack.train(threat_model)


def _failures(model: Any) -> Iterator[TrialFailure]:
    for phase in ("train", "test"):
        for index, message in sorted(model._ledger.failures(phase).items()):
            yield TrialFailure(phase, index, message)


def _released_description(model: Any) -> Any:
    return model.atk_know_data.target_records.description


def _describe_game(model: Any) -> dict[str, Any]:
    return {
        "class": type(model).__name__,
        "seed": model.seed,
        "data": describe(model.atk_know_data),
        "mechanism": describe(model.atk_know_gen),
    }


def open_store(folder: Path, asked: dict[str, Any]) -> FolderStore:
    """The store in a folder, if the folder is new or holds the same question."""
    path = folder / QUESTION_FILE
    if path.exists():
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(f"{path} is damaged: {error}") from error
        different = differences(stored, asked)
        if different:
            raise StoreError(
                f"{folder} holds another audit ({'; '.join(different[:5])}): use another folder"
            )
        return FolderStore(folder)
    store = FolderStore(folder)
    manifest = {
        "format": STORE_FORMAT,
        "fingerprint": fingerprint(asked),
        "started": _now(),
        "versions": provenance(),
    }
    try:
        (folder / MANIFEST_FILE).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        path.write_text(json.dumps(asked, indent=1), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
    return store


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
