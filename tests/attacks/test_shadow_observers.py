"""What shadow modelling observes: once for all, with ranges that are learnt before."""

import pickle

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from mixed_tables import key_of, membership_briefing, no_samples
from shadow_games import EXTRACTED, PEOPLE, RNG, Spotted, Tallest, forest, giants, mia, people
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._query_feature import RandomTargetedQueryFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier
from tapas.attacks.features._set_features import SetFeature
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.datasets import TabularDataset
from tapas.errors import NotTrainedError
from tapas.game import MEMBERSHIP, Board, Briefing, Goal, Needs, Release, Setting, unfit
from tapas.generators import Raw
from tapas.threat_models import (
    AttackerKnowledgeOnData,
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedMIA,
    WhiteBoxKnowledge,
)


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
