"""Gates that no run of an audit could decide are refused before it runs."""

import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceAIA, ClosestDistanceMIA, LossMIA
from tapas.audit import Audit, Subject, audit_from_values
from tapas.compat import GameThreatModel
from tapas.datasets import TabularDataset, load_sample
from tapas.errors import ConfigError, TapasWarning
from tapas.generators import Raw
from tapas.results import (
    FEWEST_PEOPLE,
    GATE_METRICS,
    AuditRecord,
    Gate,
    decide,
    refuse_idle,
)
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    CanaryMIA,
    ExactDataKnowledge,
    ModelMIA,
    ObservedAIA,
    ObservedMIA,
    TargetedAIA,
    TargetedMIA,
)

EPSILON, PEOPLE = Gate("epsilon", 1.0), Gate("exposed_people", 0.1)
DATA = load_sample("clinic", 60)
RAW = BlackBoxKnowledge(Raw(), num_synthetic_records=10)


def of_a_model(coins: bool = False) -> ModelMIA:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:60], y[:60])
    return ModelMIA(tree, (X[:60], y[:60]), (X[60:], y[60:]), seed=0, coins=coins)


def of_model_with_coins() -> ModelMIA:
    return of_a_model(coins=True)


def of_files() -> ObservedMIA:
    return ObservedMIA(part(0, 20), part(20, 40), part(40, 60), seed=0)


def of_targets(number: int) -> TargetedMIA:
    targets = list(range(number))
    others = DATA.drop_records(targets)
    known = AuxiliaryDataKnowledge(others, auxiliary_split=0.5, num_training_records=20)
    return TargetedMIA(known, DATA.get_records(targets), RAW, seed=0)


def of_canaries() -> CanaryMIA:
    return CanaryMIA(ExactDataKnowledge(part(0, 30)), DATA.get_records(range(30, 38)), RAW, seed=0)


def of_values(*distribution: float) -> TargetedAIA:
    known = AuxiliaryDataKnowledge(
        DATA.drop_records([0]), auxiliary_split=0.5, num_training_records=20
    )
    values = ("general", "surgery", "oncology")[: len(distribution)]
    return TargetedAIA(
        known,
        DATA.get_records([0]),
        "ward",
        values,
        RAW,
        distribution=distribution,
        seed=0,
    )


def of_values_in_files() -> ObservedAIA:
    return ObservedAIA(part(0, 20), part(20, 40), part(40, 60), "ward", seed=0)


def part(start: int, end: int) -> TabularDataset:
    return DATA.take(np.arange(start, end))


def warned(audit: Audit) -> AuditRecord:
    """Run an audit that `check` refuses for its gates, which is told before any trial."""
    refused = "; ".join(audit.check().problems)
    said = f"^whatever is found, this audit ends without a pass: {re.escape(refused)}$"
    with pytest.warns(TapasWarning, match=said):
        return audit.run(n_jobs=1)


def problems(*games: GameThreatModel, gate: Gate) -> str:
    subjects = [Subject(game, f"subject {place}") for place, game in enumerate(games)]
    about = games[0].game.setting
    of_tables = ClosestDistanceAIA if about.goal.kind == "attribute" else ClosestDistanceMIA
    attack = LossMIA() if about.release == "model" else of_tables()
    return "; ".join(Audit(subjects, [attack], 2, 2, gates=[gate]).check().problems)


@pytest.mark.parametrize(
    ("game", "what", "remedy"),
    [
        (of_a_model, "one model", "put canaries into it by fair coins"),
        (of_files, "one release", "audit the generator"),
    ],
)
def test_an_epsilon_of_one_release_is_refused_with_the_remedy(game, what, remedy) -> None:
    said = problems(game(), gate=EPSILON)
    assert f"records of {what} are not independent" in said
    assert remedy in said
    assert "limit auc or tpr_at_fpr instead" in said


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (of_a_model, "subject 0 is one model"),
        (of_files, "subject 0 is one release"),
        (lambda: of_a_model(coins=True), "puts all records into the same releases"),
        (of_canaries, "puts all records into the same releases"),
        (lambda: of_targets(1), "has 1 target;"),
        (lambda: of_targets(FEWEST_PEOPLE - 1), "has 4 targets;"),
    ],
)
def test_people_who_cannot_be_told_apart_are_not_counted(game, why: str) -> None:
    assert why in problems(game(), gate=PEOPLE)


