"""Shadow modelling: what is learnt, how scores are arranged, and whose code is called."""

import pickle
import warnings

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from mixed_tables import key_of, membership_briefing, no_samples
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tapas._spec import spec_of
from tapas.attacks.features._groundhog import GroundhogAttack
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._query_feature import RandomTargetedQueryFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks.features._set_features import SetFeature
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError
from tapas.game import MEMBERSHIP, Board, Briefing, Goal, Needs, Release, Setting, unfit
from tapas.generators import Generator, Raw
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
    WhiteBoxKnowledge,
)

RNG = np.random.default_rng
COLOURS = ["red", "green", "blue"]
PEOPLE = DataDescription(
    [
        {"name": "colour", "type": "finite", "representation": COLOURS},
        {"name": "height", "type": "real", "representation": "number"},
        {"name": "ward", "type": "finite", "representation": 4},
    ]
)


def people(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(COLOURS[:2], rows),
            "height": rng.normal(170, 10, rows),
            "ward": rng.integers(0, 3, rows),
        }
    )
    return TabularDataset(frame, PEOPLE)


def giants(rows=1):
    frame = pd.DataFrame({"colour": "red", "height": 400.0 + 50 * np.arange(rows), "ward": 3})
    return TabularDataset(frame, PEOPLE)


class Blind(Generator):
    """Ignores its input."""

    def fit(self, dataset):
        self.trained = True

    def generate(self, num_samples, random_state=None):
        return people(num_samples, random_state)


def mia(generator=None, targets=None, rows=20, seed=1, **options):
    return TargetedMIA(
        AuxiliaryDataKnowledge(people(), num_training_records=rows, seed=0),
        giants() if targets is None else targets,
        BlackBoxKnowledge(generator or Raw(), num_synthetic_records=rows),
        replace_target=True,
        seed=seed,
        n_jobs=1,
        **options,
    )


def aia(values, generator=None, rows=10, seed=1, **options):
    return TargetedAIA(
        AuxiliaryDataKnowledge(people(), num_training_records=rows, seed=0),
        giants(),
        "colour",
        values,
        BlackBoxKnowledge(generator or Raw(), num_synthetic_records=rows),
        seed=seed,
        n_jobs=1,
        **options,
    )


class Tally:
    """Counts; a number in the class itself would be part of what the feature is."""

    number = 0


EXTRACTED = Tally()


class Spotted(SetFeature):
    """Share of each colour among giants: what attribute inference needs here."""

    def extract(self, datasets):
        EXTRACTED.number += len(datasets)
        rows = []
        for dataset in datasets:
            giant = dataset.table.column("height") > 300
            codes = dataset.table.column("colour")
            rows.append([(giant & (codes == code)).sum() for code in range(3)])
        return np.array(rows)


def forest(features=None, **options):
    features = NaiveSetFeature() if features is None else features
    return FeatureBasedSetClassifier(
        features, RandomForestClassifier(20, max_features=None, **options)
    )


def auc(scores, positive):
    higher = scores[positive][:, None] - scores[~positive]
    return np.mean((higher > 0) + (higher == 0) / 2)


# -- truth ------------------------------------------------------------------------------------


def test_a_copying_mechanism_is_broken_completely():
    threat_model, attack = mia(), ShadowModellingAttack(forest())
    attack.train(threat_model, num_samples=60)
    summary = threat_model.test(attack, num_samples=60)
    assert summary.accuracy == 1
    assert summary.auc == 1


def test_a_mechanism_that_ignores_its_input_leaves_the_attack_at_chance():
    threat_model = mia(Blind(), generate_pairs=False)
    attack = ShadowModellingAttack(forest())
    attack.train(threat_model, num_samples=100)
    summary = threat_model.test(attack, num_samples=200)
    assert abs(summary.accuracy - 0.5) < 4 * np.sqrt(0.25 / 200)


