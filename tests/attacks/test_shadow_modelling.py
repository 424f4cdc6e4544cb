"""Shadow modelling: what is learnt, and how scores are arranged."""

import numpy as np
import pytest
from shadow_games import Blind, Spotted, aia, auc, forest, giants, mia, people
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    NoBoxKnowledge,
    TargetedMIA,
)


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
