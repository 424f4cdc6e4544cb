"""Attributes and properties inferred from models, beside baselines that never ask the model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._model_attributes import ConfidenceAIA, ImputationAIA, LabelOnlyAIA
from tapas.attacks.models._property_classifier import (
    PropertyClassifier,
    WhiteBoxPropertyClassifier,
)
from tapas.attacks.models._score_attacks import LossMIA
from tapas.audit import Audit
from tapas.errors import IncompatibleAttackError, ThreatModelError
from tapas.models import as_model
from tapas.results import AIAttackSummary, BinaryAIAttackSummary, shares_told
from tapas.threat_models._model_aia import ModelAIA
from tapas.threat_models._property import ModelPropertyInference


def table(number: int, seed: int, values: tuple = ("a", "b")) -> tuple[pd.DataFrame, np.ndarray]:
    """The class is a coin, the attribute independent of all else: only a memory can tell it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.standard_normal(number),
            "z": rng.standard_normal(number),
            "secret": rng.choice(np.array(values, dtype=object), number),
        }
    )
    return frame, rng.integers(0, 4, number)


def memory(members: tuple) -> object:
    columns = make_column_transformer(
        (OneHotEncoder(), ["secret"]), remainder="passthrough", sparse_threshold=0
    )
    return make_pipeline(columns, KNeighborsClassifier(1)).fit(*members)


def test_a_model_that_memorises_gives_the_attribute_away_and_imputation_does_not() -> None:
    members = table(300, 0)
    scaled = members[0].assign(x=members[0]["x"] * 0.2, z=members[0]["z"] * 0.2)
    members = (scaled, members[1])
    population = (table(300, 1)[0], table(300, 1)[1])
    threat_model = ModelAIA(memory(members), members, "secret", population=population, seed=0)
    confident = threat_model.test(ConfidenceAIA("uniform"))
    imputed = threat_model.test(ImputationAIA())
    assert isinstance(confident, BinaryAIAttackSummary)
    # Right where the other value's nearest neighbour has another class (3 of 4), else a coin.
    assert confident.accuracy == pytest.approx(0.75 + 0.25 / 2, abs=0.06)
    assert imputed.accuracy == pytest.approx(0.5, abs=0.09)
    labels = ModelAIA(
        memory(members), members, "secret", access="labels", population=population, seed=0
    )
    assert labels.test(LabelOnlyAIA("uniform")).accuracy > 0.75
    with pytest.raises(IncompatibleAttackError, match="use LabelOnlyAIA"):
        labels.test(ConfidenceAIA())


def test_confidence_counts_more_of_records_that_the_model_knows_by_heart(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc"))
    X["secret"] = (rng.random(900) < 0.75).astype(float)
    noise = rng.normal(size=900)
    y = ((2 * X["secret"] - 1) * np.sign(X["a"]) + noise > 0).astype(int).to_numpy()
    targets, population = (X[:300], y[:300]), (X[300:], y[300:])
    forest = RandomForestClassifier(60, max_features=2, random_state=0).fit(*targets)
    of_forest = ModelAIA(forest, targets, "secret", population=population, seed=0)
    weighted, uniform = (of_forest.test(ConfidenceAIA(kind)) for kind in ("marginal", "uniform"))
    linear = LogisticRegression().fit(*targets)  # knows nobody: the prior decides, by Bayes' rule
    of_linear = ModelAIA(linear, targets, "secret", population=population, seed=0)
    commonest = (targets[0]["secret"] == 1).mean()
    assert of_linear.test(ConfidenceAIA()).accuracy > commonest - 0.02
    monkeypatch.setattr("tapas.attacks.models._model_attributes.MOST_WEIGHT", 1.0)
    unweighted = ModelAIA(forest, targets, "secret", population=population, seed=0)
    assert weighted.accuracy > unweighted.test(ConfidenceAIA()).accuracy + 0.02
    assert weighted.accuracy > uniform.accuracy - 0.02


def test_imputation_is_as_strong_as_boosting_without_the_model() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(1500, 5)), columns=list("abcde"))
    X["secret"] = (np.sign(X["a"] * X["b"]) + rng.normal(0, 0.7, 1500) > 0).astype(float)
    y = rng.integers(0, 2, 1500)
    model = LogisticRegression().fit(X, y)
    held = (X[700:], y[700:])
    threat_model = ModelAIA(model, (X[:700], y[:700]), "secret", population=held, seed=0)
    inputs = np.column_stack([X.drop(columns="secret"), y])
    boosted = HistGradientBoostingClassifier(random_state=0).fit(inputs[700:], X["secret"][700:])
    alone = (boosted.predict(inputs[:700]) == X["secret"][:700]).mean()
    assert threat_model.test(ImputationAIA()).accuracy > alone - 0.01