def test_what_can_be_decided_is_not_refused() -> None:
    assert problems(of_a_model(coins=True), gate=EPSILON) == ""
    assert problems(of_canaries(), gate=EPSILON) == ""
    assert problems(of_targets(FEWEST_PEOPLE), gate=PEOPLE) == ""
    assert problems(of_targets(1), gate=EPSILON) == ""
    assert problems(of_a_model(), gate=Gate("tpr_at_fpr", 0.5)) == ""


def test_a_generator_beside_a_file_may_exceed_an_epsilon_and_nobody_counts_people_in_both() -> None:
    assert problems(of_targets(FEWEST_PEOPLE), of_files(), gate=EPSILON) == ""
    assert "subject 1 is one release" in problems(
        of_targets(FEWEST_PEOPLE), of_files(), gate=PEOPLE
    )


@pytest.mark.parametrize("gate", [EPSILON, PEOPLE])
def test_what_is_refused_would_not_have_been_decided(gate: Gate) -> None:
    record = warned(Audit(of_a_model(), [LossMIA()], gates=[gate]))
    assert [outcome.state for outcome in decide(record).outcomes] == ["inconclusive"]


@pytest.mark.parametrize(
    ("game", "gate"),
    [
        (lambda: of_targets(1), Gate("auc", 0.4)),
        (lambda: of_targets(1), Gate("copied_records", 0)),
        (lambda: of_values(0.5, 0.5), Gate("accuracy", 0.9)),
        (lambda: of_values(0.4, 0.3, 0.3), Gate("auc", 0.9)),
        (of_values_in_files, Gate("accuracy_gain", 0.1)),
    ],
)
def test_what_is_refused_is_said_before_a_run_and_never_passes(game, gate: Gate) -> None:
    threat_model = game()
    of_attribute = threat_model.game.setting.goal.kind == "attribute"
    attack = ClosestDistanceAIA() if of_attribute else ClosestDistanceMIA()
    assert decide(warned(Audit(threat_model, [attack], 10, 20, gates=[gate]))).exit_code in (1, 6)


@pytest.mark.parametrize(
    ("game", "metric", "why", "instead"),
    [
        (lambda: of_targets(1), "accuracy_gain", "for guesses of an attribute", "auc"),
        (lambda: of_targets(1), "auc_gain", "no records of one model or file", "auc"),
        (lambda: of_targets(1), "accuracy_gap", "no model is audited", "auc"),
        (lambda: of_targets(1), "accuracy_ratio", "no model is audited", "auc"),
        (of_files, "accuracy_gap", "no model is audited", "auc"),
        (of_model_with_coins, "auc_gain", "no records of one model or file", "auc"),
        (of_a_model, "accuracy_gain", "for guesses of an attribute", "auc"),
        (lambda: of_values(0.5, 0.5), "accuracy_ratio", "no model is audited", "accuracy_gain"),
        (lambda: of_values(0.4, 0.3, 0.3), "auc", "a secret of 3 values", "accuracy_gain"),
        (lambda: of_values(0.4, 0.3, 0.3), "auc_gain", "a secret of 3 values", "accuracy_gain"),
        (of_values_in_files, "accuracy_gain", "are held against others", "advantage"),
    ],
)
def test_what_is_not_defined_is_refused_with_what_is(
    game, metric: str, why: str, instead: str
) -> None:
    said = problems(game(), gate=Gate(metric, 0.1))
    assert f"a gate on {metric} is not defined" in said
    assert why in said
    assert f"limit {instead}" in said
    assert problems(game(), gate=Gate(instead, 0.6 if instead == "auc" else 0.1)) == ""


@pytest.mark.parametrize("metric", ["accuracy_gap", "accuracy_ratio", "auc_gain"])
def test_what_a_model_tells_may_be_limited(metric: str) -> None:
    assert problems(of_a_model(), gate=Gate(metric, 0.1)) == ""


def test_the_excess_of_files_has_two_outcomes_whatever_the_attribute() -> None:
    assert problems(of_values_in_files(), gate=Gate("auc", 0.6)) == ""