def test_half_a_sample_is_broken_at_the_rate_that_sampling_allows():
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(people(), num_training_records=20, seed=0),
        giants(),
        BlackBoxKnowledge(Raw(), num_synthetic_records=10),
        replace_target=True,
        generate_pairs=False,
        seed=3,
        n_jobs=1,
    )
    attack = ShadowModellingAttack(forest(Spotted()))
    attack.train(threat_model, num_samples=100)
    summary = threat_model.test(attack, num_samples=200)
    assert summary.fp == 0
    assert abs(summary.tp - 0.5) < 4 * np.sqrt(0.25 / 100)


@pytest.mark.parametrize("values", [["red", "green"], ["green", "red"], ["red", "blue"]])
def test_the_score_is_that_of_the_second_value_in_whatever_order_values_are_given(values):
    threat_model = aia(values)
    attack = ShadowModellingAttack(forest(Spotted()))
    attack.train(threat_model, num_samples=40)
    summary = threat_model.test(attack, num_samples=40)
    assert summary.accuracy == 1
    assert summary.auc == 1
    releases, labels = threat_model._generate_samples(40, training=False)
    scores = attack.attack_score(releases)
    assert scores.shape == (40,)
    assert auc(scores, np.array(labels) == values[1]) == 1


def test_many_values_have_one_score_each_in_the_order_given():
    values = ["green", "blue", "red"]
    threat_model = aia(values)
    attack = ShadowModellingAttack(forest(Spotted()))
    attack.train(threat_model, num_samples=60)
    summary = threat_model.test(attack, num_samples=40)
    assert summary.accuracy == 1
    releases, labels = threat_model._generate_samples(40, training=False)
    scores = attack.attack_score(releases)
    assert scores.shape == (40, 3)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    assert [values[best] for best in scores.argmax(axis=1)] == list(labels)
    assert attack.attack(releases).tolist() == list(labels)


def test_a_value_never_seen_in_training_has_probability_zero():
    threat_model = aia(["green", "blue", "red"], distribution=[0.5, 0.0, 0.5])
    attack = ShadowModellingAttack(forest(Spotted()))
    attack.train(threat_model, num_samples=30)
    scores = attack.attack_score([people(5), giants()])
    assert scores.shape == (2, 3)
    assert scores[:, 1].tolist() == [0, 0]


# -- one training, and another ----------------------------------------------------------------


def test_a_second_training_forgets_the_first():
    attack = ShadowModellingAttack(forest())
    attack.train(mia(), num_samples=20)
    other = mia(targets=giants(3).take([2]), seed=9)
    attack.train(other, num_samples=40)
    fresh = ShadowModellingAttack(forest())
    fresh.train(other, num_samples=40)
    releases, _ = other._generate_samples(20, training=False)
    np.testing.assert_array_equal(attack.attack_score(releases), fresh.attack_score(releases))


def test_training_follows_from_the_seed_of_the_threat_model_and_keeps_the_classifier_as_given():
    scores = []
    for _ in range(2):
        threat_model = mia(Blind())
        classifier = RandomForestClassifier(5)
        attack = ShadowModellingAttack(FeatureBasedSetClassifier(NaiveSetFeature(), classifier))
        attack.train(threat_model, num_samples=20)
        scores.append(threat_model.test(attack, num_samples=20).scores)
        assert classifier.random_state is None
        assert not hasattr(classifier, "classes_")
        assert attack.classifier.classifier_.random_state is not None
    np.testing.assert_array_equal(*scores)


def test_nested_random_states_are_seeded_and_given_ones_kept():
    model = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    fitted = FeatureBasedSetClassifier(NaiveSetFeature(), model)
    fitted.fit([people(9, s) for s in range(6)], [0, 1] * 3)
    assert fitted.classifier_[1].random_state is not None
    kept = forest(random_state=7).fit([people(9, s) for s in range(6)], [0, 1] * 3)
    assert kept.classifier_.random_state == 7


def test_without_a_threat_model_the_one_used_last_is_used_again():
    threat_model, attack = mia(), ShadowModellingAttack(forest())
    with pytest.raises(IncompatibleAttackError):
        attack.train()
    attack.train(threat_model, num_samples=20)
    assert attack.threat_model is threat_model
    attack.train(num_samples=30)
    assert len(threat_model._memory[True][0]) == 30


