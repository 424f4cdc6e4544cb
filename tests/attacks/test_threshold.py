import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_tables import attribute_game, membership_game, mixed_table, outlier

from tapas.attacks import ClosestDistanceMIA, LpDistance, TrainableThresholdAttack
from tapas.attacks._criteria import Criterion
from tapas.attacks.tables._closest_distance import ClosestDistanceAIA
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError

SCORES = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12)


def accuracy(scores: np.ndarray, positive: np.ndarray, threshold: float) -> float:
    return float(np.mean((scores >= threshold) == positive))


@given(SCORES)
def test_accuracy_is_the_best_that_any_threshold_reaches(outcomes):
    scores = np.array([score for score, _ in outcomes], dtype=float)
    positive = np.array([hit for _, hit in outcomes])
    threshold = Criterion.parse("accuracy").threshold(scores, positive)
    reachable = [accuracy(scores, positive, t) for t in (-np.inf, *scores, np.inf)]
    assert np.isfinite(threshold)
    assert accuracy(scores, positive, threshold) == max(reachable)


@given(SCORES, st.floats(0, 1), st.sampled_from(["tp", "fp"]))
def test_rates_come_as_near_to_the_value_as_any_threshold(outcomes, value, kind):
    scores = np.array([score for score, _ in outcomes], dtype=float)
    positive = np.array([hit for _, hit in outcomes])
    chosen = positive if kind == "tp" else ~positive

    def miss(threshold: float) -> float:
        return abs((scores[chosen] >= threshold).sum() / max(1, chosen.sum()) - value)

    threshold = Criterion.parse((kind, value)).threshold(scores, positive)
    assert np.isfinite(threshold)
    assert miss(threshold) == min(miss(t) for t in (-np.inf, *scores, np.inf))


def candidates(scores: np.ndarray) -> list[float]:
    """Finite thresholds: below all distinct scores, between neighbours, and above all."""
    finite = sorted(set(scores[np.isfinite(scores)].tolist()))
    if not finite:
        return [0.0]
    middles = [a + (b / 2 - a / 2) for a, b in itertools.pairwise(finite)]
    return [finite[0] - 1, *middles, finite[-1] + 1]


def naive_threshold(kind: str, value: float, scores: np.ndarray, positive: np.ndarray) -> float:
    """Every candidate tried by itself."""

    def quality(threshold: float) -> tuple[float, float]:
        found = scores >= threshold
        hits, alarms = int(found[positive].sum()), int(found[~positive].sum())
        if kind == "accuracy":
            return hits - alarms, threshold
        if kind == "tp":
            return -abs(hits / max(1, positive.sum()) - value), threshold
        return -abs(alarms / max(1, (~positive).sum()) - value), -threshold

    return max(candidates(scores), key=quality)


@pytest.mark.parametrize("kind", ["accuracy", "tp", "fp"])
def test_thresholds_of_many_columns_are_those_of_each(kind):
    rng = np.random.default_rng(5)
    scores = rng.integers(-4, 5, (31, 300)) / rng.choice([1, 7], 300)
    scores[rng.random(scores.shape) < 0.05] = np.nan
    scores[rng.random(scores.shape) < 0.05] = np.inf
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    scores[:, 0] = -np.inf
    positive = rng.random(scores.shape) < rng.uniform(0, 1, 300)
    criterion = Criterion.parse(kind if kind == "accuracy" else (kind, 0.3))
    found = criterion.thresholds(scores, positive)
    columns = list(zip(scores.T, positive.T, strict=True))
    assert found.tolist() == [naive_threshold(kind, 0.3, *column) for column in columns]
    assert found.tolist() == [criterion.threshold(*column) for column in columns]


def test_thresholds_lie_half_way_between_scores():
    scores, positive = np.array([0.0, 1.0, 3.0, 4.0]), np.array([False, False, True, True])
    assert Criterion.parse("accuracy").threshold(scores, positive) == 2


def test_accuracy_is_empirical_and_not_balanced():
    # One positive among ten: raising no alarm is right nine times, catching it costs two alarms.
    scores = np.array([1.0] * 3 + [0.0] * 7)
    positive = np.arange(10) == 0
    threshold = Criterion.parse(("accuracy",)).threshold(scores, positive)
    assert threshold > 1


def test_infinite_missing_and_huge_scores_still_give_finite_thresholds():
    positive = np.array([False, True, True, False])
    for scores in (
        np.array([-np.inf, 0.0, np.inf, -np.inf]),
        np.array([np.nan, 1.0, 2.0, np.nan]),
        np.array([1e300, np.nextafter(1e300, np.inf), 1.7e308, -1.7e308]),
        np.full(4, -np.inf),
    ):
        assert np.isfinite(Criterion.parse("accuracy").threshold(scores, positive))
    neighbours = np.array([1.0, np.nextafter(1.0, 2)])
    threshold = Criterion.parse("accuracy").threshold(neighbours, np.array([False, True]))
    assert accuracy(neighbours, np.array([False, True]), threshold) == 1


