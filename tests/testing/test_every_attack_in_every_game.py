"""Every attack in every game: at chance, found, refused, and the same to the bit by every way."""

import inspect
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outcomes import Refuses, bits, summaries
from small_games import GAMES, UNUSUAL

import tapas.attacks
import tapas.threat_models
from tapas.attacks import (
    Attack,
)
from tapas.audit import Audit
from tapas.compat import GameThreatModel, TargetViews, needs_of
from tapas.errors import IncompatibleAttackError
from tapas.game import unfit
from tapas.results import AuditRecord
from tapas.testing import every_attack

# A tree is as sure of everybody: attacks on its confidence see nothing, and the audit says so.
pytestmark = pytest.mark.filterwarnings("ignore:.* gave all trials of")
ALL_GAMES = {**GAMES, **UNUSUAL}
BASES = {"Attack", "TrainableThresholdAttack"}
BASE_GAMES = {"LabelInferenceThreatModel"}
FAR = 4.0  # standard errors

# What each attack should find where a release or a model tells all: the least AUC, or accuracy
# where there are many values to guess.
LEAST = {
    "ClosestDistanceMIA": 0.99,
    "ClosestDistanceAIA": 0.99,
    "LocalNeighbourhoodAttack": 0.99,
    "LocalNeighboursWithReference": 0.6,  # others are near synthetic records as often as not
    "ReconstructionAttack": 0.9,
    "RecordEnsembleAttack": 0.9,
    "SinglingOutAttack": 0.85,
    "LinkabilityAttack": 0.9,
    "InferenceAttack": 0.9,
    "DOMIAS": 0.75,
    "ProbabilityEstimationAttack": 0.9,
    "SyntheticPredictorAttack": 0.9,
    "ShadowModellingAttack": 0.75,
    "GenLRA": 0.75,
    "GroundhogAttack": 0.9,
    "SubsetAttack": 0.9,
    "NearnessAttack": 0.9,
    "LikelihoodAttack": 0.9,
    "MarginalsAttack": 0.7,
    "QueryAttack": 0.75,
    "EnsembleAttack": 0.9,
    "LossMIA": 0.9,
    "ConfidenceMIA": 0.9,
    "EntropyMIA": 0.9,
    "ModifiedEntropyMIA": 0.9,
    "RuleBasedMIA": 0.7,  # a third of the others are right by chance
    "BlackBoxMIA": 0.9,
    "QuantileMIA": 0.85,
    "LabelOnlyMIA": 0.6,  # few queries
    "CalibratedLossMIA": 0.9,
    "LiRA": 0.9,
    "RMIA": 0.9,
    "RehearsedMIA": 0.85,
    "CertaintyMIA": 0.9,
    "TreeMIA": 0.9,
    "ConfidenceAIA": 0.85,
    "LabelOnlyAIA": 0.85,
    "ImputationAIA": 0.85,  # the population tells, the model is not asked
    "PropertyClassifier": 0.9,
    "WhiteBoxPropertyClassifier": 0.9,
}
# Chance is a third, and the naive features of twenty releases of each ward say little more.
# One of the targets has no combination that others do not have.
LEAST_HERE = {
    ("TargetedAIA of many values", "ShadowModellingAttack"): 0.45,
    ("ImportedMIA", "SinglingOutAttack"): 0.5,
    # A quarter or more of the values of others are guessed right too, which is no leak.
    ("ObservedAIA", "ClosestDistanceAIA"): 0.83,
    ("ObservedAIA", "LocalNeighbourhoodAttack"): 0.83,
    ("ObservedAIA", "SyntheticPredictorAttack"): 0.83,
}


# -- audits that several tests look at ----------------------------------------------------------


def fitting(threat_model: GameThreatModel) -> list[Attack]:
    """Every attack that a game allows."""
    setting = threat_model.game.setting
    return [one for one in every_attack() if not unfit(needs_of(one), one.label, setting)]


def refused(threat_model: GameThreatModel) -> list[Attack]:
    """Every attack that a game does not allow."""
    setting = threat_model.game.setting
    return [one for one in every_attack() if unfit(needs_of(one), one.label, setting)]