def test_one_hundred_trials_are_the_default():
    threat_model, attack = mia(rows=5), ShadowModellingAttack(forest())
    attack.train(threat_model)
    assert len(threat_model._memory[True][0]) == 100


def test_training_labels_of_one_class_only_are_refused():
    threat_model = aia(["red", "green"], distribution=[1.0, 0.0])
    with pytest.raises(IncompatibleAttackError, match="at least two different labels"):
        ShadowModellingAttack(forest(Spotted())).train(threat_model, num_samples=10)


def test_an_attack_without_training_is_refused_as_an_assertion_too():
    attack = ShadowModellingAttack(forest())
    assert not attack.trained
    for use in (attack.attack, attack.attack_score):
        with pytest.raises(NotTrainedError):
            use([people(5)])
    with pytest.raises(AssertionError):
        mia().test(attack, num_samples=2)


def test_a_failed_training_leaves_the_attack_untrained():
    attack = ShadowModellingAttack(forest(Spotted()))
    attack.train(aia(["red", "green"]), num_samples=20)
    with pytest.raises(IncompatibleAttackError):
        attack.train(aia(["red", "green"], distribution=[1.0, 0.0]), num_samples=6)
    assert not attack.trained


def test_a_no_box_attacker_cannot_train():
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(people(), num_training_records=20, seed=0),
        giants(),
        NoBoxKnowledge(Raw(), num_synthetic_records=20),
    )
    with pytest.raises(IncompatibleAttackError, match="no-box"):
        ShadowModellingAttack(forest()).train(threat_model, num_samples=4)


# -- observing --------------------------------------------------------------------------------


def test_features_of_a_release_are_extracted_once_for_all_attacks_and_targets():
    threat_model = mia(targets=giants(3))
    feature, before = Spotted(), EXTRACTED.number
    for view in threat_model:
        for model in (LogisticRegression(), RandomForestClassifier(3)):
            attack = ShadowModellingAttack(FeatureBasedSetClassifier(feature, model))
            attack.train(view, num_samples=20)
            view.test(attack, num_samples=10)
    assert EXTRACTED.number - before == 30


def test_every_view_of_several_targets_is_attacked_by_itself():
    frame = pd.DataFrame({"colour": ["red", "blue"], "height": 170.0, "ward": [3, 0]})
    threat_model = mia(targets=TabularDataset(frame, PEOPLE))
    for view in threat_model:
        attack = ShadowModellingAttack(forest(RandomTargetedQueryFeature(None, 1, 9, seed=0)))
        attack.train(view, num_samples=60)
        assert view.test(attack, num_samples=40).accuracy == 1


def board_of(secrets, values, goal=MEMBERSHIP):
    judged = np.ones(secrets.shape[1], dtype=bool)
    return Board(values, secrets, np.arange(len(secrets)), goal, judged)


def test_each_target_has_a_scorer_of_its_own_and_the_attack_learns_nothing_itself():
    attack = ShadowModellingAttack(forest())
    rng = np.random.default_rng(0)
    secrets = rng.random((60, 2)) < 0.5
    board = board_of(secrets, secrets[:, None, :] + rng.normal(0, 0.01, (60, 1, 2)))
    before = dict(vars(attack.classifier))
    for target in range(2):
        part = board.of_target(target)
        scorer = attack.fit(part, rng=rng)
        scores = scorer.score(part.values)
        assert scores.shape == (60, 1)
        assert (scorer.decide(scores) == part.secrets).all()
    assert not attack.pools_targets
    assert not attack.trained
    assert vars(attack.classifier) == before


def test_exchangeable_targets_of_a_board_are_learnt_together():
    attack, rng = ShadowModellingAttack(forest()), np.random.default_rng(0)
    secrets = rng.choice([10.5, 2.5, 7.5], (30, 4))
    board = board_of(secrets, secrets[..., None] + 0.0, Goal("attribute", "x", (7.5, 2.5, 10.5)))
    scorer = attack.fit(board, rng=rng)
    scores = scorer.score(board.values)
    assert scores.shape == (30, 4, 3)
    assert (scorer.decide(scores) == secrets).all()
    shared = board_of(secrets[:, :1].repeat(4, axis=1), board.values[:, :1], board.goal)
    assert attack.fit(shared, rng=rng).score(shared.values).shape == (30, 1, 3)


