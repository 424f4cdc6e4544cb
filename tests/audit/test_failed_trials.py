"""A failed trial is an outcome: the attacker sees that nothing was released."""

import numpy as np
import pytest

from tapas.attacks import (
    Attack,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    EnsembleAttack,
    GroundhogAttack,
    LocalNeighbourhoodAttack,
)
from tapas.audit import Audit
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import IncompatibleAttackError
from tapas.generators import Generator
from tapas.report import AuditPage
from tapas.report._page_advice import actions
from tapas.results import (
    FAILURES,
    AuditedSubject,
    AuditRecord,
    Findings,
    Gate,
    MIAttackSummary,
    decide,
    exposed_people,
    record_facts,
)
from tapas.testing import KnownEvent, RandomizedResponse, worst_case
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    TargetedAIA,
    TargetedMIA,
    TrialPolicy,
)

DATA = load_sample("census", 300, seed=5)
BACKGROUND, TARGET = worst_case(3)
PUBLIC = load_sample("census", 200, seed=99)


class CrashesFor(Generator):
    """Ignores its data, but fails for some: with these chances where it has the target or not."""

    def __init__(self, inside: float, outside: float) -> None:
        super().__init__()
        self.inside, self.outside = inside, outside

    def fit(self, dataset: TabularDataset, **_: object) -> None:
        target = DATA.get_records([0])
        seen = (dataset.data == target.data.iloc[0]).all(axis=1).any()
        self.chance = self.inside if seen else self.outside

    def generate(self, num_samples: int, random_state: int | None = None) -> TabularDataset:
        rng = np.random.default_rng(random_state)
        if rng.random() < self.chance:
            raise RuntimeError("no release")
        return PUBLIC.sample(num_samples, random_state=int(rng.integers(1 << 30)))


def _record(generator: Generator, num_train: int = 40, num_test: int = 120):
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        BlackBoxKnowledge(generator, 5),
        generate_pairs=False,
        seed=1,
    )
    audit = Audit(threat_model, [ClosestDistanceMIA()], num_train, num_test, max_failures=num_test)
    return audit.run(n_jobs=1)


@pytest.mark.parametrize("num_train", [40, 2])
def test_a_mechanism_that_fails_for_members_only_fails_its_gates(num_train: int) -> None:
    record = _record(CrashesFor(0.8, 0.0), num_train)
    (summary,) = record.subjects[0].summaries
    failed = len([one for one in record.subjects[0].failures if one.phase == "test"])
    assert len(summary) == 120
    assert failed > 20
    assert np.isinf(summary.scores).sum() == failed
    assert summary.labels[np.isinf(summary.scores)].all()
    assert decide(record, [Gate("auc", 0.6)]).state == "fail"


def test_failures_by_chance_tell_nothing_and_keep_their_place() -> None:
    record = _record(CrashesFor(0.3, 0.3))
    (summary,) = record.subjects[0].summaries
    places = sorted(one.index for one in record.subjects[0].failures if one.phase == "test")
    np.testing.assert_array_equal(np.flatnonzero(np.isinf(summary.scores)), places)
    assert decide(record, [Gate("auc", 0.6)]).state != "fail"


def test_failures_count_where_a_threat_model_tests_in_python_too() -> None:
    generator = CrashesFor(0.8, 0.0)
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        BlackBoxKnowledge(generator, 5),
        generate_pairs=False,
        seed=1,
    )
    threat_model.policy = TrialPolicy(max_failures=200)
    attack = ClosestDistanceMIA()
    attack.train(threat_model, 40)
    summary = threat_model.test(attack, 120)
    (audited,) = _record(generator).subjects[0].summaries
    np.testing.assert_array_equal(summary.labels, audited.labels)
    np.testing.assert_array_equal(summary.scores, audited.scores)
    assert summary.auc > 0.8


def test_an_attack_of_ones_own_methods_shows_nothing_for_certain_where_trials_failed() -> None:
    class Own(Attack):
        def train(self, threat_model, num_samples=None) -> None:
            self.trained = True

        def attack_score(self, datasets) -> np.ndarray:
            return np.arange(len(datasets)) * 1.0

        def attack(self, datasets) -> np.ndarray:
            return np.zeros(len(datasets), dtype=bool)

        @property
        def label(self) -> str:
            return "own"

    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        BlackBoxKnowledge(CrashesFor(0.8, 0.0), 5),
        generate_pairs=False,
        seed=1,
    )
    threat_model.policy = TrialPolicy(max_failures=200)
    attack = Own()
    attack.train(threat_model)
    summary = threat_model.test(attack, 40)
    assert len(summary) < 40
    assert summary.dependence == "unknown"


def _crashing_game(targets: list[int]) -> TargetedMIA:
    return TargetedMIA(
        AuxiliaryDataKnowledge(DATA.drop_records(targets), num_training_records=20, seed=0),
        DATA.get_records(targets),
        BlackBoxKnowledge(CrashesFor(1.0, 0.0), 5),
        seed=1,
    )