def test_a_model_that_ignores_the_attribute_adds_nothing_to_the_prior() -> None:
    members, population = table(400, 0), table(400, 1)
    model = as_model(lambda X: np.full((len(X), 4), 0.25), classes=[0, 1, 2, 3])
    threat_model = ModelAIA(model, members, "secret", population=population, seed=0)
    summary = threat_model.test(ConfidenceAIA())
    assert len(np.unique(summary.scores)) == 1
    prior = (population[0]["secret"] == "b").sum() + 1
    assert summary.scores[0] == pytest.approx(prior / 402)


def test_many_values_give_one_score_each_in_their_order() -> None:
    values = ("u", "v", "w")
    members = table(200, 0, values)
    threat_model = ModelAIA(
        memory(members), members, "secret", values, population=table(200, 1, values), seed=0
    )
    for attack in (ConfidenceAIA(), ConfidenceAIA("imputation"), LabelOnlyAIA(), ImputationAIA()):
        summary = threat_model.test(attack)
        assert isinstance(summary, AIAttackSummary)
        assert summary.scores.shape == (200, 3)
        np.testing.assert_allclose(summary.scores.sum(axis=1), 1)
        assert summary.attribute_values == values
    assert threat_model.test(ConfidenceAIA()).accuracy > 0.5


def test_attacks_never_see_the_recorded_attribute() -> None:
    members = table(50, 0)
    threat_model = ModelAIA(memory(members), members, "secret", seed=0)
    assert threat_model.briefing().targets.X["secret"].isna().all()
    shuffled = (
        members[0].assign(secret=members[0]["secret"].to_numpy()[::-1]),
        members[1],
    )
    model = memory(members)
    first = ModelAIA(model, members, "secret", ("a", "b"), seed=0).test(ConfidenceAIA())
    second = ModelAIA(model, shuffled, "secret", ("a", "b"), seed=0).test(ConfidenceAIA())
    np.testing.assert_array_equal(first.scores, second.scores)


def test_arrays_work_by_position_and_bad_questions_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(100), rng.integers(0, 2, 100)])
    y = rng.integers(0, 2, 100)
    model = KNeighborsClassifier(1).fit(X, y)
    assert ModelAIA(model, (X, y), 1, seed=0).test(ConfidenceAIA()).accuracy > 0.6
    with pytest.raises(ThreatModelError, match="not a column"):
        ModelAIA(model, (X, y), 5)
    with pytest.raises(ThreatModelError, match="not in attribute_values"):
        ModelAIA(model, (X, y), 1, (2.0, 3.0))
    with pytest.raises(ThreatModelError, match="priors"):
        ModelAIA(model, (X, y), 1, priors=[0.5, 0.6])
    with pytest.raises(IncompatibleAttackError, match="population"):
        ModelAIA(model, (X, y), 1).test(ImputationAIA())
    with pytest.raises(IncompatibleAttackError, match="ConfidenceAIA or LabelOnlyAIA"):
        ModelAIA(model, (X, y), 1).test(LossMIA())