@dataclass(frozen=True)
class Audits:
    """Audits of small games by all attacks that fit; each is run once."""

    folder: Path
    records: dict[tuple[str, bool, int], AuditRecord] = field(default_factory=dict)

    def threat_model(self, name: str, leaky: bool = True, seed: int = 5) -> GameThreatModel:
        return ALL_GAMES[name].make(leaky, seed, seed, self.folder)

    def audit(self, name: str, leaky: bool = True, seed: int = 5) -> Audit:
        threat_model, game = self.threat_model(name, leaky, seed), ALL_GAMES[name]
        return Audit(threat_model, fitting(threat_model), game.num_train, game.num_test)

    def record(self, name: str, leaky: bool = True, seed: int = 5) -> AuditRecord:
        """What comes out in one process, without a store."""
        key = (name, leaky, seed)
        if key not in self.records:
            self.records[key] = self.audit(name, leaky, seed).run(n_jobs=1)
        return self.records[key]


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> Audits:
    return Audits(tmp_path_factory.mktemp("games"))


each_game = pytest.mark.parametrize("name", GAMES)
each_game_and_unusual_ones = pytest.mark.parametrize("name", ALL_GAMES)


def names_of_classes() -> dict[str, str]:
    """Class of each attack, by its label."""
    return {one.label: type(one).__name__ for one in every_attack()}


# -- who is there -------------------------------------------------------------------------------


def test_every_public_attack_is_played_somewhere_and_has_an_expectation(audits: Audits) -> None:
    public = {name: getattr(tapas.attacks, name) for name in tapas.attacks.__all__}
    concrete = {
        name
        for name, thing in public.items()
        if inspect.isclass(thing) and issubclass(thing, Attack) and name not in BASES
    }
    played = {type(one).__name__ for name in GAMES for one in fitting(audits.threat_model(name))}
    assert played == set(LEAST) == concrete


def test_every_public_game_is_played(audits: Audits) -> None:
    public = {name: getattr(tapas.threat_models, name) for name in tapas.threat_models.__all__}
    games = {
        name
        for name, thing in public.items()
        if inspect.isclass(thing) and issubclass(thing, GameThreatModel)
    }
    assert {type(audits.threat_model(name)).__name__ for name in ALL_GAMES} == games - BASE_GAMES


def test_attacks_have_different_labels() -> None:
    labels = [one.label for one in every_attack()]
    assert len(set(labels)) == len(labels)


# -- what they find -----------------------------------------------------------------------------


@each_game
def test_an_attack_finds_what_a_leaky_release_tells(name: str, audits: Audits) -> None:
    classes, missed = names_of_classes(), {}
    found: dict[str, list[float]] = {}
    for one in summaries(audits.record(name)):
        many = one.scores is not None and one.scores.ndim == 2
        found.setdefault(one.attack, []).append(one.accuracy if many else one.auc)
    assert set(found) == {one.label for one in fitting(audits.threat_model(name))}
    for attack, reached in found.items():
        kind = classes[attack]
        if min(reached) < LEAST_HERE.get((name, kind), LEAST[kind]):
            missed[attack] = reached
    assert missed == {}


def distance_from_chance(found: Sequence[Any]) -> float:
    """Standard errors between what an attack reached and what guessing would, all together."""
    distances = []
    for one in found:
        if one.scores is not None and one.scores.ndim == 2:
            chance = 1 / one.scores.shape[1]
            error = np.sqrt(chance * (1 - chance) / len(one))
            distances.append((one.accuracy - chance) / error)
        elif 0 < one.labels.sum() < len(one):
            inside, outside = one.labels.sum(), len(one) - one.labels.sum()
            distances.append((one.auc - 0.5) / np.sqrt((len(one) + 1) / (12 * inside * outside)))
    return float(np.sum(distances) / np.sqrt(max(1, len(distances))))