def test_labels_of_ones_own_are_scored_in_their_sorted_order():
    attack, secrets = ShadowModellingAttack(forest()), np.array([["b"], ["a"], ["c"]] * 5)
    values = (secrets == "b")[..., None] + 2.0 * (secrets == "c")[..., None]
    scorer = attack.fit(board_of(secrets, values, Goal("label", values=())), rng=RNG(0))
    assert scorer.secrets == ("a", "b", "c")
    assert (scorer.decide(scorer.score(values)) == secrets).all()


def test_shadow_modelling_needs_many_releases_to_learn_from():
    attack = ShadowModellingAttack(forest())
    assert attack.needs == Needs(training=True, many_releases=True)
    file = Setting("ObservedMIA", "table", MEMBERSHIP, training=1, test=1)
    assert "many releases" in unfit(attack.needs, attack.label, file)[0]


def test_target_dependent_features_stand_beside_others():
    targets, release = giants(3), people(20)
    features = NaiveSetFeature() + RandomTargetedQueryFeature(None, 1, 3, seed=0)
    observed = features.observe(release, membership_briefing(targets))
    assert observed.shape == (3, 3 * 8 + 3)
    assert (observed[:, :24] == NaiveSetFeature()([release])).all()


def test_ranges_are_learnt_from_auxiliary_data_and_shared_by_attacks():
    threat_model = mia()
    first, second = (ShadowModellingAttack(forest(HistSetFeature(5, "data"))) for _ in range(2))
    first.train(threat_model, num_samples=20)
    second.train(threat_model, num_samples=20)
    briefing = threat_model.briefing(all_targets=True)
    assert key_of(first, briefing) == key_of(second, briefing)
    low = first.classifier.features_.bounds.lows[0]
    assert (
        low == threat_model.atk_know_data.attacker_knowledge.aux_data.table.column("height").min()
    )
    assert threat_model.test(first, num_samples=20).accuracy > 0.8


def test_without_auxiliary_data_ranges_are_those_of_the_first_releases():
    class Secretive(AttackerKnowledgeOnData):
        def generate_datasets(self, num_samples, training=True):
            return [people(12, int(np.random.randint(1000))) for _ in range(num_samples)]  # noqa: NPY002

    threat_model = TargetedMIA(
        Secretive(),
        giants(),
        BlackBoxKnowledge(Raw(), num_synthetic_records=12),
        replace_target=True,
        seed=0,
        n_jobs=1,
    )
    attack = ShadowModellingAttack(forest(HistSetFeature(5, "data")))
    attack.train(threat_model, num_samples=40)
    assert threat_model.test(attack, num_samples=20).accuracy > 0.8


def test_observing_before_training_needs_data_for_ranges():
    attack, rng = ShadowModellingAttack(forest(HistSetFeature(5, "data"))), RNG(0)
    with pytest.raises(NotTrainedError, match="learns ranges"):
        attack.observe(Release(people(5)), membership_briefing(giants()), rng=rng)
    told = membership_briefing(giants(), people())
    found = attack.observe(Release(people(5)), told, rng=rng)
    assert found.shape == (1, 3 + 1 + 5 + 3 + 4 + 1)
    observer = attack.observer(told, no_samples)
    assert observer(Release(people(5)), told, rng=rng).tolist() == found.tolist()


@pytest.mark.parametrize("told", [membership_briefing(giants()), Briefing(MEMBERSHIP)])
def test_without_data_an_observer_has_the_ranges_of_ten_simulated_releases(told):
    asked = []

    def samples(number):
        asked.append(number)
        return [Release(people(20, seed)) for seed in range(number)]

    attack = ShadowModellingAttack(forest(HistSetFeature(5, "data")))
    observer = attack.observer(told, samples)
    heights = [people(20, seed).table.column("height") for seed in range(10)]
    assert observer.features.bounds.lows[0] == np.min(heights)
    assert observer.features.bounds.highs[0] == np.max(heights)
    assert asked == [10]
    assert attack.classifier.features_ is None
    held = membership_briefing(giants(), people())
    assert attack.observer(held, samples).key != observer.key
    assert asked == [10]