def population(number: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((number, 4))
    return X, (X[:, 0] + rng.standard_normal(number) > 0).astype(int)


@pytest.mark.parametrize("access", ["scores", "labels"])
def test_the_class_share_of_the_training_data_is_inferred(access: str) -> None:
    threat_model = ModelPropertyInference(
        LogisticRegression(),
        population(),
        lambda records: records.y == 1,
        shares=(0.3, 0.7),
        num_records=150,
        access=access,
        seed=0,
    )
    attack = PropertyClassifier()
    attack.train(threat_model, num_samples=40)
    summary = threat_model.test(attack, num_samples=40)
    assert len(summary) == 40
    assert summary.accuracy > 0.9
    X, y = population()
    rows = np.concatenate([np.flatnonzero(y == 1)[:300], np.flatnonzero(y == 0)[:100]])
    real = LogisticRegression().fit(X[rows], y[rows])
    assert threat_model.score_of(attack, real) > 0.5
    assert threat_model.share_of(attack, real).share == 0.7


def test_a_property_that_the_model_cannot_show_is_not_inferred() -> None:
    rng = np.random.default_rng(3)
    threat_model = ModelPropertyInference(
        DecisionTreeClassifier(max_depth=3),
        population(),
        rng.random(1500) < 0.5,
        num_records=150,
        access="parameters",
        seed=0,
    )
    for attack in (PropertyClassifier(), WhiteBoxPropertyClassifier()):
        attack.train(threat_model, num_samples=60)
        # Three standard errors of 100 coins.
        assert abs(threat_model.test(attack, num_samples=100).accuracy - 0.5) < 0.15


def test_parameters_of_a_forest_tell_what_its_answers_do_not() -> None:
    X, y = population()
    marked = np.random.default_rng(1).random(len(y)) < 0.5
    threat_model = ModelPropertyInference(
        RandomForestClassifier(5),
        (np.column_stack([X, marked]), y),
        marked,
        num_records=100,
        access="parameters",
        num_probes=30,
        seed=0,
    )
    names = [type(attack).__name__ for attack in Audit(threat_model).attacks]
    assert names == ["PropertyClassifier", "WhiteBoxPropertyClassifier"]
    found = []
    for attack in (PropertyClassifier(), WhiteBoxPropertyClassifier()):
        attack.train(threat_model, num_samples=30)
        found.append(threat_model.test(attack, num_samples=30).auc)
    assert found[1] > max(0.8, found[0] + 0.1)
    other = LogisticRegression().fit(np.column_stack([X, marked]), y)
    with pytest.raises(IncompatibleAttackError, match="it must be of their kind"):
        threat_model.share_of(attack, other)
    shown = ModelPropertyInference(LogisticRegression(), (X, y), marked, (0.3, 0.7), 90, seed=0)
    with pytest.raises(IncompatibleAttackError, match="reads parameters"):
        shown.check(WhiteBoxPropertyClassifier())


def test_models_whose_parameters_differ_in_number_cannot_be_compared() -> None:
    X, y = population(300)
    columns = pd.DataFrame({"x": X[:, 0], "rare": np.where(np.arange(300) % 50 == 0, "a", "b")})
    encoded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["rare"]))
    threat_model = ModelPropertyInference(
        make_pipeline(encoded, DecisionTreeClassifier(max_depth=2)),
        (columns, y),
        lambda r: r.y == 1,
        num_records=40,
        access="parameters",
        num_probes=10,
        seed=0,
    )
    with pytest.raises(IncompatibleAttackError, match=r"different shapes.*name the categories"):
        WhiteBoxPropertyClassifier().train(threat_model, num_samples=20)
    (subject,) = Audit(threat_model, num_train=20, num_test=10).run(n_jobs=1).subjects
    assert [one.attack for one in subject.crashes] == ["WhiteBoxPropertyClassifier"]
    assert [one.attack for one in subject.summaries] == ["PropertyClassifier"]  # type: ignore[attr-defined]


def test_models_with_and_without_the_property_hold_the_shares_asked_for() -> None:
    threat_model = ModelPropertyInference(
        LogisticRegression(), population(), lambda r: r.y == 1, (0.2, 0.6), 100, seed=0
    )
    for index, share in ((0, 0.2), (1, 0.6)):
        for sets in threat_model.game.sets:
            mask = sets.mask(index)
            assert mask.sum() == 100
            assert population()[1][mask].mean() == pytest.approx(share)
    both = threat_model.game.sets[0].mask(0) & threat_model.game.sets[1].mask(0)
    assert not both.any()
    with pytest.raises(ThreatModelError, match="smaller num_records"):
        ModelPropertyInference(
            LogisticRegression(), population(), lambda r: r.y == 1, num_records=1400
        )
    for shares in ((0.5, 0.5), (0.5,), (0.2, 0.5, 0.5001)):
        with pytest.raises(ThreatModelError, match="two or more that give different numbers"):
            ModelPropertyInference(LogisticRegression(), population(), lambda r: r.y == 1, shares)


