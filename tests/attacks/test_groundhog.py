"""The Groundhog attack."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._groundhog import GroundhogAttack
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature, StadlerNaiveSetFeature
from tapas.datasets import create_canary, load_sample
from tapas.errors import ConfigError
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)


def clinic_mia(seed=0):
    data, canary = create_canary(load_sample("clinic", rows=300))
    return TargetedMIA(
        AuxiliaryDataKnowledge(data, num_training_records=40, seed=0),
        canary,
        BlackBoxKnowledge(Raw(), num_synthetic_records=40),
        replace_target=True,
        seed=seed,
        n_jobs=1,
    )


def test_a_canary_among_columns_of_every_kind_is_found():
    threat_model, attack = clinic_mia(), GroundhogAttack()
    attack.train(threat_model, num_samples=80)
    summary = threat_model.test(attack, num_samples=40)
    assert summary.accuracy > 0.9
    assert summary.attack == "Groundhog"


@pytest.mark.parametrize(
    "flags", [(True, False, False), (False, True, False), (False, False, True)]
)
def test_each_feature_set_can_be_used_alone(flags):
    threat_model = clinic_mia()
    attack = GroundhogAttack(*flags, model=RandomForestClassifier(10), label="one set")
    attack.train(threat_model, num_samples=20)
    assert np.isfinite(threat_model.test(attack, num_samples=10).scores).all()
    assert attack.label == "one set"


def test_features_stand_in_the_documented_order():
    features = GroundhogAttack().classifier.features.features
    assert [type(feature) for feature in features] == [
        NaiveSetFeature,
        HistSetFeature,
        CorrSetFeature,
    ]
    assert features[1].bounds == "data"


def test_the_default_classifier_is_a_forest_of_a_hundred_trees():
    forest = GroundhogAttack().classifier.classifier
    assert isinstance(forest, RandomForestClassifier)
    assert forest.n_estimators == 100


@pytest.mark.parametrize("name", ["model", "classifier"])
def test_an_unfitted_forest_is_accepted_under_both_names(name):
    forest = RandomForestClassifier()
    assert GroundhogAttack(**{name: forest}).classifier.classifier is forest


def test_other_features_can_be_given():
    features = StadlerNaiveSetFeature() + HistSetFeature(bounds="data")
    attack = GroundhogAttack(features=features, classifier=RandomForestClassifier(20))
    threat_model = clinic_mia()
    attack.train(threat_model, num_samples=40)
    assert attack.classifier.features is features
    assert threat_model.test(attack, num_samples=20).accuracy > 0.5


@pytest.mark.parametrize(
    "arguments",
    [(RandomForestClassifier(),), (True, LogisticRegression()), (1, 1, 1), (None,)],
)
def test_something_else_in_the_place_of_a_flag_is_refused(arguments):
    with pytest.raises(ConfigError, match="must be True or False"):
        GroundhogAttack(*arguments)


def test_an_attack_without_features_is_refused_as_an_assertion_too():
    with pytest.raises(AssertionError, match="no feature"):
        GroundhogAttack(use_naive=False, use_hist=False, use_corr=False)


def test_two_classifiers_are_one_too_many():
    with pytest.raises(ConfigError, match="give one"):
        GroundhogAttack(model=LogisticRegression(), classifier=LogisticRegression())


def test_a_sensitive_attribute_of_many_values_is_inferred():
    data = load_sample("census", rows=400)
    column = data.description.columns[0]
    values = list(data.description[column]["representation"])[:3]
    threat_model = TargetedAIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=5, seed=0),
        data.get_records([0]),
        column,
        values,
        BlackBoxKnowledge(Raw(), num_synthetic_records=5),
        seed=0,
        n_jobs=1,
    )
    attack = GroundhogAttack(model=RandomForestClassifier(30))
    attack.train(threat_model, num_samples=150)
    summary = threat_model.test(attack, num_samples=100)
    assert summary.scores.shape == (100, 3)
    # The rows around the target hold the same values: better than a third, not perfect.
    assert summary.accuracy > 1 / 3 + 2 * np.sqrt(2 / 9 / 100)


def test_the_earlier_import_paths_still_work():
    from tapas.attacks import groundhog, set_classifiers, shadow_modelling

    assert groundhog.GroundhogAttack is GroundhogAttack
    assert issubclass(GroundhogAttack, shadow_modelling.ShadowModellingAttack)
    assert set_classifiers.NaiveSetFeature is NaiveSetFeature