def far_from_chance(audits: Audits, name: str, seeds: range) -> dict[str, float]:
    found: dict[str, list[Any]] = {}
    for seed in seeds:
        for one in summaries(audits.record(name, leaky=False, seed=seed)):
            found.setdefault(one.attack, []).append(one)
    distances = {attack: distance_from_chance(several) for attack, several in found.items()}
    return {attack: far for attack, far in distances.items() if abs(far) > FAR}


@each_game
def test_an_attack_is_at_chance_where_nothing_depends_on_the_secret(
    name: str, audits: Audits
) -> None:
    assert far_from_chance(audits, name, range(1)) == {}


@pytest.mark.slow
@each_game
def test_an_attack_stays_at_chance_over_many_seeds(name: str, audits: Audits) -> None:
    assert far_from_chance(audits, name, range(30)) == {}


# -- who is refused -----------------------------------------------------------------------------


@each_game
def test_a_check_names_what_would_fit_instead_of_each_attack_that_does_not(
    name: str, audits: Audits
) -> None:
    game, threat_model = GAMES[name], audits.threat_model(name)
    fit = {type(one).__name__ for one in fitting(threat_model)}
    for attack in refused(threat_model):
        report = Audit(threat_model, [attack], game.num_train, game.num_test).check()
        assert not report.ok
        assert attack.label in report.problems[0]
        if attack.needs.release != threat_model.game.setting.release:
            assert any(named in report.problems[0] for named in fit), report.problems[0]


@each_game
def test_a_refused_attack_is_refused_by_every_door_and_spoils_no_run(
    name: str, audits: Audits
) -> None:
    game, threat_model = GAMES[name], audits.threat_model(name)
    others = refused(threat_model)
    for attack in others:
        with pytest.raises(IncompatibleAttackError, match=r": (use|give|raise|play)"):
            attack.train(threat_model, 2)
    one = fitting(threat_model)[0]
    record = Audit(threat_model, [*others, one], game.num_train, game.num_test).run(n_jobs=1)
    (subject,) = record.subjects
    assert {crash.attack for crash in subject.crashes} == {attack.label for attack in others}
    alone = [known for known in summaries(audits.record(name)) if known.attack == one.label]
    assert bits(subject.summaries) == bits(alone)


# -- every way gives the same -------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@each_game_and_unusual_ones
def test_a_run_that_is_checked_on_two_processes_stored_and_read_again_changes_no_bit(
    name: str, audits: Audits, tmp_path: Path, two_processes: Executor
) -> None:
    fresh = bits(summaries(audits.record(name)))
    audit = audits.audit(name)
    assert audit.check().ok
    assert bits(summaries(audit.run(tmp_path, executor=two_processes))) == fresh
    again = audits.audit(name).run(tmp_path, executor=Refuses())
    assert bits(summaries(again)) == fresh
    assert bits(summaries(AuditRecord.load(tmp_path))) == fresh


@pytest.fixture(scope="module")
def dask_worker() -> Iterator[Executor]:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client.get_executor()


@pytest.mark.slow
@each_game_and_unusual_ones
def test_a_run_on_a_cluster_changes_no_bit(
    name: str, audits: Audits, dask_worker: Executor
) -> None:
    found = audits.audit(name).run(executor=dask_worker)
    assert bits(summaries(found)) == bits(summaries(audits.record(name)))


@pytest.mark.parametrize("name", ["TargetedMIA", "ModelMIA with shadow models"])
def test_processes_that_a_run_starts_change_no_bit(name: str, audits: Audits) -> None:
    found = summaries(audits.audit(name).run(n_jobs=2))
    assert bits(found) == bits(summaries(audits.record(name)))


@each_game_and_unusual_ones
def test_the_documented_doors_give_what_an_audit_gives(name: str, audits: Audits) -> None:
    game, threat_model = ALL_GAMES[name], audits.threat_model(name)
    views = list(threat_model) if isinstance(threat_model, TargetViews) else [threat_model]
    found = []
    for view in views:
        view.workers = type(view.workers)(n_jobs=1)
        for attack in fitting(threat_model):
            attack.train(view, game.num_train)
            found.append(view.test(attack, game.num_test))
    assert bits(found) == bits(summaries(audits.record(name)))
