"""Subclasses of built-in attacks and features are what runs, not what they were made from."""

from typing import Any

import numpy as np
import pytest
from mixed_tables import key_of
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from tapas.attacks import (
    ClosestDistanceMIA,
    CorrSetFeature,
    GroundhogAttack,
    HistSetFeature,
    LocalNeighbourhoodAttack,
    NaiveSetFeature,
    SyntheticPredictorAttack,
)
from tapas.datasets import load_sample
from tapas.errors import ConfigError, ThreatModelError
from tapas.game import MEMBERSHIP, Briefing, Release
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)


def _membership() -> TargetedMIA:
    data = load_sample("clinic", 200, seed=4)
    return TargetedMIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=20, seed=0),
        data.get_records([0]),
        BlackBoxKnowledge(Raw(), 15),
        seed=1,
    )


def _attribute(column: str, values: list[Any]) -> TargetedAIA:
    data = load_sample("clinic", 200, seed=4)
    return TargetedAIA(
        AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=4, seed=0),
        data.get_records([0]),
        column,
        values,
        BlackBoxKnowledge(Raw(), 4),
        seed=1,
    )


def test_a_groundhog_that_observes_otherwise_does_not_share_observations() -> None:
    class LooksUp(GroundhogAttack):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
            differences = release.data.table.count_differences(briefing.targets.table)
            return (differences == 0).any(axis=1, keepdims=True).astype(float)

    shared, alone = _membership(), _membership()
    GroundhogAttack(model=RandomForestClassifier(5)).train(shared, num_samples=20)
    scores = []
    for threat_model in (shared, alone):
        attack = LooksUp(model=RandomForestClassifier(5, random_state=0))
        attack.train(threat_model, num_samples=20)
        scores.append(threat_model.test(attack, 20).scores.tolist())
    assert scores[0] == scores[1]


def test_what_a_variant_observes_by_is_part_of_its_key() -> None:
    class Louder(ClosestDistanceMIA):
        def __init__(self, factor: float) -> None:
            super().__init__()
            self.factor = factor

        def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
            return self.factor * super().observe(release, briefing, rng=rng)

    class Nearer(LocalNeighbourhoodAttack):
        def _inside(self, targets: Any, synthetic: Any) -> Any:
            return np.zeros((len(targets), len(synthetic)), dtype=bool)

    briefing = _membership().briefing(all_targets=True)
    attacks = [ClosestDistanceMIA(), Louder(2), Louder(3), LocalNeighbourhoodAttack(), Nearer()]
    assert len({key_of(attack, briefing) for attack in attacks}) == 5
    assert key_of(Louder(2), briefing) == key_of(Louder(2), briefing)


def test_a_groundhog_that_observes_more_is_asked_with_ranges_that_were_learnt_first() -> None:
    class AlsoSize(GroundhogAttack):
        def observe(self, release: Any, briefing: Any, *, rng: Any) -> Any:
            seen = super().observe(release, briefing, rng=rng)
            return np.append(seen, [[len(release.table)]], axis=1)

    told = Briefing(MEMBERSHIP)
    releases = [Release(load_sample("clinic", 50, seed=number)) for number in range(12)]
    attack = AlsoSize()
    observer = attack.observer(told, lambda number: releases[:number])
    plain = GroundhogAttack().observer(told, lambda number: releases[:number])
    for release in releases:
        more = observer(release, told, rng=np.random.default_rng(0))
        assert more[:, :-1].tolist() == plain(release, told, rng=np.random.default_rng(0)).tolist()
        assert more[0, -1] == 50
    assert observer.key != plain.key
    assert attack.classifier.features.learns


def test_a_feature_that_extracts_otherwise_is_asked_inside_a_sum() -> None:
    class First(NaiveSetFeature):
        def extract(self, datasets: Any) -> Any:
            return np.full((len(datasets), 1), 7.0)

    data = load_sample("census", 30)
    assert (First() + CorrSetFeature()).extract([data])[0, 0] == 7.0


def test_a_histogram_of_ones_own_is_another_histogram() -> None:
    class Coarse(HistSetFeature):
        pass

    assert Coarse() != HistSetFeature()
    fitted = Coarse(bounds="data").fitted_to([load_sample("clinic", 50)])
    assert type(fitted) is Coarse


@pytest.mark.parametrize("attack", ["groundhog", "predictor"])
@pytest.mark.parametrize("values", [[100.5, 90000.25], [100.5, 2000.25, 90000.25]])
def test_fractional_values_can_be_inferred(attack: str, values: list[float]) -> None:
    made = {
        "groundhog": GroundhogAttack(model=RandomForestClassifier(20, random_state=0)),
        "predictor": SyntheticPredictorAttack(LogisticRegression(), "accuracy"),
    }[attack]
    threat_model = _attribute("charge", values)
    made.train(threat_model, num_samples=60)
    summary = threat_model.test(made, 60)
    assert set(np.unique(summary.predictions)) <= {0, 1, *values}
    if attack == "groundhog":
        assert summary.accuracy > 1.2 / len(values)


def test_a_changed_radius_is_not_answered_from_memory() -> None:
    threat_model = _membership()
    attack = LocalNeighbourhoodAttack(radius=1)
    attack.train(threat_model, num_samples=10)
    releases, _ = threat_model.generate_training_samples(10)
    narrow = attack.attack_score(releases)
    attack.radius = 10
    assert attack.attack_score(releases).sum() > narrow.sum()


@pytest.mark.parametrize("values", [["F", None], ["F", "F"], ["F", float("nan")]])
def test_missing_or_equal_attribute_values_are_refused(values: list[Any]) -> None:
    with pytest.raises(ThreatModelError, match="attribute_values"):
        _attribute("sex", values)


@pytest.mark.parametrize("criterion", [None, 3, ("loss", 1), ()])
def test_what_is_no_criterion_is_refused(criterion: Any) -> None:
    with pytest.raises(ConfigError, match="criterion"):
        LocalNeighbourhoodAttack(criterion=criterion)