def test_an_observer_is_what_its_features_are_and_travels_without_the_attack():
    features = NaiveSetFeature() + HistSetFeature(5, "data")
    told, release = membership_briefing(giants(), people()), Release(people(9))
    attack = ShadowModellingAttack(forest(features))
    observer = attack.observer(told, no_samples)
    features.extract([people(3)])
    assert attack.observer(told, no_samples).key == observer.key
    assert key_of(ShadowModellingAttack(forest(NaiveSetFeature())), told) != observer.key
    content = cloudpickle.dumps(observer)
    assert b"RandomForest" not in content
    twin = pickle.loads(content)  # noqa: S301
    assert twin.key == observer.key
    assert np.array_equal(twin(release, told, rng=RNG(0)), observer(release, told, rng=RNG(0)))


def test_a_feature_of_ones_own_is_known_by_its_parameters_and_code():
    class Above(SetFeature):
        def __init__(self, limit):
            self._limit = limit

        def extract(self, datasets):
            return [[self.share(dataset)] for dataset in datasets]

        def share(self, dataset):
            return np.mean(dataset.table.column("height") > self._limit)

    class Below(Above):
        def share(self, dataset):
            return np.mean(dataset.table.column("height") < self._limit)

    class Unhashable(Above):
        __hash__ = None

    features = [Above(1), Above(2), Below(1), Unhashable(1)]
    keys = [key_of(ShadowModellingAttack(forest(feature))) for feature in features]
    assert len(set(keys)) == 4
    assert keys[3] == key_of(ShadowModellingAttack(forest(Unhashable(1))))


def test_white_box_releases_are_observed():
    threat_model = TargetedMIA(
        AuxiliaryDataKnowledge(people(), num_training_records=20, seed=0),
        giants(),
        WhiteBoxKnowledge(Raw(), num_synthetic_records=20),
        replace_target=True,
        seed=0,
        n_jobs=1,
    )
    attack = ShadowModellingAttack(forest())
    attack.train(threat_model, num_samples=20)
    assert threat_model.test(attack, num_samples=10).accuracy == 1
    releases, labels = threat_model._generate_samples(10, training=False)
    assert attack.attack(releases).tolist() == list(labels)
    own = ShadowModellingAttack(Tallest())
    own.train(threat_model, num_samples=20)
    assert threat_model.test(own, num_samples=10).accuracy == 1


# -- features that are not numbers -------------------------------------------------------------


def test_missing_and_infinite_features_are_made_finite():
    class Wild(SetFeature):
        def extract(self, datasets):
            return np.array([[np.nan, np.inf, -np.inf, 1e300, len(d)] for d in datasets])

    classifier = forest(Wild())
    datasets = [people(rows) for rows in (5, 6, 7, 8)]
    classifier.fit(datasets, [0, 0, 1, 1])
    assert np.isfinite(classifier.predict_proba(datasets)).all()


def test_features_that_differ_beyond_single_precision_are_told_apart():
    class Moment(SetFeature):
        def extract(self, datasets):
            return np.array([[1.7e9 + len(d)] for d in datasets])

    datasets = [people(rows) for rows in range(5, 25)]
    labels = np.arange(20) >= 10
    classifier = forest(Moment(), random_state=0).fit(datasets, labels)
    assert (classifier.predict(datasets) == labels).all()


def test_empty_and_tiny_releases_have_a_score():
    attack = ShadowModellingAttack(forest(NaiveSetFeature() + HistSetFeature(bounds="data")))
    attack.train(mia(), num_samples=20)
    scores = attack.attack_score([people(5).empty(), people(1), giants()])
    assert np.isfinite(scores).all()


# -- doors ------------------------------------------------------------------------------------


