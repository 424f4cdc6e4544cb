import numpy as np
import pytest
from mixed_tables import (
    DESCRIPTION,
    Deaf,
    attribute_briefing,
    attribute_game,
    key_of,
    membership_game,
    mixed_table,
    observed,
    outlier,
    seen,
)
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.tables._synthetic_predictor import SyntheticPredictorAttack
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, SchemaError


def within_binomial(successes: int, trials: int, rate: float) -> bool:
    low, high = binom.ppf([1e-4, 1 - 1e-4], trials, rate)
    return bool(low <= successes <= high)


def naive_probabilities(model, targets, attribute, values, data):
    """Per-value probabilities, one target and one release at a time."""
    keep = data.data[attribute].isin(values).to_numpy()
    rows = data.take(np.flatnonzero(keep))
    x = rows.view(exclude_columns=[attribute]).as_numeric
    model = model.fit(x, rows.data[attribute].to_numpy())
    asked = targets.view(exclude_columns=[attribute]).as_numeric
    proba = model.predict_proba(asked)
    found = list(model.classes_)
    return np.array([[p[found.index(v)] if v in found else 0 for v in values] for p in proba])


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("sex", ("M", "F", "U")),
        ("ward", (3, 1, 0, 2)),
        ("ward", (2, 0, 3)),
        ("risk", ("mid", "high", "low")),
        ("visits", (3, -3, 0)),
    ],
)
def test_scores_are_class_probabilities_in_the_order_of_the_values(attribute, values):
    targets, data = mixed_table(5, 5), mixed_table(80, 6)
    game = attribute_game(targets, values, attribute=attribute)
    # Trees do not care about the scale of columns, so the twin needs no standardisation.
    model = DecisionTreeClassifier(max_depth=3, random_state=0)
    seen = observed(SyntheticPredictorAttack(model, "accuracy"), game, data)
    assert np.allclose(seen, naive_probabilities(model, targets, attribute, values, data))


@pytest.mark.parametrize("values", [("F", "M"), ("M", "F")])
def test_of_two_values_the_second_is_scored_whatever_the_sorted_order(values):
    targets, data = mixed_table(5, 5), mixed_table(80, 6)
    model = GaussianNB()
    seen = observed(
        SyntheticPredictorAttack(model, "accuracy"), attribute_game(targets, values), data
    )
    twin = naive_probabilities(GaussianNB(), targets, "sex", values, data)
    assert np.allclose(seen, twin[:, 1], atol=1e-6)


def test_numbers_are_standardised_unless_asked_otherwise():
    targets, data = mixed_table(5, 5), mixed_table(80, 6)
    game = attribute_game(targets, ("F", "M"))
    model = KNeighborsClassifier(5)
    raw = SyntheticPredictorAttack(model, "accuracy", standardise=False)
    twin = naive_probabilities(KNeighborsClassifier(5), targets, "sex", ("F", "M"), data)
    assert np.allclose(observed(raw, game, data), twin[:, 1])
    x = data.view(exclude_columns=["sex"]).as_numeric
    asked = targets.view(exclude_columns=["sex"]).as_numeric
    centres, spreads = x.mean(axis=0), x.std(axis=0)
    centres[:4], spreads[:4] = 0, 1
    model.fit((x - centres) / spreads, data.data["sex"].to_numpy())
    expected = model.predict_proba((asked - centres) / spreads)[:, 1]
    assert np.allclose(observed(SyntheticPredictorAttack(model, "accuracy"), game, data), expected)


def test_missing_values_are_imputed_and_rows_without_the_value_left_out():
    targets, data = mixed_table(5, 5, 0.3), mixed_table(80, 6, 0.3)
    game = attribute_game(targets, ("F", "M"))
    attack = SyntheticPredictorAttack(LogisticRegression(), "accuracy")
    seen = observed(attack, game, data)
    assert np.isfinite(seen).all()
    known = data.take(np.flatnonzero(data.data["sex"].notna()))
    assert np.array_equal(seen, observed(attack, game, known))


def test_values_that_do_not_occur_have_probability_zero():
    targets = mixed_table(2, 5)
    game = attribute_game(targets, ("U", "M", "F"))
    attack = SyntheticPredictorAttack(LogisticRegression(), "accuracy")
    seen = observed(attack, game, mixed_table(40, 6))
    assert not seen[:, 0].any()
    assert np.allclose(seen.sum(axis=1), 1)
    only_m = TabularDataset(mixed_table(40, 6).data.assign(sex="M"), DESCRIPTION)
    assert observed(attack, game, only_m).tolist() == [[0, 1, 0]] * 2
    assert observed(attack, game, outlier("F")).tolist() == [[0, 0, 1]] * 2
    for data in (outlier(None), only_m.empty()):
        assert np.allclose(observed(attack, game, data), 1 / 3)


