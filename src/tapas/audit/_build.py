"""From an audit file to an audit that can be run."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tapas._random import stream
from tapas._validate import listing
from tapas.audit._audit import Audit, Subject
from tapas.audit._build_data import read_table
from tapas.audit._build_files import ReleaseAudit, build_release_audit
from tapas.audit._build_model import ModelAudit, build_model_audit
from tapas.audit._config import AuditFile, read_audit_file
from tapas.audit._config_names import Names
from tapas.audit._config_parts import GeneratorPart
from tapas.audit._stopping import StopEarly
from tapas.datasets import TabularDataset, record_isolation
from tapas.errors import ConfigError
from tapas.generators import Bootstrap, GeneratorFromObject, IndependentMarginals
from tapas.results import Claim, Gate
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    LabelInferenceThreatModel,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

MOST_RECORDS = 1000  # of a private dataset, unless the file says otherwise
_MECHANISMS = {
    "black-box": BlackBoxKnowledge,
    "no-box": NoBoxKnowledge,
    "white-box": WhiteBoxKnowledge,
}
_TARGETS = 1  # address of the stream that draws targets


def load_audit(path: str | PathLike[str]) -> Audit | ModelAudit | ReleaseAudit:
    """Read an audit file and make the audit that it describes."""
    return build_audit(read_audit_file(path), path)


def build_audit(config: AuditFile, path: str | PathLike[str]) -> Audit | ModelAudit | ReleaseAudit:
    """Make the audit that a file describes; paths in it are relative to the file at `path`."""
    names = Names(Path(path).resolve().parent, str(path))
    if config.release is not None:
        return build_release_audit(config, names)
    if config.model is not None:
        return build_model_audit(config, names)
    builder = _Builder(config, names)
    attacks = [
        names.make(part.use, part.parameters, part.label, ("attacks",), f"attacks[{position}]")
        for position, part in enumerate(config.attacks)
    ]
    subjects = builder.subjects()
    return Audit(
        subjects,
        attacks,
        config.trials.train if config.knowledge.mechanism != "no-box" else 0,
        config.trials.test,
        title=config.title,
        claim=_claim(config),
        gates=gates(config),
        stop_early=_stop_early(config),
        max_failures=config.trials.max_failures,
        timeout=config.trials.timeout,
        keep_data=config.trials.keep_data,
        question=builder.question(),
    )


class _Builder:
    """Threat models of an audit file, on one table and one set of targets."""

    def __init__(self, config: AuditFile, names: Names) -> None:
        self.config = config
        self.names = names
        whole = read_table(config, names)
        rows = self._target_rows(whole)
        self.targets = whole.get_records(rows)
        self.data = _without(whole, self.targets)
        self.duplicates = len(whole) - len(self.data) - len(rows)
        self.digest = whole.table.digest()
        self.knowledge = self._knowledge()
        self.private_records = getattr(self.knowledge, "num_training_records", len(self.data))

    def subjects(self) -> list[Subject]:
        parts = self.config.generator or []
        found = []
        for position, part in enumerate(parts):
            key = "generator" if len(parts) == 1 else f"generator[{position}]"
            generator = self._generator(part, key)
            found.append(Subject(self._threat_model(generator, part), part.label or ""))
        if self.config.with_controls:
            for name, made in _controls():
                control = self._threat_model(made, parts[0])
                found.append(Subject(control, name, role="control"))
        return found

    def question(self) -> dict[str, Any]:
        """The file as it is understood, with digests of what it refers to."""
        asked = self.config.as_question()
        asked["data"]["digest"] = self.digest
        asked["knowledge"]["records"] = self.private_records
        if self.duplicates:
            asked["data"]["copies_of_targets_left_out"] = self.duplicates
        if self.names.own_code:
            asked["code"] = dict(sorted(self.names.own_code.items()))
        return asked

    # -- data --------------------------------------------------------------------------------

    def _target_rows(self, data: TabularDataset) -> list[int]:
        wanted, where = self.config.data.targets, f"{self.names.where}: data.targets"
        if wanted.rows is not None:
            beyond = [row for row in wanted.rows if row >= len(data)]
            if beyond or len(set(wanted.rows)) < len(wanted.rows):
                raise ConfigError(
                    f"{where}.rows must be different positions below {len(data)}, got "
                    f"{listing(beyond or wanted.rows)}"
                )
            return list(wanted.rows)
        number = wanted.random or wanted.vulnerable or 1
        if number >= len(data):
            raise ConfigError(f"{where}: {number} targets do not fit into {len(data)} rows")
        if wanted.random is not None:
            drawn = stream(self.config.seed, _TARGETS).permutation(len(data))[:number]
            return [int(row) for row in drawn]
        order = np.argsort(-record_isolation(data, min(5, len(data) - 1)), kind="stable")
        return [int(row) for row in order[:number]]

    def _knowledge(self) -> AttackerKnowledgeOnData:
        wanted = self.config.knowledge
        where = f"{self.names.where}: knowledge"
        if wanted.data == "exact":
            if wanted.records is not None:
                raise ConfigError(f"{where}.records is for auxiliary data: set data.rows instead")
            return ExactDataKnowledge(self.data)
        held = int(wanted.split * len(self.data))
        smaller = min(held, len(self.data) - held)
        records = wanted.records or max(1, min(MOST_RECORDS, smaller // 2))
        if records > smaller:
            raise ConfigError(
                f"{where}.records is {records}, but with split {wanted.split:g} of "
                f"{len(self.data)} rows the smaller side has {smaller}"
            )
        return AuxiliaryDataKnowledge(
            self.data, wanted.split, num_training_records=records, seed=self.config.seed
        )

    # -- mechanisms --------------------------------------------------------------------------

    def _generator(self, part: GeneratorPart, key: str) -> Any:
        if part.use is not None:
            made = self.names.make(part.use, part.parameters, part.label, ("generators",), key)
            if hasattr(made, "generate") or not hasattr(made, "sample"):
                return made
            return GeneratorFromObject(made, label=part.label or type(made).__name__)
        (program,) = part.command or [""]
        beside = self.names.folder / program
        if beside.is_file():
            self.names.remember_file(program, beside)
        return self.names.make(
            "GeneratorFromExecutable",
            {"exe": str(beside) if beside.is_file() else program, **part.parameters},
            part.label or program,
            ("generators",),
            f"{key}.command",
        )

    def _threat_model(self, generator: Any, part: GeneratorPart) -> LabelInferenceThreatModel:
        known = _MECHANISMS[self.config.knowledge.mechanism]
        mechanism = known(generator, part.records or self.private_records)
        goal, seed = self.config.goal, self.config.seed
        if goal.attribute is None:
            how = goal.membership
            return TargetedMIA(
                self.knowledge,
                self.targets,
                mechanism,
                generate_pairs=how is None or how.pairs,
                replace_target=how is not None and how.replace,
                seed=seed,
            )
        wanted = goal.attribute
        return TargetedAIA(
            self.knowledge,
            self.targets,
            wanted.column,
            wanted.values or self._values(wanted.column),
            mechanism,
            wanted.distribution,
            seed=seed,
        )

    def _values(self, column: str) -> list[Any]:
        found = {c.name: c for c in self.data.description.parsed}.get(column)
        if found is None or found.values is None:
            raise ConfigError(
                f"{self.names.where}: goal.attribute: {column!r} is not a column with listed "
                f"values ({listing(self.data.description.columns)}): give values"
            )
        return list(found.values)


def gates(config: AuditFile) -> tuple[Gate, ...]:
    """The limits of an audit file."""
    return tuple(Gate(**gate.model_dump()) for gate in config.gates)


def _claim(config: AuditFile) -> Claim | None:
    return None if config.claim is None else Claim(config.claim.epsilon, config.claim.delta)


def _stop_early(config: AuditFile) -> StopEarly | None:
    wanted = config.trials.stop_early
    if wanted is None:
        return None
    claim = _claim(config) if wanted.claim else None
    return StopEarly(claim, wanted.width, wanted.every, wanted.confidence)


def _controls() -> list[tuple[str, Any]]:
    """Where the scale ends and where it begins."""
    return [
        ("control: resampled records", Bootstrap()),
        ("control: independent columns", IndependentMarginals()),
    ]


def _without(data: TabularDataset, targets: TabularDataset) -> TabularDataset:
    """The rows that equal no target: with a copy in the data, nobody could be absent."""
    keep = np.ones(len(data), dtype=bool)
    for start in range(0, len(targets), 64):
        some = targets.table.take(range(start, min(start + 64, len(targets))))
        keep &= (data.table.count_differences(some) != 0).all(axis=0)
    return data.take(np.flatnonzero(keep))