class Tallest(SetClassifier):
    """A user's own classifier, without features."""

    def fit(self, datasets, labels):
        self.limit = 300

    def predict(self, datasets):
        return np.array([dataset.data["height"].max() > self.limit for dataset in datasets])

    def predict_proba(self, datasets):
        positive = self.predict(datasets).astype(float)
        return np.stack([1 - positive, positive], axis=1)


def test_a_classifier_of_ones_own_works():
    threat_model, attack = mia(), ShadowModellingAttack(Tallest())
    attack.train(threat_model, num_samples=10)
    summary = threat_model.test(attack, num_samples=20)
    assert summary.accuracy == summary.auc == 1
    assert attack.writes_doors
    assert attack.label == "ShadowModelling(Unknown classifier)"
    assert attack.classifier([giants()]).tolist() == [True]


def test_a_classifier_of_ones_own_has_columns_by_its_classes():
    class Backwards(Tallest):
        classes_ = (True, False)

        def predict_proba(self, datasets):
            return super().predict_proba(datasets)[:, ::-1]

    threat_model, attack = mia(), ShadowModellingAttack(Backwards())
    attack.train(threat_model, num_samples=10)
    assert threat_model.test(attack, num_samples=20).auc == 1


def test_a_classifier_without_probabilities_gives_no_scores():
    class Silent(Tallest):
        def predict_proba(self, datasets):
            return None

    threat_model, attack = mia(), ShadowModellingAttack(Silent())
    attack.train(threat_model, num_samples=10)
    summary = threat_model.test(attack, num_samples=10)
    assert summary.accuracy == 1
    assert summary.scores is None


