"""What `tapas.stats` offers is called by what users run: audits, gates, pages, reports."""

import functools
import inspect
import sys
from collections.abc import Callable
from enum import EnumMeta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from whole_audits import BACKGROUND, Noise, played, played_by_many

from tapas import stats
from tapas.attacks import ClosestDistanceMIA, EnsembleAttack, LossMIA
from tapas.audit import Audit, StopEarly
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Raw
from tapas.report import AuditPage, EffectiveEpsilonReport, MIAttackReport
from tapas.results import AuditRecord, Claim, Gate, decide
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    ModelMIA,
    ObservedMIA,
    TargetedMIA,
)

GATES = (Gate("epsilon", 0.5), Gate("auc", 0.6), Gate("advantage", 0.5), Gate("tpr_at_fpr", 0.5))


def _of_claims() -> list[AuditRecord]:
    claim = Claim(0.2)
    return [
        played("responses", 0, 60, claim=Claim(1.0)),
        played("responses", 0, 60, claim=claim, stop_early=StopEarly(claim=claim, every=20)),
        played("ties", 0, 60, claim=Claim(9.0, 1e-5, "gaussian")),
        played("pairs", 0, 60, claim=Claim(9.0)),
    ]


def _of_canaries() -> list[AuditRecord]:
    rows = [["rare", 3, 1, 0.75 + number / 1000] for number in range(30)]
    people = TabularDataset(rows, BACKGROUND.description)
    game = CanaryMIA(ExactDataKnowledge(BACKGROUND), people, BlackBoxKnowledge(Noise(), 2), seed=0)
    attack = ClosestDistanceMIA(criterion=("threshold", 0))
    claims = Claim(9.0), Claim(9.0, 1e-5, "gaussian")
    return [Audit(game, [attack], 1, 1, claim=claim).run(n_jobs=1) for claim in claims]


def _of_people() -> list[AuditRecord]:
    census = load_sample("census", 60, seed=0)
    known = AuxiliaryDataKnowledge(census.drop_records(range(6)), num_training_records=20, seed=0)
    box = BlackBoxKnowledge(Raw(), 20)
    game = TargetedMIA(known, census.get_records(range(6)), box, seed=1)
    audit = Audit(game, [EnsembleAttack()], 60, 60, exposure_map=True)
    return [audit.run(n_jobs=1), played_by_many(0, 1, 6, 30)]


def _of_one_release() -> list[AuditRecord]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 2))
    y = (X[:, 0] > 0).astype(int)
    X[60:120, 1] += 0.9  # so that the inputs tell something without the model
    tree = DecisionTreeClassifier(random_state=0).fit(X[:60], y[:60])
    model = ModelMIA(tree, (X[:60], y[:60]), (X[60:120], y[60:120]), seed=0, n_jobs=1)
    model.judge(LossMIA(), (X[120:], y[120:]))
    data = load_sample("census", 120, seed=0)
    files = ObservedMIA(*(data.take(range(*ends)) for ends in ((60,), (60, 120), (40,))), seed=0)
    gates = [Gate("auc", 0.6), Gate("copied_records", 0)]
    return [
        Audit(model, [LossMIA()]).run(n_jobs=1),
        Audit(files, [ClosestDistanceMIA()], gates=gates).run(n_jobs=1),
    ]


def _what_users_run(folder: Path) -> None:
    records = [*_of_claims(), *_of_canaries(), *_of_people(), *_of_one_release()]
    for record in records:
        decide(record, GATES)
        AuditPage(record).html()
    summary = records[0].subjects[0].summaries[0]
    MIAttackReport([summary], num_bootstrap=10)
    for split in (0.1, None):
        EffectiveEpsilonReport([summary], validation_split=split).publish(folder)


def _noted(name: str, real: Callable[..., Any], called: set[str]) -> Callable[..., Any]:
    @functools.wraps(real)
    def call(*given: Any, **named: Any) -> Any:
        called.add(name)
        return real(*given, **named)

    return call


def _watched(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of what is called or made from now on, in whichever module it is known."""
    called: set[str] = set()
    rooms = [module for name, module in list(sys.modules.items()) if name.startswith("tapas.")]
    for name in stats.__all__:
        real = getattr(stats, name)
        if inspect.isfunction(real):
            for room in rooms:
                for known in [key for key, value in vars(room).items() if value is real]:
                    monkeypatch.setattr(room, known, _noted(name, real, called))
        else:
            made = "__new__" if issubclass(real, tuple) else "__init__"
            monkeypatch.setattr(real, made, _noted(name, getattr(real, made), called))
    return called


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
def test_every_public_statistic_is_called_by_what_users_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = _watched(monkeypatch)
    _what_users_run(tmp_path)
    kinds = {name for name in stats.__all__ if issubclass(type(getattr(stats, name)), EnumMeta)}
    assert set(stats.__all__) - kinds - called == set()
