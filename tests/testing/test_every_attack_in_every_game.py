"""Every attack in every game: at chance, found, refused, and the same to the bit by every way."""

import importlib
import inspect
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from small_games import GAMES, UNUSUAL, Public

import tapas.attacks
import tapas.threat_models
from tapas.attacks import (
    Attack,
    BlackBoxMIA,
    ClosestDistanceMIA,
    EntropyMIA,
    GroundhogAttack,
    LiRA,
    LossMIA,
    TrainableThresholdAttack,
)
from tapas.audit import Audit, StopEarly
from tapas.compat import GameThreatModel, TargetViews, needs_of
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Release, TableBriefing, unfit
from tapas.generators import Generator, Raw
from tapas.models import Model, SklearnTrainer
from tapas.results import AttackSummary, AuditRecord
from tapas.testing import every_attack
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    ModelMIA,
    TargetedMIA,
)

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


class Refuses(Executor):
    """Where nothing can be run."""

    def submit(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a trial was to be played")


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


# -- what is killed, and what is added ------------------------------------------------------------


def lines(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


@dataclass(frozen=True)
class LogsTraining(SklearnTrainer):
    """Adds a line to a file for every model that it trains."""

    log: Path = Path()

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        with self.log.open("a") as file:
            file.write("trained\n")
        return super().train(X, y, rng=rng)


def interrupted_after(number: int) -> type:
    class Impatient:
        """Progress that ends with somebody pressing Control-C."""

        left = number

        def __init__(self, **_: Any) -> None:
            pass

        def update(self, n: int = 1) -> None:
            Impatient.left -= n
            if Impatient.left == 0:
                raise KeyboardInterrupt

        def close(self) -> None:
            pass

    return Impatient


SHADOWS = 8


def shadow_audit(log: Path) -> Audit:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, size=80)
    forest = RandomForestClassifier(4, bootstrap=False, max_features=1)
    threat_model = ModelMIA(
        RandomForestClassifier(4, bootstrap=False, random_state=0).fit(X[:40], y[:40]),
        (X[:40], y[:40]),
        (X[40:], y[40:]),
        trainer=LogsTraining(forest, log=log),
        num_shadows=SHADOWS,
        seed=3,
    )
    return Audit(threat_model, [LossMIA(), LiRA()])


@pytest.mark.parametrize("after", [1, 5, SHADOWS])
def test_a_model_audit_that_is_killed_goes_on_and_trains_only_what_is_missing(
    after: int, tmp_path: Path
) -> None:
    unbroken = bits(summaries(shadow_audit(tmp_path / "unbroken").run(n_jobs=1)))
    assert lines(tmp_path / "unbroken") == SHADOWS
    log, store = tmp_path / "broken", tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        shadow_audit(log).run(store, progress=interrupted_after(after), n_jobs=1)
    assert lines(log) == after
    assert bits(summaries(shadow_audit(log).run(store, n_jobs=1))) == unbroken
    assert lines(log) == SHADOWS


def test_an_attack_that_looks_at_the_same_of_a_model_trains_none_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = shadow_audit(log)
    first.run(tmp_path / "store", n_jobs=1)
    more = Audit(first.threat_model, [*first.attacks, LiRA("offline"), EntropyMIA()])
    assert len(summaries(more.run(tmp_path / "store", n_jobs=1))) == 4
    assert lines(log) == SHADOWS


def test_an_attack_that_looks_at_models_differently_has_them_trained_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    first = shadow_audit(log)
    first.run(tmp_path / "store", n_jobs=1)
    more = Audit(first.threat_model, [*first.attacks, BlackBoxMIA("lr")])
    more.run(tmp_path / "store", n_jobs=1)
    assert lines(log) == 2 * SHADOWS


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


def test_an_audit_that_is_killed_inside_a_trial_goes_on_as_if_unbroken(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    log.with_suffix(".stop").touch()
    with pytest.raises(KeyboardInterrupt):
        table_audit(LogsReleases(log), [ClosestDistanceMIA()]).run(store, n_jobs=1)
    log.with_suffix(".stop").unlink()
    found = table_audit(LogsReleases(log), [ClosestDistanceMIA()]).run(store, n_jobs=1)
    assert lines(log) == 12 + 1  # the trial that was under way is played again
    unbroken = table_audit(LogsReleases(tmp_path / "other"), [ClosestDistanceMIA()])
    assert bits(summaries(found)) == bits(summaries(unbroken.run(n_jobs=1)))


def test_more_attacks_and_more_trials_play_only_what_is_missing(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    first = [ClosestDistanceMIA()]
    table_audit(LogsReleases(log), first).run(store, n_jobs=1)
    assert lines(log) == 12
    second = [ClosestDistanceMIA(), GroundhogAttack(model=RandomForestClassifier(5))]
    table_audit(LogsReleases(log), second).run(store, n_jobs=1)
    assert lines(log) == 12
    found = table_audit(LogsReleases(log), second, 9).run(store, n_jobs=1)
    assert lines(log) == 15
    fresh = table_audit(LogsReleases(tmp_path / "other"), second, 9).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))


def test_without_the_releases_another_attack_plays_the_trials_again(tmp_path: Path) -> None:
    log, store = tmp_path / "log", tmp_path / "store"
    attacks = [ClosestDistanceMIA(), GroundhogAttack(model=RandomForestClassifier(5))]
    for some in (attacks[:1], attacks):
        table_audit(LogsReleases(log), some, keep_data=False).run(store, n_jobs=1)
    # Each run plays 12, and two once more: the page says what was released near the target.
    assert lines(log) == 2 * (12 + 2)


# -- what has changed is not taken over -----------------------------------------------------------


class KeepsSome(Public):
    """Copies as many private records as a parameter says that is nobody's business."""

    def __init__(self, keep: int) -> None:
        super().__init__()
        self._keep = keep

    def fit(self, dataset: Any, **_: Any) -> None:
        self.dataset = dataset

    def generate(self, num_samples: int, random_state: Any = None) -> TabularDataset:
        drawn = super().generate(num_samples - self._keep, random_state)
        return self.dataset.take(range(self._keep), reset_index=True) + drawn


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.WARNING, logger="tapas")
    return lambda: [entry.getMessage() for entry in caplog.records]