def test_a_classifier_that_rewrites_predict_is_asked_by_its_methods():
    class Stubborn(FeatureBasedSetClassifier):
        def predict(self, datasets):
            return np.array([True] * len(datasets))

    threat_model = mia()
    attack = ShadowModellingAttack(Stubborn(NaiveSetFeature(), LogisticRegression(max_iter=5)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        attack.train(threat_model, num_samples=10)
    assert threat_model.test(attack, num_samples=10).tp == 1
    assert threat_model.test(attack, num_samples=10).fp == 1


def test_an_attack_that_rewrites_its_score_is_asked_by_its_methods():
    class Constant(ShadowModellingAttack):
        def attack_score(self, datasets):
            return np.full(len(datasets), 0.25)

    threat_model, attack = mia(), Constant(forest())
    attack.train(threat_model, num_samples=10)
    assert set(threat_model.test(attack, num_samples=6).scores) == {0.25}


def test_a_score_may_be_made_of_the_inherited_one():
    class Sharper(ShadowModellingAttack):
        def attack_score(self, datasets):
            return super().attack_score(datasets) ** 2

    threat_model, attack, plain = mia(), Sharper(forest()), ShadowModellingAttack(forest())
    for each in (attack, plain):
        each.train(threat_model, num_samples=20)
    expected = threat_model.test(plain, num_samples=20).scores ** 2
    assert threat_model.test(attack, num_samples=20).scores.tolist() == expected.tolist()


def test_the_classifier_may_be_fitted_directly():
    threat_model = mia()
    datasets, labels = threat_model._generate_samples(30)
    for features in (NaiveSetFeature(), HistSetFeature(4, "data")):
        attack = ShadowModellingAttack(forest(features))
        attack.classifier.fit(datasets, labels)
        attack.trained = True
        releases, _ = threat_model._generate_samples(20, training=False)
        summary = threat_model.test(attack, num_samples=20)
        guesses = attack.classifier.predict(releases)
        assert attack.attack(releases).tolist() == guesses.tolist()
        assert summary.predictions.astype(bool).tolist() == guesses.tolist()
        # Unseeded, so the forest may settle on a histogram bin that separates training only.
        assert summary.accuracy > 0.8


def test_guesses_are_those_of_the_classifier_also_where_it_is_undecided():
    threat_model = mia(Blind())
    attack = ShadowModellingAttack(
        FeatureBasedSetClassifier(NaiveSetFeature(), RandomForestClassifier(4))
    )
    attack.train(threat_model, num_samples=40)
    releases, _ = threat_model._generate_samples(60, training=False)
    assert 0.5 in attack.attack_score(releases)
    assert attack.attack(releases).tolist() == attack.classifier.predict(releases).tolist()


def test_a_classifier_with_margins_instead_of_probabilities_has_a_score():
    threat_model = aia(["green", "blue", "red"])
    attack = ShadowModellingAttack(FeatureBasedSetClassifier(Spotted(), RidgeClassifier()))
    attack.train(threat_model, num_samples=60)
    assert threat_model.test(attack, num_samples=20).accuracy == 1


def test_datasets_changed_between_two_calls_are_looked_at_again():
    threat_model, attack = mia(), ShadowModellingAttack(forest())
    attack.train(threat_model, num_samples=40)
    dataset = people(20)
    before = attack.attack([dataset])[0]
    dataset.add_records(giants(), in_place=True)
    assert (bool(before), bool(attack.attack([dataset])[0])) == (False, True)


def test_labels_are_as_documented():
    classifier = FeatureBasedSetClassifier(
        features=NaiveSetFeature() + HistSetFeature(), classifier=LogisticRegression()
    )
    assert classifier.label == "Classifier(F_Naive+F_Hist(10), LogisticRegression())"
    assert ShadowModellingAttack(classifier).label == f"ShadowModelling({classifier.label})"
    assert ShadowModellingAttack(classifier, label="mine").label == "mine"
    named = FeatureBasedSetClassifier(NaiveSetFeature(), LogisticRegression(), label="lr")
    assert str(ShadowModellingAttack(named)) == "ShadowModelling(lr)"


@pytest.mark.parametrize("wrong", [LogisticRegression(), NaiveSetFeature(), None])
def test_only_set_classifiers_are_accepted(wrong):
    with pytest.raises(ConfigError, match="SetClassifier"):
        ShadowModellingAttack(wrong)


def test_a_feature_based_classifier_refuses_arguments_in_the_wrong_place():
    with pytest.raises(ConfigError, match="features must be"):
        FeatureBasedSetClassifier(LogisticRegression(), NaiveSetFeature())
    with pytest.raises(ConfigError, match="classifier must be"):
        FeatureBasedSetClassifier(NaiveSetFeature(), RandomForestClassifier)


def _usual_forest():
    return RandomForestClassifier(n_estimators=100)


def test_a_classifier_that_is_made_later_is_the_same_attack():
    attack = GroundhogAttack()
    assert "classifier" not in vars(attack.classifier)
    assert spec_of(attack) == spec_of(GroundhogAttack(model=_usual_forest()))
    with pytest.raises(ConfigError, match="classifier must be"):
        _ = FeatureBasedSetClassifier(NaiveSetFeature(), lambda: RandomForestClassifier).classifier


def test_as_many_labels_as_datasets_are_needed():
    with pytest.raises(ConfigError, match="2 datasets and 3 labels"):
        forest().fit([people(5), people(6)], [0, 1, 1])


def test_a_classifier_trained_on_other_labels_is_not_used():
    threat_model = mia()
    attack = ShadowModellingAttack(forest())
    attack.train(threat_model, num_samples=10)
    attack.classifier.fit([people(9, s) for s in range(4)], ["a", "b"] * 2)
    with pytest.raises(IncompatibleAttackError, match="not a possible secret"):
        attack.attack_score([people(5)])


def test_a_classifier_fitted_by_hand_is_scored_in_the_order_of_the_attribute_values() -> None:
    data = load_sample("census", 300)
    threat_model = TargetedAIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=2, seed=0),
        data.get_records([0]),
        "Sex",
        ["male", "female"],
        BlackBoxKnowledge(Raw(), 2),
        seed=1,
    )
    attack = ShadowModellingAttack(
        FeatureBasedSetClassifier(HistSetFeature(), RandomForestClassifier(random_state=0))
    )
    releases, labels = threat_model.generate_training_samples(100)
    attack.classifier.fit(releases, labels)
    attack.trained = True
    summary = threat_model.test(attack, num_samples=100)
    assert (summary.auc > 0.5) == (summary.accuracy > 0.5)
    assert summary.auc > 0.6