@pytest.mark.parametrize(
    ("criterion", "kind", "text"),
    [
        ("accuracy", "accuracy", "accuracy"),
        (("accuracy",), "accuracy", "accuracy"),
        (("tp", 0.25), "tpr", "tpr=0.25"),
        (("tpr", 0.25), "tpr", "tpr=0.25"),
        (["fp", 0.1], "fpr", "fpr=0.1"),
        (("threshold", -0.3, "yes"), "threshold", "threshold=-0.3"),
    ],
)
def test_documented_criteria_are_accepted(criterion, kind, text):
    parsed = Criterion.parse(criterion)
    assert (parsed.kind, str(parsed)) == (kind, text)


@pytest.mark.parametrize(
    "criterion",
    ["f1", ("tp",), ("fp", 1.5), ("threshold",), ("threshold", "a"), (), ("tp", 1, 2, 3)],
)
def test_other_criteria_are_refused_when_the_attack_is_made(criterion):
    with pytest.raises(ConfigError):
        ClosestDistanceMIA(criterion=criterion)


def test_a_second_training_forgets_the_threshold():
    near, far = mixed_table(1, 9), outlier()
    attack, fresh = ClosestDistanceMIA(LpDistance(2)), ClosestDistanceMIA(LpDistance(2))
    attack.train(membership_game(far), num_samples=20)
    first = attack._threshold
    attack.train(membership_game(near), num_samples=20)
    fresh.train(membership_game(near), num_samples=20)
    assert first != attack._threshold == fresh._threshold


def test_a_second_training_forgets_the_labels():
    attack = ClosestDistanceAIA(LpDistance(2))
    attack.train(attribute_game(outlier(), ("F", "M")), num_samples=20)
    wards = attribute_game(outlier(), (2, 1), attribute="ward")
    attack.train(wards, num_samples=20)
    assert (attack.positive_label, attack.negative_label) == (1, 2)
    assert wards.test(attack, num_samples=20).accuracy == 1
    attack.train(attribute_game(outlier(), ("U", "F", "M")), num_samples=20)
    assert (attack.positive_label, attack.negative_label) == (None, None)


def test_attack_attributes_are_those_documented():
    attack = ClosestDistanceMIA(criterion=("threshold", -0.3))
    assert (attack.target_criterion, attack.target_value) == ("threshold", -0.3)
    assert attack._threshold == -0.3
    with pytest.raises(NotTrainedError):
        attack.attack([outlier()])
    game = membership_game(outlier())
    attack.train(game)
    assert attack.threat_model is game
    assert (attack.positive_label, attack.negative_label) == (True, False)


def test_no_box_attackers_need_a_threshold_and_both_labels_are_values():
    game = attribute_game(outlier(), ("M", "F"), no_box=True)
    with pytest.raises(IncompatibleAttackError, match="threshold"):
        ClosestDistanceAIA().train(game, num_samples=10)
    attack = ClosestDistanceAIA(criterion=("threshold", 0.5))
    attack.train(game)
    assert (attack.positive_label, attack.negative_label) == ("F", "M")
    summary = game.test(attack, num_samples=12)
    assert set(summary.predictions.tolist()) <= {0, 1}
    assert summary.accuracy == 1


def test_training_trials_must_have_both_secrets():
    game = attribute_game(outlier(), distribution=[1.0, 0.0])
    with pytest.raises(IncompatibleAttackError, match="both secrets"):
        ClosestDistanceAIA().train(game, num_samples=6)


def test_a_positive_label_that_scores_do_not_stand_for_is_refused():
    game = attribute_game(outlier(), ("F", "M"))
    with pytest.raises(IncompatibleAttackError, match="stand for 'M'"):
        ClosestDistanceAIA(criterion=("threshold", 0.5, "F")).train(game)
    with pytest.raises(IncompatibleAttackError, match="not one of"):
        ClosestDistanceAIA(criterion=("threshold", 0.5, "X")).train(game)
    ClosestDistanceAIA(criterion=("threshold", 0.5, "M")).train(game)


def test_a_score_is_all_that_an_attack_of_ones_own_has_to_write():
    class LargestVisit(TrainableThresholdAttack):
        def attack_score(self, datasets):
            return np.array([data.data["visits"].max() for data in datasets])

    game = membership_game(outlier())
    attack = LargestVisit(("accuracy",))
    attack.train(game, num_samples=20)
    assert game.test(attack, num_samples=20).accuracy == 1


def test_thresholds_near_a_rate_hold_on_test_trials():
    game = membership_game(outlier(), released=15)
    attack = ClosestDistanceMIA(criterion=("fp", 0.0))
    attack.train(game, num_samples=100)
    summary = game.test(attack, num_samples=100)
    assert summary.fp == 0
    assert 0.3 < summary.tp < 0.7
