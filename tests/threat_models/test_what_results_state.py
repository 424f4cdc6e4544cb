"""What a threat model's results say of themselves: how their trials depend on each other."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import ClosestDistanceMIA, ConfidenceAIA, LossMIA, PropertyClassifier
from tapas.audit import Audit
from tapas.datasets import load_sample
from tapas.errors import StatisticsError, TapasWarning
from tapas.generators import Raw
from tapas.report import EffectiveEpsilonReport, MIAttackReport
from tapas.results import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
)
from tapas.stats import audit_claim, certificate
from tapas.testing import KnownEvent, RandomizedResponse, worst_case
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    ModelAIA,
    ModelMIA,
    ModelPropertyInference,
    ObservedMIA,
    TargetedMIA,
)


def on_a_model() -> MIAttackSummary:
    X, y = load_digits(return_X_y=True)
    model = DecisionTreeClassifier(random_state=0).fit(X[:300], y[:300])
    threat_model = ModelMIA(model, (X[:300], y[:300]), (X[300:600], y[300:600]), seed=1)
    attack = LossMIA()
    attack.train(threat_model)
    return threat_model.test(attack)  # type: ignore[return-value]


def on_an_attribute() -> LabelInferenceAttackSummary:
    X, y = load_digits(return_X_y=True)
    X = np.column_stack([X[:300, 20] > 8, X[:300, 30:40]]).astype(float)
    model = DecisionTreeClassifier(random_state=0).fit(X, y[:300])
    return ModelAIA(model, (X, y[:300]), 0, seed=1).test(ConfidenceAIA())  # type: ignore[return-value]


def on_files() -> MIAttackSummary:
    data = load_sample("clinic", 600, seed=1)
    parts = [data.take(range(start, start + 200)) for start in (0, 200, 400)]
    released = parts[0].take(range(100)) + parts[2].take(range(100))
    threat_model = ObservedMIA(released, parts[0], parts[1], seed=1)
    attack = ClosestDistanceMIA()
    attack.train(threat_model)
    return threat_model.test(attack)  # type: ignore[return-value]


@pytest.mark.parametrize("made", [on_a_model, on_an_attribute, on_files])
def test_records_of_one_release_say_so_and_certify_nothing(made) -> None:  # type: ignore[no-untyped-def]
    summary = made()
    assert summary.dependence == "one release"
    assert np.isnan(summary.effective_epsilon)
    shown = set(summary.get_metrics().columns)
    assert {"precision", "recall", "auc", "tpr_at_fpr"} <= shown
    assert "effective_epsilon" not in shown
    with pytest.warns(TapasWarning, match="no epsilon can be shown"):
        table = EffectiveEpsilonReport([summary]).estimate()
    assert (table["epsilon_low"] == 0).all()
    with pytest.raises(StatisticsError, match="one release"):
        audit_claim([summary], 1.0)


@pytest.mark.parametrize("made", [on_a_model, on_files])
def test_bootstrap_intervals_of_one_release_have_a_width(made) -> None:  # type: ignore[no-untyped-def]
    report = MIAttackReport([made()], num_bootstrap=200)
    assert report.attacks_data["auc"].std() > 0.005


@pytest.mark.parametrize(("pairs", "stated"), [(True, "pairs"), (False, "independent")])
def test_trials_of_a_generator_say_whether_they_come_in_pairs(pairs: bool, stated: str) -> None:
    data = load_sample("census", 300, seed=1)
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=40, seed=1),
        data.get_records([0]),
        BlackBoxKnowledge(Raw(), 20),
        generate_pairs=pairs,
        seed=1,
    )
    attack = ClosestDistanceMIA()
    attack.train(threat_model, num_samples=20)
    summary = threat_model.test(attack, num_samples=200)
    assert isinstance(summary, MIAttackSummary)
    assert summary.dependence == stated
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert EffectiveEpsilonReport([summary]).estimate()["epsilon_low"].iloc[0] > 0


def test_a_property_of_the_whole_training_data_certifies_nothing() -> None:
    X, y = load_digits(return_X_y=True)
    threat_model = ModelPropertyInference(
        DecisionTreeClassifier(max_depth=3), (X, y), y < 5, (0.2, 0.8), 100, seed=1
    )
    attack = PropertyClassifier()
    attack.train(threat_model, num_samples=20)
    summary = threat_model.test(attack, num_samples=30)
    assert isinstance(summary, BinaryLabelInferenceAttackSummary)
    assert summary.auc > 0.9
    assert summary.dependence == "unrelated worlds"
    with pytest.raises(StatisticsError, match="no neighbours"):
        audit_claim([summary], 1.0)


def test_pairs_under_exact_knowledge_of_one_target_are_independent() -> None:
    data = load_sample("census", 40, seed=2)

    def dependence(knowledge: object, targets: list[int]) -> str:
        threat_model = TargetedMIA(
            knowledge,  # type: ignore[arg-type]
            data.get_records(targets),
            BlackBoxKnowledge(Raw(), 5),
            seed=1,
        )
        attack = ClosestDistanceMIA(criterion=("threshold", 0))
        return str(threat_model.test(attack, 10).dependence)  # type: ignore[attr-defined]

    rest = data.take(range(4, 24), reset_index=True)
    exact = ExactDataKnowledge(rest)
    drawn = AuxiliaryDataKnowledge(data.take(range(4, 40)), num_training_records=10, seed=0)
    assert dependence(exact, [0]) == "independent"
    assert dependence(drawn, [0]) == "pairs"


def test_pairs_under_exact_knowledge_are_certified_by_the_sharper_bounds() -> None:
    background, target = worst_case(3)
    mechanism = RandomizedResponse(target, 2.0)
    box = BlackBoxKnowledge(mechanism, len(background))
    game = TargetedMIA(ExactDataKnowledge(background), target, box, seed=1)
    record = Audit(game, [KnownEvent(mechanism)], 0, 200).run(n_jobs=1)
    (summary,) = record.subjects[0].summaries
    assert isinstance(summary, MIAttackSummary)
    assert set(certificate(summary).shares) == {"buehler", "two tails", "two tails, turned"}
    reports = [EffectiveEpsilonReport([summary], method=m) for m in ("buehler", "clopper-pearson")]
    sharper, plain = (report.estimate()["epsilon_low"].iloc[1] for report in reports)
    assert sharper > plain > 0.5