def test_a_mechanism_that_fails_for_a_member_alone_is_judged_by_its_failures() -> None:
    attacks = [ClosestDistanceMIA()]
    game = _crashing_game([0])
    record = Audit(game, attacks, 20, 60, max_failures=80, gates=[Gate("auc", 0.6)]).run(n_jobs=1)
    (summary,) = record.subjects[0].summaries
    assert (summary.attack, summary.auc, summary.accuracy) == (FAILURES, 1.0, 1.0)
    assert not record.subjects[0].crashes
    assert decide(record).state == "fail"
    words = " ".join(AuditPage(record).words)
    assert "failed in 40 of 80 runs" in words
    assert "hang together with the secret of 1 target ('0')" in words


def test_others_are_attacked_where_failures_tell_of_one_target() -> None:
    attacks = [ClosestDistanceMIA(), GroundhogAttack(), EnsembleAttack()]
    audit = Audit(_crashing_game([0, 1, 2, 3, 4]), attacks, 40, 40, max_failures=100)
    record = audit.run(n_jobs=1)
    (subject,) = record.subjects
    found = {(str(one.attack), str(one.target_id)) for one in subject.summaries}
    names = [attack.label for attack in audit.attacks]
    assert found == {(FAILURES, "0"), *((name, t) for name in names for t in "1234")}
    assert not subject.crashes
    (people,) = exposed_people(record)
    assert people.table["target"].tolist()[0] == "0"
    assert len(people.table) == 5
    assert people.num_exposed == 1


def test_training_says_that_failures_hang_together_with_the_secret() -> None:
    threat_model = _crashing_game([0])
    threat_model.policy = TrialPolicy(max_failures=200)
    for attack in (ClosestDistanceMIA(), GroundhogAttack(), EnsembleAttack()):
        with pytest.raises(IncompatibleAttackError, match="hang together with the secret"):
            attack.train(threat_model, 40)


@pytest.mark.parametrize(
    ("values", "right"), [(["good", "bad"], 1.0), (["good", "bad", "fair"], 0.6)]
)
def test_failures_tell_values_of_attributes_too(values: list[str], right: float) -> None:
    """Whatever value but the first makes the mechanism fail."""

    class FailsForOthers(Generator):
        def fit(self, dataset: TabularDataset, **_: object) -> None:
            rows = dataset.data.drop(columns="Health")
            same = (rows == DATA.data.drop(columns="Health").iloc[0]).all(axis=1)
            self.fails = set(dataset.data.loc[same, "Health"]) != {values[0]}

        def generate(self, num_samples: int, random_state: int | None = None) -> TabularDataset:
            if self.fails:
                raise RuntimeError("no release")
            return PUBLIC.sample(num_samples, random_state=random_state)

    game = TargetedAIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        "Health",
        values,
        BlackBoxKnowledge(FailsForOthers(), 5),
        seed=1,
    )
    record = Audit(game, [ClosestDistanceAIA()], 30, 60, max_failures=90).run(n_jobs=1)
    (summary,) = AuditRecord.from_json(record.to_json()).subjects[0].summaries
    assert (summary.attack, summary.chance) == (FAILURES, 1 / len(values))
    assert summary.accuracy >= right
    assert decide(record, [Gate("accuracy_gain", 0.05)]).state == "fail"


class FailsFor(Generator):
    """Ignores its data, but fails in a share of the runs where the target has a value."""

    def __init__(self, shares: dict[str, float]) -> None:
        super().__init__()
        self.shares = shares

    def fit(self, dataset: TabularDataset, **_: object) -> None:
        rows = dataset.data.drop(columns="Health")
        same = (rows == DATA.data.drop(columns="Health").iloc[0]).all(axis=1)
        (value,) = set(dataset.data.loc[same, "Health"])
        self.share = self.shares.get(value, 0.0)

    def generate(self, num_samples: int, random_state: int | None = None) -> TabularDataset:
        rng = np.random.default_rng(random_state)
        if rng.random() < self.share:
            raise RuntimeError("no release")
        return PUBLIC.sample(num_samples, random_state=int(rng.integers(1 << 30)))


def of_three_values(attack: Attack, values: list[str], shares: dict[str, float]) -> AuditRecord:
    game = TargetedAIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        "Health",
        values,
        BlackBoxKnowledge(FailsFor(shares), 5),
        seed=1,
    )
    gates = [Gate("accuracy_gain", 0.15)]
    return Audit(game, [attack], 60, 240, max_failures=300, gates=gates).run(n_jobs=1)


