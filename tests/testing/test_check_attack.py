"""Every attack passes the checks that third parties can run, and broken ones do not."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import (
    Attack,
    ClosestDistanceAIA,
    ClosestDistanceMIA,
    FeatureBasedSetClassifier,
    GroundhogAttack,
    HistSetFeature,
    LocalNeighbourhoodAttack,
    LpDistance,
    ProbabilityEstimationAttack,
    RandomTargetedQueryFeature,
    ShadowModellingAttack,
    SyntheticPredictorAttack,
    TrainableThresholdAttack,
)
from tapas.datasets import load_sample
from tapas.errors import TapasError
from tapas.testing import BrokenPromiseError, check_attack

BUILT_IN = [
    ClosestDistanceMIA(),
    ClosestDistanceMIA(LpDistance(1), criterion=("fp", 0.1)),
    ClosestDistanceMIA(criterion=("threshold", 0)),
    ClosestDistanceAIA(),
    LocalNeighbourhoodAttack(radius=6),
    ProbabilityEstimationAttack(KernelDensity(), "accuracy"),
    SyntheticPredictorAttack(GaussianNB(), "accuracy"),
    SyntheticPredictorAttack(DecisionTreeClassifier(max_features=1), "accuracy"),
    ShadowModellingAttack(FeatureBasedSetClassifier(HistSetFeature(), GaussianNB())),
    ShadowModellingAttack(
        FeatureBasedSetClassifier(
            RandomTargetedQueryFeature(None, 2, 10, seed=0), RandomForestClassifier(5)
        )
    ),
    GroundhogAttack(model=RandomForestClassifier(5)),
]


@pytest.mark.parametrize("attack", BUILT_IN, ids=lambda attack: attack.label[:60])
def test_every_built_in_attack_keeps_every_promise(attack: Attack) -> None:
    kept = check_attack(attack)
    assert len(kept) % 6 == 0
    assert kept


class Whim(TrainableThresholdAttack):
    label = "Whim"

    def attack_score(self, datasets: Any) -> Any:
        return np.random.default_rng().random(len(datasets))


class Remembers(TrainableThresholdAttack):
    label = "Remembers"
    times = 0

    def attack_score(self, datasets: Any) -> Any:
        self.times += 1
        return np.full(len(datasets), float(self.times))


class Peeks(TrainableThresholdAttack):
    label = "Peeks"

    def attack_score(self, datasets: Any) -> Any:
        record = self.threat_model.target_record
        value = record.data[getattr(self.threat_model, "sensitive_attribute", "sex")].iloc[0]
        return np.array([float(len(str(value)) + (str(value) == "M"))] * len(datasets))


class Ranks(TrainableThresholdAttack):
    label = "Ranks"

    def attack_score(self, datasets: Any) -> Any:
        return np.arange(len(datasets), dtype=float)


class Refuses(Attack):
    label = "Refuses"


@pytest.mark.parametrize(
    ("attack", "promise"),
    [
        (Whim("accuracy"), "same seed gives the same scores"),
        (Remembers("accuracy"), "training again forgets"),
        (Ranks(("threshold", 3)), "judges each release on its own"),
        (Peeks("accuracy"), "does not read the sensitive value"),
        (Refuses(), "goals"),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_a_broken_attack_is_told_which_promise_it_breaks(attack: Attack, promise: str) -> None:
    with pytest.raises(TapasError, match=promise):
        check_attack(attack)


def test_an_attack_about_a_table_of_ones_own_is_checked_on_it() -> None:
    class ShareOfRegion(TrainableThresholdAttack):
        label = "ShareOfRegion"

        def attack_score(self, datasets: Any) -> np.ndarray:
            region = self.threat_model.target_record.data["Region"].iloc[0]
            return np.array([np.mean(dataset.data["Region"] == region) for dataset in datasets])

    census = load_sample("census", 100, seed=1)
    with pytest.raises(BrokenPromiseError, match=r"breaks \d+ of \d+ promises") as caught:
        check_attack(ShareOfRegion())
    assert str(caught.value).count("KeyError: 'Region'") > 1
    kept = check_attack(ShareOfRegion(), census)
    assert "membership: it judges each release on its own" in kept
    assert any(promise.startswith("attribute of two values: ") for promise in kept)