def test_which_of_several_shares_the_training_data_has_is_inferred() -> None:
    shares = (0.5, 0.1, 0.9)
    threat_model = ModelPropertyInference(
        LogisticRegression(), population(), lambda r: r.y == 1, shares, 100, seed=0
    )
    counts = [threat_model.game.sets[0].mask(model) for model in range(4)]
    assert [population()[1][mask].mean() for mask in counts] == pytest.approx([*shares, 0.5])
    attack = PropertyClassifier()
    attack.train(threat_model, num_samples=30)
    summary = threat_model.test(attack, num_samples=30)
    assert isinstance(summary, AIAttackSummary)
    assert summary.attribute_values == shares
    assert summary.labels.tolist() == [*shares] * 10
    assert summary.accuracy > 0.9 < summary.macro_auc
    assert summary.dependence == "unrelated worlds"
    X, y = population()
    rows = np.concatenate([np.flatnonzero(y == 1)[:90], np.flatnonzero(y == 0)[:10]])
    told = threat_model.score_of(attack, LogisticRegression().fit(X[rows], y[rows]))
    assert np.argmax(told) == 2
    answer = threat_model.share_of(attack, LogisticRegression().fit(X[rows], y[rows]))
    assert (answer.share, answer.scores) == (0.9, tuple(told))
    assert np.sum(told) == pytest.approx(1)


@pytest.mark.parametrize(("true", "unlike"), [(0.5, False), (0.9, True), (0.02, True)])
@pytest.mark.parametrize("shares", [(0.3, 0.5), (0.2, 0.35, 0.5)])
def test_a_share_that_is_not_guessed_among_is_pointed_at(
    shares: tuple[float, ...], true: float, unlike: bool
) -> None:
    X, y = population()
    having, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    number = round(true * 100)
    rows = np.concatenate([having[:number], others[: 100 - number]])
    threat_model = ModelPropertyInference(
        LogisticRegression(),
        (X, y),
        lambda r: r.y == 1,
        shares,
        100,
        seed=0,
        model=LogisticRegression().fit(X[rows], y[rows]),
    )
    record = Audit(threat_model, [PropertyClassifier()], 60, 60).run(n_jobs=1)
    (told,) = shares_told(record.audited)
    among = ", ".join(f"{share:g}" for share in shares)
    assert f"Only {among} are guessed among" in told.words()
    answer = told.to_dict()["model_in_question"]
    assert answer["guessed_among"] == [*shares]
    assert answer["unlike_test_models"] == unlike
    assert ("add shares to the list" in told.words()) == unlike


def test_one_of_several_shares_that_leave_no_trace_is_guessed_by_chance() -> None:
    rng = np.random.default_rng(3)
    threat_model = ModelPropertyInference(
        GaussianNB(), population(), rng.random(1500) < 0.5, (0.3, 0.5, 0.7), 150, seed=0
    )
    attack = PropertyClassifier()
    attack.train(threat_model, num_samples=60)
    # Three standard errors of 99 guesses among three.
    assert abs(threat_model.test(attack, num_samples=99).accuracy - 1 / 3) < 0.142


def test_targets_whose_value_is_missing_are_left_out() -> None:
    members = table(120, 0, ("a", "b", "c"))
    model = memory(members)
    members[0].loc[[3, 50], "secret"] = None
    threat_model = ModelAIA(model, members, "secret", population=table(120, 1, ("a", "b", "c")))
    summary = threat_model.test(ConfidenceAIA())
    assert len(summary.labels) == 118
    assert set(summary.labels) == {"a", "b", "c"}
    names = threat_model.game.target_labels
    assert names[:4] == ("0", "1", "2", "4")
    with pytest.raises(ThreatModelError, match=r"not in attribute_values, the first 'c' in row"):
        ModelAIA(model, members, "secret", ["a", "b"])
