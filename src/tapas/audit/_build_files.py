"""Audits of a table that was released already, from files alone."""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import stream
from tapas._validate import listing
from tapas.audit._audit import open_store
from tapas.audit._build_data import read_file, read_table
from tapas.audit._check import CheckReport, check_names
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._question import fingerprint, provenance
from tapas.audit._receipts import judged_once
from tapas.datasets import DataDescription, TabularDataset
from tapas.datasets._files import locate, read_frame
from tapas.engine import Progress, Store
from tapas.errors import ConfigError, TapasError, TapasWarning
from tapas.generators import Bootstrap, IndependentMarginals
from tapas.results import AttackCrash, AuditedSubject, AuditRecord, Gate, MIAttackSummary
from tapas.threat_models import ObservedMIA

_CONTROLS = 5  # address of the stream that controls draw from


@dataclass(frozen=True, eq=False)
class ReleaseAudit:
    """Attack one table with every attack.

    The table is the one release, and every record that is judged is a target. What each attack
    gave is stored as soon as it is there.

    Attributes
    ----------
    threat_model : ObservedMIA
    attacks : sequence of Attack
    title : str
    name : str
        Display name of the release.
    controls : dict
        Tables made from the private one, by name, which are attacked in the same way.
    gates : sequence of Gate
    question : dict
        The audit as its author wrote it.
    """

    threat_model: ObservedMIA
    attacks: Sequence[Any]
    title: str
    name: str
    controls: dict[str, TabularDataset]
    gates: Sequence[Gate]
    question: dict[str, Any]

    def check(self) -> CheckReport:
        """Report every incompatibility, without attacking."""
        problems = check_names([attack.label for attack in self.attacks], "attack")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for attack in self.attacks:
                try:
                    self.threat_model.check(attack)
                except TapasError as error:
                    problems.append(str(error))
        return CheckReport(tuple(problems), tuple(str(w.message) for w in caught), None)

    def asked(self) -> dict[str, Any]:
        """The question as plain values."""
        return json.loads(json.dumps(self.question))

    def run(
        self,
        store: str | PathLike[str] | None = None,
        executor: Executor | None = None,
        progress: Callable[..., Progress] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> AuditRecord:
        """Judge all attacks on the release and on the controls."""
        start = time.perf_counter()
        asked = self.asked()
        place = None if store is None else open_store(Path(store), asked)
        subjects = [self._attacked(self.threat_model, self.name, "audited", place)]
        for name, table in self.controls.items():
            game = self.threat_model.with_release(table)
            subjects.append(self._attacked(game, name, "control", place))
        record = AuditRecord(
            title=self.title,
            question=asked,
            fingerprint=fingerprint(asked),
            seed=self.threat_model.seed,
            subjects=tuple(subjects),
            gates=tuple(self.gates),
            provenance={
                **provenance(),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
                "seconds": round(time.perf_counter() - start, 3),
            },
        )
        if store is not None:
            record.save(store)
        return record

    def _attacked(
        self, game: ObservedMIA, name: str, role: Any, store: Store | None
    ) -> AuditedSubject:
        summaries: list[MIAttackSummary] = []
        crashes = []
        for number, attack in enumerate(self.attacks):
            try:
                key = f"{role}/{name}/attack{number}"
                summaries.append(judged_once(store, key, partial(_judged, attack, game)))
            except Exception as error:
                crashes.append(AttackCrash(attack.label, "all", f"{type(error).__name__}: {error}"))
        return AuditedSubject(
            name=name,
            role=role,
            summaries=tuple(summaries),
            crashes=tuple(crashes),
            trials={"train": 0, "test": 1},
        )


def _judged(attack: Any, game: ObservedMIA) -> MIAttackSummary:
    attack.train(game)
    return game.test(attack)


def build_release_audit(config: AuditFile, names: Names) -> ReleaseAudit:
    """Make the audit of a release that a file describes."""
    part = config.release
    if part is None:
        raise ConfigError(f"{names.where}: release is missing")
    attacks = [
        names.make(entry.use, entry.parameters, entry.label, ("attacks",), f"attacks[{position}]")
        for position, entry in enumerate(config.attacks)
    ]
    known = _shared_description(config, names)
    private = read_table(config, names, known)
    holdout = read_file(str(config.data.holdout), config, names, "data.holdout", known)
    released = read_file(part.file, config, names, "release.file", known)
    reference = None
    if part.reference is not None:
        reference = read_file(part.reference, config, names, "release.reference", known)
    try:
        game = ObservedMIA(
            released, private, holdout, reference, part.known_share, seed=config.seed
        )
    except TapasError as error:
        raise ConfigError(f"{names.where}: {error}") from error
    _warn_of_identifiers(private, holdout)
    tables = [private, holdout, released, *([] if reference is None else [reference])]
    question = config.as_question()
    question["data"]["digest"] = [table.table.digest() for table in tables]
    question["data"]["records"] = asdict(game.counts)
    if names.own_code:
        question["code"] = dict(sorted(names.own_code.items()))
    return ReleaseAudit(
        game,
        attacks,
        config.title,
        part.label or released.label,
        _controls(private, len(released), config.seed) if config.with_controls else {},
        tuple(Gate(**gate.model_dump()) for gate in config.gates),
        question,
    )


def without_free_text(config: AuditFile, names: Names) -> AuditFile:
    """The same audit without columns of free text, which attacks cannot compare; says so."""
    known = _shared_description(config, names)
    if known is None:
        known = DataDescription.from_json(names.folder / str(config.data.schema_file))
    texts = [column.name for column in known.parsed if column.kind == "string"]
    texts = [name for name in texts if name not in config.data.drop]
    if not texts:
        return config
    warnings.warn(f"columns of free text are left out: {listing(texts)}", TapasWarning, 2)
    data = config.data.model_copy(update={"drop": [*config.data.drop, *texts]})
    return config.model_copy(update={"data": data})


def infer_from_files(files: Sequence[Path]) -> DataDescription:
    """One description for several files; a category may occur in any of them."""
    frames = [read_frame(locate(file)[0], None) for file in files]
    columns = list(frames[0].columns)
    for file, frame in zip(files, frames, strict=True):
        if set(frame.columns) != set(columns):
            different = sorted(set(columns).symmetric_difference(frame.columns))
            raise ConfigError(
                f"{file} and {files[0]} must have the same columns, but differ in "
                f"{', '.join(different[:5])}"
            )
    return DataDescription.infer(pd.concat(frames, ignore_index=True)[columns], files[0].stem)


def _shared_description(config: AuditFile, names: Names) -> DataDescription | None:
    """The description of all tables; None where the file names a schema."""
    if config.data.schema_file is not None or config.release is None:
        return None
    table = names.folder / str(config.data.table)
    if table.with_suffix(".json").exists():
        return DataDescription.from_json(table.with_suffix(".json"))
    files = [config.data.holdout, config.release.file, config.release.reference]
    try:
        return infer_from_files([table, *(names.folder / file for file in files if file)])
    except (OSError, TapasError, ImportError, UnicodeDecodeError) as error:
        words = str(error)
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            words = f"{error.filename}: {error.strerror}"
        raise ConfigError(f"{names.where}: {words}") from error


def _warn_of_identifiers(private: TabularDataset, holdout: TabularDataset) -> None:
    """Row numbers tell members from non-members without any leak."""
    table = private.table.concat(holdout.table)
    integers = [column.name for column in table.columns if column.kind == "integer"]
    found = [name for name in integers if len(np.unique(table.column(name))) == len(table)]
    if found:
        warnings.warn(
            f"{listing(found)}: a different whole number in every record. If these are "
            f"identifiers, drop them: they can tell the two tables apart without any leak",
            TapasWarning,
            stacklevel=3,
        )


def _controls(private: TabularDataset, rows: int, seed: int) -> dict[str, TabularDataset]:
    """Where the scale ends and where it begins, for releases of this size."""
    made = {
        "control: resampled records": Bootstrap(),
        "control: independent columns": IndependentMarginals(),
    }
    found = {}
    for number, (name, generator) in enumerate(made.items()):
        texts = any(column.kind == "string" for column in private.description.parsed)
        if texts and not generator.accepts_free_text:
            continue
        found[name] = generator(private, rows, random_state=stream(seed, _CONTROLS, number))
    return found