@pytest.mark.parametrize(
    "model", [LinearSVC(dual="auto"), RidgeClassifier(), Perceptron()], ids=str
)
@pytest.mark.parametrize("values", [("M", "F"), ("U", "M", "F")])
def test_classifiers_without_probabilities_are_read_by_their_margins(model, values):
    data = mixed_table(60, 6)
    if len(values) == 3:
        data = data + TabularDataset(mixed_table(30, 7).data.assign(sex="U"), DESCRIPTION)
    targets = mixed_table(8, 5)
    attack = SyntheticPredictorAttack(model, "accuracy")
    seen = observed(attack, attribute_game(targets, values), data)
    guesses = (
        np.where(seen >= 0.5, *values[::-1])
        if len(values) == 2
        else (np.array(values)[seen.argmax(axis=1)])
    )
    reversed_game = attribute_game(targets, values[::-1])
    mirrored = observed(attack, reversed_game, data)
    if len(values) == 2:
        assert np.allclose(seen, 1 - mirrored)
    else:
        assert np.allclose(seen, mirrored[:, ::-1])
    assert set(guesses.tolist()) <= set(values)


@pytest.mark.parametrize("values", [("F", "M"), ("M", "F"), ("U", "F", "M")])
def test_values_are_read_off_a_sample_at_the_rate_of_sampling(values):
    game = attribute_game(outlier(), values, size=30, released=15)
    attack = SyntheticPredictorAttack(
        KNeighborsClassifier(1), ("threshold", 0.5) if len(values) == 2 else "accuracy"
    )
    attack.train(game, num_samples=20)
    summary = game.test(attack, num_samples=200)
    expected = 0.5 + 0.5 / len(values)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, expected)


def test_values_cannot_be_read_off_a_release_that_ignores_the_data():
    game = attribute_game(mixed_table(1, 9), ("F", "M"), Deaf())
    attack = SyntheticPredictorAttack(GaussianNB(), "accuracy")
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=200)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, 0.5)


def test_random_classifiers_follow_the_seed_and_the_given_one_is_left_unfitted():
    targets, data = mixed_table(3, 5), mixed_table(40, 6)
    model = RandomForestClassifier(5)
    attack = SyntheticPredictorAttack(model, "accuracy")
    game = attribute_game(targets)
    assert np.array_equal(observed(attack, game, data), observed(attack, game, data))
    assert not hasattr(model, "classes_")
    assert model.random_state is None


def test_doors_give_the_same_scores_as_the_game():
    game = attribute_game(mixed_table(1, 5), ("U", "M", "F"))
    attack = SyntheticPredictorAttack(DecisionTreeClassifier(random_state=0), "accuracy")
    attack.train(game, num_samples=10)
    summary = game.test(attack, num_samples=10)
    datasets, labels = game._generate_samples(10, training=False)
    assert np.array_equal(attack.attack_score(datasets), summary.scores)
    assert np.array_equal(attack.attack(datasets), summary.predictions)
    assert np.array_equal(labels, summary.labels)


def test_free_text_beside_the_attribute_is_refused_with_advice():
    schema = [
        {"name": "word", "type": "countable", "representation": "string"},
        {"name": "sex", "type": "finite", "representation": ["F", "M"]},
    ]
    data = TabularDataset([["a", "F"], ["b", "M"]], DataDescription(schema))
    briefing = attribute_briefing(data.take([0]), "sex", ("F", "M"))
    attack = SyntheticPredictorAttack(GaussianNB(), "accuracy")
    with pytest.raises(SchemaError, match="exclude_columns"):
        seen(attack, briefing, data)


def test_labels_keys_and_refusals():
    attack = SyntheticPredictorAttack(LogisticRegression(), "accuracy")
    assert attack.label == "SyntheticPredictor(LogisticRegression())"
    assert SyntheticPredictorAttack(GaussianNB(), "accuracy", label="mine").label == "mine"
    twin = SyntheticPredictorAttack(LogisticRegression(), ("tp", 0.5))
    assert key_of(attack) == key_of(twin)
    stronger = SyntheticPredictorAttack(LogisticRegression(C=9), "accuracy")
    plain = SyntheticPredictorAttack(LogisticRegression(), "accuracy", standardise=False)
    assert len({key_of(attack), key_of(stronger), key_of(plain)}) == 3
    with pytest.raises(ConfigError, match="scikit-learn classifier"):
        SyntheticPredictorAttack(LogisticRegression, "accuracy")
    with pytest.raises(IncompatibleAttackError, match="TargetedAIA"):
        attack.train(membership_game(outlier()), 4)