@pytest.mark.parametrize("attack", [ClosestDistanceAIA(), LocalNeighbourhoodAttack()])
@pytest.mark.parametrize("values", [["good", "bad", "fair"], ["fair", "bad", "good"]])
@pytest.mark.parametrize("share", [1.0, 0.8])
def test_failures_for_one_of_three_values_are_judged_beside_attacks(
    attack: Attack, values: list[str], share: float
) -> None:
    """An attack may go on guessing a value with which nothing is released, and hide the leak."""
    record = of_three_values(attack, values, {"good": share})
    (subject,) = record.subjects
    *_, judged = subject.summaries
    assert {str(one.attack) for one in subject.summaries} == {attack.label, FAILURES}
    assert (judged.attack, not subject.crashes) == (FAILURES, True)
    failed = np.zeros(240, dtype=bool)
    failed[[one.index for one in subject.failures if one.phase == "test"]] = True
    assert set(judged.predictions[failed]) == {"good"}
    assert set(judged.predictions[~failed]) < {"bad", "fair"}
    assert judged.accuracy > 0.5
    assert decide(record).state == "fail"
    words = " ".join(AuditPage(record).words)
    with_good = judged.labels == "good"
    assert (
        f"“FailsFor” failed in {failed.sum()} of {with_good.sum()} trials with one value of "
        f"“Health” of target 0, and in 0 of {240 - with_good.sum()} with the others: that alone "
        "tells the one from the others."
    ) in words
    assert "from which no attack learns" not in words
    assert " looks at " not in words
    (action,) = actions(Findings(record), [])
    assert action.words.startswith("Let the mechanism fail alike")


def test_failures_that_hang_on_no_value_are_judged_by_nobody() -> None:
    shares = dict.fromkeys(("good", "bad", "fair"), 0.3)
    record = of_three_values(ClosestDistanceAIA(), list(shares), shares)
    (summary,) = record.subjects[0].summaries
    assert summary.attack != FAILURES
    assert "that alone tells" not in " ".join(AuditPage(record).words)


@pytest.mark.filterwarnings("ignore::tapas.errors.TapasWarning")
@pytest.mark.parametrize("num_train", [0, 40])
def test_limits_on_guesses_do_not_pass_where_a_failure_tells_the_secret(num_train: int) -> None:
    """An attack that needs no training never learns what a failure says; an attacker sees it."""
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(DATA.drop_records([0]), num_training_records=20, seed=0),
        DATA.get_records([0]),
        BlackBoxKnowledge(CrashesFor(1.0, 0.0), 5),
        generate_pairs=False,
        seed=1,
    )
    attack = ClosestDistanceMIA(criterion=("threshold", 0.0))
    record = Audit(threat_model, [attack], num_train, 60, max_failures=200).run(n_jobs=1)
    metrics = ("accuracy", "advantage", "recall", "precision")
    outcomes = decide(record, [Gate(metric, 0.6) for metric in metrics]).outcomes
    # No guess was positive, so that there is no precision.
    assert [outcome.state for outcome in outcomes] == ["fail"] * 3 + ["inconclusive"]
    failed = len(record.subjects[0].failures)
    assert f"{failed} trials without a score count as guessed" in outcomes[0].words


class CrashesInside(RandomizedResponse):
    """Fails only where the target is inside, and answers so that its scores make up for that."""

    def _answer(self, dataset: TabularDataset, rng: np.random.Generator) -> int:
        member = len(dataset) > len(BACKGROUND)
        if member and rng.random() < 0.2:
            raise RuntimeError("no answer")
        return int(member == (rng.random() < 0.625))


def test_no_limit_on_scores_passes_where_failures_outweigh_them() -> None:
    """Ranked below all others failures hide what answers tell; ranked above they show it."""
    mechanism = CrashesInside(TARGET, 1.0)
    box = BlackBoxKnowledge(mechanism, len(BACKGROUND))
    game = TargetedMIA(ExactDataKnowledge(BACKGROUND), TARGET, box, seed=3)
    record = Audit(game, [KnownEvent(mechanism)], 0, 600, max_failures=600).run(n_jobs=1)
    (summary,) = record.subjects[0].summaries
    assert abs(summary.auc - 0.5) < 0.05
    (outcome,) = decide(record, [Gate("auc", 0.62)]).outcomes
    assert outcome.state == "fail"
    assert "count as ranked below and above all others" in outcome.words
    assert outcome.low > 0.62


def test_scores_that_are_missing_for_members_only_pass_no_limit() -> None:
    member, scores = np.arange(600) < 300, np.random.default_rng(0).normal(size=600)
    scores[:300] += 0.45
    scores[:60] = np.nan
    of_files = {"target_id": "all", "dependence": "one release"}
    summary = MIAttackSummary(member, scores > 0, scores, **of_files)
    subject = AuditedSubject("files", "audited", (summary,))
    record = AuditRecord("title", {}, "fp", 1, (subject,))
    assert abs(record_facts(record)[0].auc.value - 0.5) < 0.05
    assert decide(record, [Gate("auc", 0.6)]).state == "fail"


def test_failures_that_hang_on_nothing_widen_limits_on_guesses_a_little() -> None:
    record = _record(CrashesFor(0.05, 0.05))
    (outcome,) = decide(record, [Gate("accuracy", 0.7)]).outcomes
    assert outcome.state == "pass"
    assert record.subjects[0].failures