def test_a_private_parameter_makes_another_generator(
    tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    attack = ClosestDistanceMIA()
    table_audit(KeepsSome(0), [attack]).run(tmp_path, n_jobs=1)
    table_audit(KeepsSome(0), [attack]).run(tmp_path, executor=Refuses())
    assert said() == []
    found = table_audit(KeepsSome(12), [attack]).run(tmp_path, n_jobs=1)
    fresh = table_audit(KeepsSome(12), [attack]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    (line,) = said()
    assert "another game" in line
    assert "_keep: stored 0, asked 12" in line


OWN_GENERATOR = """
from tapas.generators import Raw

class Own(Raw):
    label = "Own"

    def generate(self, num_samples, random_state=None):
        return super().generate({size}, random_state)
"""


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Writes a generator into a module of the user's own, again and again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(size: str) -> Generator:
        (tmp_path / "own_generator.py").write_text(OWN_GENERATOR.format(size=size))
        sys.modules.pop("own_generator", None)
        importlib.invalidate_caches()
        module: ModuleType = importlib.import_module("own_generator")
        made: Generator = module.Own()
        return made

    yield write
    sys.modules.pop("own_generator", None)


def test_edited_code_makes_another_generator(
    tmp_path: Path, edited: Callable[[str], Any], said: Callable[[], list[str]]
) -> None:
    attack, store = ClosestDistanceMIA(), tmp_path / "store"
    table_audit(edited("num_samples"), [attack]).run(store, n_jobs=1)
    table_audit(edited("num_samples"), [attack]).run(store, executor=Refuses())
    assert said() == []
    found = table_audit(edited("num_samples // 2"), [attack]).run(store, n_jobs=1)
    fresh = table_audit(edited("num_samples // 2"), [attack]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    (line,) = said()
    assert "another game" in line
    assert "source" in line


class Counts(TrainableThresholdAttack):
    """Counts released records that share some columns with the target."""

    label = "Counts"

    def __init__(self, columns: int) -> None:
        super().__init__()
        self._columns = columns

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        assert isinstance(briefing, TableBriefing)
        columns = [column.name for column in briefing.targets.table.columns][: self._columns]
        other = release.table.table.select(columns)
        differences = other.count_differences(briefing.targets.table.select(columns))
        return (differences == 0).sum(axis=1).astype(float)


def test_a_private_parameter_makes_another_attack(
    tmp_path: Path, said: Callable[[], list[str]]
) -> None:
    log = tmp_path / "log"
    store = tmp_path / "store"
    table_audit(LogsReleases(log), [Counts(1)]).run(store, n_jobs=1)
    table_audit(LogsReleases(log), [Counts(1)]).run(store, executor=Refuses())
    assert said() == []
    found = table_audit(LogsReleases(log), [Counts(5)]).run(store, n_jobs=1)
    fresh = table_audit(LogsReleases(tmp_path / "other"), [Counts(5)]).run(n_jobs=1)
    assert bits(summaries(found)) == bits(summaries(fresh))
    assert lines(log) == 12  # releases are looked at again, not made again
    (line,) = said()
    assert "Counts has changed" in line
    assert "_columns: stored 1, asked 5" in line


# -- unusual ways ---------------------------------------------------------------------------------


class OnlyDraws(AttackerKnowledgeOnData):
    """Draws private data, and holds none that an attack could look at."""

    _label = "drawn"

    def generate_datasets(self, num_samples: int, training: bool = True) -> list[TabularDataset]:
        people = load_sample("clinic", 60, seed=7)
        draws = [np.random.permutation(60)[:12] for _ in range(num_samples)]  # noqa: NPY002
        return [people.take(rows, reset_index=True) for rows in draws]


def test_without_auxiliary_data_features_learn_the_same_by_doors_and_by_audit(
    tmp_path: Path,
) -> None:
    def groundhog() -> GroundhogAttack:
        return GroundhogAttack(model=RandomForestClassifier(5))

    audit = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws())
    found = summaries(audit.run(tmp_path / "store", n_jobs=1))
    threat_model = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws()).threat_model
    assert isinstance(threat_model, TargetedMIA)
    attack = groundhog()
    attack.train(threat_model, 6)
    assert bits([threat_model.test(attack, 8)]) == bits(found)
    again = table_audit(Raw(), [groundhog()], 8, data=OnlyDraws()).run(tmp_path / "store")
    assert bits(summaries(again)) == bits(found)


class FitsInALog(ClosestDistanceMIA):
    """Adds a line to a list whenever it learns."""

    learnt: list[int] = []  # noqa: RUF012 - counts over all copies

    def fit(self, board: Board, *, rng: np.random.Generator) -> Any:
        self.learnt.append(len(board))
        return super().fit(board, rng=rng)


def test_an_audit_that_looks_early_and_often_learns_once() -> None:
    FitsInALog.learnt.clear()
    people = load_sample("clinic", 60, seed=3)
    threat_model = TargetedMIA(
        ExactDataKnowledge(people.take(range(2, 20), reset_index=True)),
        people.take([0, 1]),
        BlackBoxKnowledge(Raw(), 18),
        replace_target=True,
        seed=4,
    )
    audit = Audit(threat_model, [FitsInALog()], 8, 40, stop_early=StopEarly(width=0.01, every=10))
    looked = audit.run(n_jobs=1)
    assert FitsInALog.learnt == [8, 8]  # once for each target
    assert looked.subjects[0].trials["test"] == 40
    whole = Audit(threat_model, [FitsInALog()], 8, 40).run(n_jobs=1)
    assert bits(summaries(looked)) == bits(summaries(whole))


def test_a_tree_that_learns_by_heart_is_found_out_by_an_audit_without_numbers() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, size=120)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:60], y[:60])
    audit = Audit(ModelMIA(tree, (X[:60], y[:60]), (X[60:], y[60:]), seed=1), [LossMIA()])
    assert audit.check().ok
    (found,) = summaries(audit.run())
    assert found.auc > 0.65
