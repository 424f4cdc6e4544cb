"""Audits of a trained model, from an audit file."""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tapas._random import stream
from tapas._validate import listing
from tapas.audit._audit import open_store
from tapas.audit._build_data import read_file, read_table, shared_description
from tapas.audit._check import CheckReport, check_names
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._question import fingerprint, provenance
from tapas.audit._receipts import judged_once
from tapas.datasets import TabularDataset
from tapas.engine import Progress, Store, Workers
from tapas.errors import ConfigError, TapasError
from tapas.results import AttackCrash, AuditedSubject, AuditRecord, Claim, Gate, MIAttackSummary
from tapas.threat_models._model_mia import ModelMIA

_SPLIT, _TRAINING = 3, 4  # addresses of streams


@dataclass(frozen=True, eq=False)
class ModelAudit:
    """Attack one trained model with every attack.

    The model is the one release, and every record that is judged is a target. What each attack
    gave is stored as soon as it is there: a run that was interrupted goes on with the next attack
    (shadow models that it needs are trained again, alike).

    Attributes
    ----------
    threat_model : ModelMIA
    attacks : sequence of Attack
    title : str
    name : str
        Display name of the model.
    claim : Claim, optional
    gates : sequence of Gate
    question : dict
        The audit as its author wrote it.
    """

    threat_model: Any
    attacks: Sequence[Any]
    title: str
    name: str
    claim: Claim | None
    gates: Sequence[Gate]
    question: dict[str, Any]

    def check(self) -> CheckReport:
        """Report every incompatibility, without training anything."""
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
        """Train the shadow models and judge all attacks."""
        start = time.perf_counter()
        asked = self.asked()
        place = None if store is None else open_store(Path(store), asked)
        self.threat_model.workers = Workers(n_jobs, executor)
        record = AuditRecord(
            title=self.title,
            question=asked,
            fingerprint=fingerprint(asked),
            seed=self.threat_model.seed,
            subjects=(self._carry_out(place),),
            claim=self.claim,
            gates=tuple(self.gates),
            provenance={
                **provenance(),
                "finished": datetime.now(UTC).isoformat(timespec="seconds"),
                "seconds": round(time.perf_counter() - start, 3),
            },
            stopped=None,
        )
        if store is not None:
            record.save(store)
        return record

    def _carry_out(self, store: Store | None) -> AuditedSubject:
        summaries, crashes = [], []
        for number, attack in enumerate(self.attacks):
            try:
                summaries.append(
                    judged_once(store, f"model/attack{number}", partial(self._judged, attack))
                )
            except Exception as error:
                crashes.append(AttackCrash(attack.label, "all", f"{type(error).__name__}: {error}"))
        shadows = 0 if self.threat_model.trainer is None else self.threat_model.num_shadows
        return AuditedSubject(
            name=self.name,
            summaries=tuple(summaries),
            crashes=tuple(crashes),
            trials={"train": shadows, "test": 1},
        )

    def _judged(self, attack: Any) -> MIAttackSummary:
        attack.train(self.threat_model)
        return _of_one_release(self.threat_model.test(attack))


def build_model_audit(config: AuditFile, names: Names) -> ModelAudit:
    """Make the audit of a model that a file describes."""
    part, key = config.model, f"{names.where}: model"
    if part is None:
        raise ConfigError(f"{key} is missing")
    inside, outside = _tables(config, names)
    if part.class_column not in inside.description.columns:
        raise ConfigError(
            f"{key}.class_column: {part.class_column!r} is not a column; the columns are "
            f"{listing(inside.description.columns)}"
        )
    members, others = (
        _labelled(table, part.class_column, f"{key}.class_column") for table in (inside, outside)
    )
    estimator = None
    if part.use is not None:
        estimator = names.make(part.use, part.parameters, None, ("models",), "model")
        model = _trained(estimator, members, config.seed)
    else:
        model = names.folder / str(part.file)
        if not model.is_file():
            raise ConfigError(f"{key}.file: there is no file {model}")
        names.remember_file(str(part.file), model)
        if part.shadows:
            raise ConfigError(
                f"{key}.shadows: a model from a file cannot be trained again: set shadows: 0"
            )
    attacks = [
        names.make(entry.use, entry.parameters, entry.label, ("attacks",), f"attacks[{position}]")
        for position, entry in enumerate(config.attacks)
    ]
    threat_model = ModelMIA(
        model,
        members,
        others,
        part.access,
        part.known_share,
        estimator if part.shadows else None,
        seed=config.seed,
        num_shadows=max(2, part.shadows),
        label=inside.label,
    )
    question = config.as_question()
    question["data"]["digest"] = [inside.table.digest(), outside.table.digest()]
    if names.own_code:
        question["code"] = dict(sorted(names.own_code.items()))
    return ModelAudit(
        threat_model,
        attacks,
        config.title,
        part.label or threat_model.model.label,
        None if config.claim is None else Claim(config.claim.epsilon, config.claim.delta),
        tuple(Gate(**gate.model_dump()) for gate in config.gates),
        question,
    )


def _of_one_release(summary: MIAttackSummary) -> MIAttackSummary:
    """Mark the records as judged in one release: they are no independent trials of a guarantee."""
    return MIAttackSummary(
        summary.labels,
        summary.predictions,
        summary.scores,
        generator_info=summary.generator,
        attack_info=summary.attack,
        dataset_info=summary.dataset,
        target_id=summary.target_id,
        groups=np.zeros(len(summary.labels), dtype=int),
        relation=summary.relation,
    )


def _tables(config: AuditFile, names: Names) -> tuple[TabularDataset, TabularDataset]:
    """Records that the model was trained on, and records that it was not."""
    if config.data.holdout is not None:
        known = shared_description(config, names)
        outside = read_file(config.data.holdout, config, names, "data.holdout", known)
        return read_table(config, names, known), outside
    if config.model is not None and config.model.file is not None:
        raise ConfigError(
            f"{names.where}: data.holdout: a model from a file needs records that it was not "
            f"trained on"
        )
    whole = read_table(config, names)
    order = stream(config.seed, _SPLIT).permutation(len(whole))
    half = len(whole) // 2
    return whole.take(order[:half]), whole.take(order[half:])


def _labelled(table: TabularDataset, column: str, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Numeric inputs, categories one-hot encoded, and classes."""
    classes = table.data[column]
    if classes.isna().any():
        raise ConfigError(f"{where}: {int(classes.isna().sum())} records have no {column!r}")
    inputs = np.asarray(table.view(exclude_columns=[column]).as_numeric, dtype=float)
    numbers = isinstance(classes.iloc[0], (int, float, np.number))
    return inputs, classes.to_numpy(dtype=int) if numbers else classes.to_numpy(dtype=object)


def _trained(estimator: Any, members: tuple[np.ndarray, np.ndarray], seed: int) -> Any:
    from tapas.models import SklearnTrainer, Trainer

    trainer = estimator if isinstance(estimator, Trainer) else SklearnTrainer(estimator)
    return trainer.train(*members, rng=stream(seed, _TRAINING))
