"""Classifiers of one's own in shadow modelling, and whose code is called."""

import warnings

import numpy as np
import pytest
from shadow_games import Blind, Spotted, Tallest, aia, forest, giants, mia, people
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from tapas._spec import spec_of
from tapas.attacks.features._groundhog import GroundhogAttack
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.datasets import load_sample
from tapas.errors import ConfigError, IncompatibleAttackError
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
)


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
