"""Whole audits of mechanisms of known epsilon: what they state fails no more often than they say.

Each kind plays thousands of audits through `Audit.run` and counts, for every statement that a page
or a gate makes, how often it is wrong. `pytest -m slow -s` prints the figures. Audits of many
trials are played a few times; thousands of records hold scores that follow the same law.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from whole_audits import (
    AUDITS,
    BACKGROUND,
    MECHANISMS,
    TARGET,
    Guess,
    Noise,
    played,
    played_by_many,
    recorded,
    told,
    truth,
    wrongs,
)

from tapas.attacks import ClosestDistanceMIA, LossMIA
from tapas.audit import Audit, StopEarly
from tapas.datasets import TabularDataset
from tapas.results import AuditRecord, Claim, Gate, decide
from tapas.threat_models import (
    BlackBoxKnowledge,
    ExactDataKnowledge,
    ModelMIA,
    ObservedMIA,
    TargetedAIA,
)

PLAYED_WHOLE = {1000: 200, 10_000: 40}


def of_rare_values(seed: int) -> AuditRecord:
    """Guesses of a value that one in ten has, from releases that tell nothing."""
    box = BlackBoxKnowledge(Noise(), 2)
    values = ["common", "rare"]
    known = ExactDataKnowledge(BACKGROUND)
    game = TargetedAIA(
        known, TARGET, BACKGROUND.description.columns[0], values, box, [0.9, 0.1], seed=seed
    )
    return Audit(game, [Guess(0)], 0, 60).run(n_jobs=1)


def of_few_members(seed: int) -> AuditRecord:
    """Ten private records beside a thousand others, half of each known, in another's release."""
    rng = np.random.default_rng(seed)
    rows = [["common", 0, 0, value] for value in rng.random(1210).round(6)]
    table = TabularDataset(rows, BACKGROUND.description)
    parts = [table.take(range(*ends)) for ends in ((0, 200), (200, 210), (210, 1210))]
    game = ObservedMIA(*parts, seed=seed)
    return Audit(game, [ClosestDistanceMIA()]).run(n_jobs=1)


def of_one_model(seed: int) -> AuditRecord:
    """Records of which a tree was trained on none, twenty beside eighty."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2)).round(1)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:100], y[:100])
    game = ModelMIA(tree, (X[100:140], y[100:140]), (X[140:], y[140:]), seed=seed, n_jobs=1)
    return Audit(game, [LossMIA()]).run(n_jobs=1)


UNEQUAL: dict[str, Callable[[int], AuditRecord]] = {
    "rare values": of_rare_values,
    "few members": of_few_members,
    "one model": of_one_model,
}


def test_statements_of_a_few_audits() -> None:
    """What the long simulations count is counted: a false truth is found to be wrong."""
    record = played("responses", 0, 60)
    found = wrongs("responses", record)
    assert {"epsilon", "auc intervals", "tpr intervals", "words too strong", "band"} <= set(found)
    assert wrongs("nothing", played("responses", 1, 200))["leak in words"] == 1
    assert wrongs("nothing", recorded("ties", 0, 1000))["claim"] == 0
    assert wrongs("nothing", recorded("ties", 0, 1000))["auc intervals"] == 1
    for kind in ("numbers", "pairs of numbers"):
        (summary,) = played(kind, 0, 60).subjects[0].summaries
        assert np.unique(summary.scores).size == 60
        assert (summary.dependence == "pairs") == kind.startswith("pairs")
    assert truth("pairs of numbers")["auc"] < truth("numbers")["auc"] - 0.05
    many = wrongs("nothing", played_by_many(0, 2, 5, 20))
    assert many["audits"] == 1
    assert many["epsilon"] == 0
    assert {"people exposed", "means over people"} <= set(many)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize("trials", [5, 10, 40])
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
    # The first look has all of the error, later ones a tenth of it together.
    told("three looks", found, AUDITS, 0.055)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize(
    ("attacks", "targets", "trials"),
    [(5, 10, 100), (20, 100, 100)],
)
def test_the_best_of_many_attacks_on_targets_that_share_releases(
    attacks: int, targets: int, trials: int
) -> None:
    found = Counter[str]()
    for seed in range(AUDITS):
        found.update(wrongs("nothing", played_by_many(seed, attacks, targets, trials)))
    told(f"best of {attacks} x {targets}", found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["responses", "ties", "numbers", "nothing"])
@pytest.mark.parametrize("trials", PLAYED_WHOLE)
def test_statements_of_audits_of_many_trials(kind: str, trials: int) -> None:
    found, claim = Counter[str](), Claim(truth(kind)["epsilon"])
    for seed in range(PLAYED_WHOLE[trials]):
        found.update(wrongs(kind, played(kind, seed, trials, claim=claim)))
    told(f"{kind}, {trials} trials", found, PLAYED_WHOLE[trials])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["responses", "ties", "numbers", "nothing"])
@pytest.mark.parametrize("trials", PLAYED_WHOLE)
def test_statements_of_records_of_many_trials(kind: str, trials: int) -> None:
    found = Counter[str]()
    for seed in range(AUDITS):
        found.update(wrongs(kind, recorded(kind, seed, trials)))
    told(f"{kind}, records of {trials} trials", found)


def wrong_of_unequal(kind: str, seed: int) -> Counter[str]:
    record = UNEQUAL[kind](seed)
    found = wrongs("unequal", record)
    if kind == "rare values":
        # No guess is right more often than in nine of ten.
        (outcome,) = decide(record, [Gate("accuracy_gain", 0.0)]).outcomes
        found["accuracy gain gate fails"] = int(outcome.state == "fail")
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNEQUAL)
def test_statements_of_one_audit_of_unequal_classes(kind: str) -> None:
    record = UNEQUAL[kind](0)
    (summary,) = record.subjects[0].summaries
    assert 0.005 < summary.labels.mean() < 0.3
    assert wrong_of_unequal(kind, 0)["audits"] == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNEQUAL)
def test_statements_of_audits_of_unequal_classes(kind: str) -> None:
    found = Counter[str]()
    for seed in range(AUDITS):
        found.update(wrong_of_unequal(kind, seed))
    told(kind, found)
