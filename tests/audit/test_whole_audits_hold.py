"""Whole audits of mechanisms of known epsilon: what they state fails no more often than they say.

Each kind plays thousands of audits through `Audit.run` and counts, for every statement that a page
or a gate makes, how often it is wrong. `pytest -m slow -s` prints the figures.
"""

import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from tapas.audit import Audit, StopEarly
from tapas.report import AuditPage
from tapas.results import AuditRecord, Claim, Findings, Gate, decide
from tapas.testing import KnownEvent, LaplaceCount, RandomizedResponse, worst_case
from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedMIA

BACKGROUND, TARGET = worst_case(3)
AUDITS = 2000
MOST_WRONG = 0.05 + 3 * math.sqrt(0.05 * 0.95 / AUDITS)


class Crashing(RandomizedResponse):
    """Crashes in three of ten trials, with the target and without: epsilon stays 1."""

    def _answer(self, dataset: Any, rng: np.random.Generator) -> int:
        lie = 1 / (1 + math.e)
        rates = (1 - lie, lie) if len(dataset) > len(BACKGROUND) else (lie, 1 - lie)
        answer = rng.choice(3, p=[0.7 * rates[1], 0.7 * rates[0], 0.3])
        if answer == 2:
            raise RuntimeError("crash")
        return int(answer)


MECHANISMS = {
    "responses": (RandomizedResponse, 1.0),
    "ties": (LaplaceCount, 1.0),
    "nothing": (RandomizedResponse, 1e-9),
    "failures": (Crashing, 1.0),
}


def played(
    kind: str, seed: int, trials: int = 40, folder: Path | None = None, **options: Any
) -> AuditRecord:
    make, epsilon = MECHANISMS[kind]
    mechanism = make(TARGET, epsilon)
    box = BlackBoxKnowledge(mechanism, len(BACKGROUND))
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), TARGET, box, seed=seed)
    audit = Audit(game, [KnownEvent(mechanism)], 0, trials, max_failures=trials, **options)
    return audit.run(folder, n_jobs=1)


@cache
def truth(kind: str) -> dict[str, float]:
    """Epsilon, AUC and true positive rate of the attack that knows the event."""
    if kind == "ties":
        rng = np.random.default_rng(0)
        worlds = [np.floor(k + rng.laplace(size=400_000)) for k in (1, 0)]
        area = np.mean(worlds[0] > worlds[1]) + np.mean(worlds[0] == worlds[1]) / 2
        return {"epsilon": 1.0, "auc": float(area), "tpr": LaplaceCount(TARGET, 1.0).rates[0]}
    epsilon = MECHANISMS[kind][1]
    rate = float(expit(epsilon))
    return {"epsilon": epsilon, "auc": rate, "tpr": rate}


def wrongs(kind: str, record: AuditRecord) -> Counter[str]:
    """Which statements about an audit are wrong."""
    known, findings = truth(kind), Findings(record)
    found = Counter({"audits": 1, "epsilon": int(findings.epsilon > known["epsilon"])})
    gates = [Gate("epsilon", known["epsilon"]), Gate("auc", known["auc"])]
    states = [outcome.state for outcome in decide(record, gates).outcomes]
    found["epsilon gate fails"] = int(states[0] == "fail")
    found["auc gate fails"] = int(states[1] == "fail")
    if record.claim is not None:
        found["claim"] = int(decide(record).contradicts_claim)
    if findings.best is not None:
        area = findings.best.own.auc
        assert area is not None
        found["auc interval"] = int(not area.low <= known["auc"] <= area.high)
        if kind == "nothing":
            found["leak in words"] = int("No attack did" not in " ".join(AuditPage(record).words))
    return found


def told(kind: str, found: Counter[str]) -> None:
    said = ", ".join(f"{name} {count}" for name, count in found.items() if name != "audits")
    print(f"{kind}: wrong in {found['audits']} audits: {said}")  # noqa: T201
    assert found["audits"] == AUDITS
    for name, count in found.items():
        if name != "audits":
            assert count / AUDITS <= MOST_WRONG, name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize("trials", [10, 40])
@pytest.mark.parametrize("kind", MECHANISMS)
def test_statements_of_single_audits(kind: str, trials: int) -> None:
    found, claim = Counter[str](), Claim(truth(kind)["epsilon"])
    for seed in range(AUDITS):
        found.update(wrongs(kind, played(kind, seed, trials, claim=claim)))
    told(f"{kind}, {trials} trials", found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize("kind", ["responses", "ties"])
def test_statements_of_audits_that_stop_early(kind: str) -> None:
    found, claim = Counter[str](), Claim(truth(kind)["epsilon"])
    for seed in range(AUDITS):
        stop = StopEarly(claim=claim, every=10)
        record = played(kind, seed, 40, claim=claim, stop_early=stop)
        found.update(wrongs(kind, record))
    told(f"{kind}, stopping early", found)


@pytest.mark.slow
def test_statements_of_audits_that_are_looked_at_again(tmp_path: Path) -> None:
    """Wrong at any look counts: who tops up trials after a look may stop at the worst."""
    found = Counter[str]()
    for seed in range(AUDITS):
        folder = tmp_path / str(seed)
        looks = [wrongs("responses", played("responses", seed, n, folder)) for n in (20, 30, 40)]
        found.update({name: max(look[name] for look in looks) for name in looks[0]})
    said = {name: count for name, count in found.items() if name != "audits"}
    print(f"three looks: wrong in {found['audits']} audits: {said}")  # noqa: T201
    # The first look has all of the error, later ones a tenth of it together.
    assert max(said.values()) / AUDITS <= 0.055 + 3 * math.sqrt(0.055 * 0.945 / AUDITS)