@pytest.mark.parametrize(
    ("metric", "at_most", "least"),
    [("auc", 0.4, "0.5"), ("accuracy", 0.3, "0.5"), ("advantage", -0.1, "0")],
)
def test_a_limit_below_guessing_is_refused(metric: str, at_most: float, least: str) -> None:
    said = problems(of_targets(1), gate=Gate(metric, at_most))
    assert f"of at most {at_most:g} cannot pass" in said
    assert f"give a limit above {least}" in said


def test_a_gain_that_nobody_can_have_is_no_limit() -> None:
    game, out_of_reach = of_values(0.8, 0.1, 0.1), Gate("accuracy_gain", 0.2)
    said = problems(game, gate=out_of_reach)
    assert "cannot fail: the best guess without the release is right in 80%" in said
    assert problems(game, gate=Gate("accuracy_gain", 0.15)) == ""
    assert problems(of_values(0.5, 0.5), gate=out_of_reach) == ""
    record = warned(Audit(game, [ClosestDistanceAIA()], 10, 20, gates=[out_of_reach]))
    verdict = decide(record)
    assert (verdict.state, verdict.exit_code) == ("inconclusive", 6)
    assert "cannot fail" in verdict.outcomes[0].words


IDLE = [
    *(Gate(metric, 1) for metric in ("accuracy", "advantage", "auc", "auc_gain", "precision")),
    *(Gate(metric, 1) for metric in ("recall", "tpr_at_fpr", "accuracy_gain", "accuracy_gap")),
    Gate("exposed_people", 1),
    Gate("exposed_people", 0.1, above=1),
]


@pytest.mark.parametrize("gate", IDLE)
def test_a_limit_that_nothing_can_exceed_is_refused_by_python_and_by_files(gate: Gate) -> None:
    said = f"a gate on {gate.metric} of at most {gate.at_most:g} cannot fail: "
    lower = "such as above: 0.6" if gate.above == 1 else "give a lower limit .*at_most"
    with pytest.raises(ConfigError, match=f"^{said}.*{lower}"):
        Audit(of_a_model(), [LossMIA()], gates=[gate])
    values = {"data": {"sample": "clinic"}, "generator": "Raw", "gates": [asdict(gate)]}
    with pytest.raises(ConfigError, match=f"^here: gates.0: {said}.*{lower}"):
        audit_from_values(values, "here")
    below = replace(gate, at_most=min(gate.at_most, 0.9), above=min(gate.above, 0.9))
    assert Audit(of_a_model(), [LossMIA()], gates=[below]).gates == [below]


def test_every_limit_with_a_highest_value_is_refused_there() -> None:
    endless = {"epsilon", "dropped_columns", "accuracy_ratio", "copied_records"}
    assert {gate.metric for gate in IDLE} == set(GATE_METRICS) - endless
    for metric in endless:
        refuse_idle(Gate(metric, 1.0))


def test_records_with_a_limit_that_nothing_can_exceed_are_read() -> None:
    record = Audit(of_a_model(), [LossMIA()]).run(n_jobs=1)
    earlier = replace(record, gates=(Gate("auc", 1),))
    assert AuditRecord.from_json(earlier.to_json()).gates == (Gate("auc", 1),)


def test_a_gate_on_epsilon_is_said_to_pass_never() -> None:
    audit = Audit(of_targets(1), [ClosestDistanceMIA()], 2, 2, gates=[EPSILON])
    (caution,) = audit.check().cautions
    assert "exit code 1 or 6, never 0" in caution
    assert Audit(of_targets(1), [ClosestDistanceMIA()], 2, 2).check().cautions == ()


@pytest.mark.parametrize("metric", GATE_METRICS)
def test_what_is_said_to_be_undefined_is_what_a_run_does_not_decide(metric: str) -> None:
    """Of every limit: check and verdict agree about membership and an attribute of two values."""
    for game, attack in (
        (of_targets(1), ClosestDistanceMIA()),
        (of_values(0.5, 0.5), ClosestDistanceAIA()),
    ):
        gate = Gate(metric, 0.45 if metric == "accuracy_gain" else 0.6)
        audit = Audit(game, [attack], 10, 20, gates=[gate])
        refused = "is not defined" in problems(game, gate=gate)
        (outcome,) = decide(
            warned(audit) if audit.check().problems else audit.run(n_jobs=1)
        ).outcomes
        unknown = ("is not defined", "there is no model")
        assert any(words in outcome.words for words in unknown) == refused
