import pickle

import cloudpickle
import numpy as np
import pytest
from mixed_tables import (
    Deaf,
    attribute_briefing,
    attribute_game,
    key_of,
    membership_game,
    mixed_table,
    no_samples,
    observed,
    outlier,
    seen,
)
from scipy.stats import binom
from sklearn.neighbors import KernelDensity

from tapas.attacks import ClosestDistanceMIA, DistanceMetric, HammingDistance, LpDistance
from tapas.attacks.tables._closest_distance import ClosestDistanceAIA
from tapas.attacks.tables._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.attacks.tables._probability_estimation import ProbabilityEstimationAttack
from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import IncompatibleAttackError
from tapas.game import Release


def within_binomial(successes: int, trials: int, rate: float) -> bool:
    low, high = binom.ppf([1e-4, 1 - 1e-4], trials, rate)
    return bool(low <= successes <= high)


# -- membership --------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [HammingDistance(), LpDistance(2)])
def test_the_score_is_minus_the_distance_to_the_nearest_record(distance):
    targets, data = mixed_table(4, 5, 0.1), mixed_table(20, 6, 0.1)
    scores = observed(ClosestDistanceMIA(distance), membership_game(targets), data)
    assert np.array_equal(scores, -distance(targets, data).min(axis=1))


def test_a_look_up_finds_members_of_a_sample_at_the_rate_of_sampling():
    game = membership_game(outlier(), size=30, released=12)
    attack = ClosestDistanceMIA(criterion=("threshold", 0))
    attack.train(game)
    summary = game.test(attack, num_samples=300)
    members = int(summary.labels.sum())
    found = int(summary.predictions[summary.labels == 1].sum())
    assert summary.fp == 0
    assert within_binomial(found, members, 12 / 30)


def test_nothing_is_found_in_a_release_that_ignores_the_data():
    game = membership_game(mixed_table(1, 9), Deaf())
    attack = ClosestDistanceMIA(LpDistance(2))
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=200)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, 0.5)


def test_an_empty_release_scores_minus_infinity_and_one_row_its_distance():
    game, attack = membership_game(outlier()), ClosestDistanceMIA()
    assert observed(attack, game, mixed_table(5).empty()).tolist() == [-np.inf]
    assert observed(attack, game, outlier("M")).tolist() == [-1]


def test_all_targets_are_observed_at_once_and_views_agree():
    targets = mixed_table(3, 8)
    game = membership_game(targets)
    attacks = [ClosestDistanceMIA() for _ in range(3)]
    for attack, view in zip(attacks, game, strict=True):
        attack.train(view, num_samples=20)
        assert view.test(attack, num_samples=20).accuracy == 1
    datasets, _ = game.generate_training_samples(20)
    alone = membership_game(targets.take([2]))
    attack = ClosestDistanceMIA()
    attack.train(alone, num_samples=20)
    assert np.array_equal(attack.attack_score(datasets), attacks[2].attack_score(datasets))


# -- attribute ---------------------------------------------------------------------------------


def naive_scores(distance: DistanceMetric, target: TabularDataset, values, attribute, data):
    nearest = []
    for value in values:
        variant = TabularDataset(target.data.assign(**{attribute: [value]}), target.description)
        nearest.append(float(distance(variant, data).min()))
    total = sum(nearest)
    if total == 0:
        return [1 / len(values)] * len(values)
    return [(1 - d / total) / (len(values) - 1) for d in nearest]


@pytest.mark.parametrize("distance", [HammingDistance(), LpDistance(2), LpDistance(1)])
@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("sex", ("M", "F", "U")),
        ("ward", (3, 1, 0, 2)),
        ("risk", ("high", "low", "mid")),
        ("visits", (-3, 0, 3)),
        ("born", ("1970-01-02", "1970-01-09", "1970-01-05")),
    ],
)
def test_scores_of_many_values_follow_the_formula_in_their_order(distance, attribute, values):
    targets, data = mixed_table(3, 5), mixed_table(15, 6, 0.1)
    scores = observed(
        ClosestDistanceAIA(distance), attribute_game(targets, values, attribute=attribute), data
    )
    twins = [
        naive_scores(distance, targets.take([row]), values, attribute, data) for row in range(3)
    ]
    assert np.allclose(scores, twins, atol=1e-12)
    assert np.allclose(scores.sum(axis=1), 1)


def test_of_two_values_the_second_is_scored_and_one_half_takes_the_nearer():
    near_m = outlier("M")
    for values, expected in ((("F", "M"), 1.0), (("M", "F"), 0.0)):
        game = attribute_game(outlier("F"), values)
        assert observed(ClosestDistanceAIA(), game, near_m).tolist() == [expected]


def test_equal_or_no_distances_score_all_values_alike():
    attack = ClosestDistanceAIA()
    both = outlier("F") + outlier("M") + outlier("U")
    empty = both.empty()
    for values in (("F", "M"), ("F", "M", "U")):
        game = attribute_game(outlier(), values)
        for data in (both, empty):
            assert np.allclose(observed(attack, game, data), 1 / len(values))


def test_infinite_distances_of_a_metric_leave_scores_defined():
    class OnlySameSex(DistanceMetric):
        def __call__(self, x, y):
            apart = x.data[["sex"]].to_numpy() != y.data["sex"].to_numpy()
            return np.where(apart, np.inf, 1.0)

    game = attribute_game(outlier(), ("F", "M"))
    assert observed(ClosestDistanceAIA(OnlySameSex()), game, outlier("M")).tolist() == [1.0]


def test_the_recorded_value_of_the_target_is_never_used():
    data = mixed_table(20, 4)
    for attribute, values in (("sex", ("F", "M")), ("visits", (1, 2, 3))):
        scores = [
            observed(
                ClosestDistanceAIA(LpDistance(2)),
                attribute_game(record, values, attribute=attribute),
                data,
            )
            for record in (outlier("F"), outlier("M"), outlier(None))
        ]
        if attribute == "sex":
            assert np.array_equal(scores[0], scores[1])
            assert np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("values", [("F", "M"), ("M", "F"), ("U", "F", "M")])
def test_values_are_read_off_a_sample_at_the_rate_of_sampling(values):
    game = attribute_game(outlier(), values, size=30, released=15)
    attack = ClosestDistanceAIA(LpDistance(2, weights=np.ones(14)))
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=300)
    expected = 0.5 + 0.5 / len(values)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 300, expected)


def test_values_cannot_be_read_off_a_release_that_ignores_the_data():
    game = attribute_game(mixed_table(1, 9), ("F", "M"), Deaf())
    attack = ClosestDistanceAIA()
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=200)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, 0.5)


def test_free_text_attributes_can_be_inferred_by_hamming():
    schema = [
        {"name": "word", "type": "countable", "representation": "string"},
        {"name": "n", "type": "countable", "representation": "integer"},
    ]
    description = DataDescription(schema)
    data = TabularDataset([["x", 1], ["y", 2], ["z", 3]], description)
    target = TabularDataset([["y", 2]], description)
    briefing = attribute_briefing(target, "word", ("q", "y"))
    assert seen(ClosestDistanceAIA(), briefing, data).tolist() == [1.0]


# -- both --------------------------------------------------------------------------------------


def test_each_attack_refuses_the_other_goal_before_any_trial_is_played():
    with pytest.raises(IncompatibleAttackError, match="TargetedMIA"):
        ClosestDistanceMIA().train(attribute_game(outlier()), num_samples=10)
    with pytest.raises(IncompatibleAttackError, match="TargetedAIA"):
        ClosestDistanceAIA().train(membership_game(outlier()), num_samples=10)


def test_labels_name_distance_and_criterion_unless_given():
    assert ClosestDistanceMIA().label == "ClosestDistance(fitting, accuracy)"
    assert ClosestDistanceMIA(HammingDistance()).label == "ClosestDistance(Hamming, accuracy)"
    assert ClosestDistanceAIA(LpDistance(2), ("tp", 0.1)).label == "ClosestDistance(L_2, tpr=0.1)"
    assert str(ClosestDistanceAIA(label="mine")) == "mine"


def test_observations_are_shared_by_equal_distances_and_only_by_them():
    class Louder(ClosestDistanceMIA):
        def observe(self, release, briefing, *, rng):
            return 2 * super().observe(release, briefing, rng=rng)

    weights = np.arange(14.0)
    key = key_of(ClosestDistanceMIA(LpDistance(2, weights, mixed_table(5))))
    assert key == key_of(ClosestDistanceMIA(LpDistance(2, weights, mixed_table(5)), ("tp", 0.3)))
    different = [
        ClosestDistanceMIA(),
        ClosestDistanceAIA(LpDistance(2, weights, mixed_table(5))),
        Louder(LpDistance(2, weights, mixed_table(5))),
        ClosestDistanceMIA(LpDistance(1, weights, mixed_table(5))),
        ClosestDistanceMIA(LpDistance(2, weights + 1, mixed_table(5))),
        ClosestDistanceMIA(LpDistance(2, weights, mixed_table(6))),
        ClosestDistanceMIA(2 * LpDistance(2, weights, mixed_table(5))),
    ]
    assert len({key, *map(key_of, different)}) == 1 + len(different)


def test_what_a_distance_computes_on_the_way_does_not_change_what_it_is():
    attack = ClosestDistanceMIA(LpDistance(2, scale=mixed_table(5)))
    before = key_of(attack)
    observed(attack, membership_game(outlier()), mixed_table(9))
    assert attack.distance.scale.data.shape == (5, 9)
    assert key_of(attack) == before
    attack.distance.scale.add_records(outlier(), in_place=True)
    assert key_of(attack) != before


def test_every_parameter_and_method_of_a_metric_of_ones_own_counts():
    class Gap(DistanceMetric):
        def __init__(self, column, power):
            self.column, self._power = column, power

        def __call__(self, x, y):
            gaps = x.as_numeric[:, [self.column]] - y.as_numeric[:, self.column]
            return self.shaped(np.abs(gaps))

        def shaped(self, gaps):
            return gaps**self._power

    class Edited(Gap):
        def shaped(self, gaps):
            return gaps**self._power + 1

    keys = [key_of(ClosestDistanceMIA(d)) for d in (Gap(1, 2), Gap(1, 3), Gap(2, 2), Edited(1, 2))]
    assert len(set(keys)) == 4
    assert keys[0] == key_of(ClosestDistanceMIA(Gap(1, 2)))
    assert key_of(ClosestDistanceMIA(0.5 * Gap(1, 2) + Gap(1, 3))) not in keys


def test_a_metric_without_a_hash_still_works():
    class Unhashable(HammingDistance):
        __hash__ = None

    game = membership_game(outlier())
    attack = ClosestDistanceMIA(Unhashable())
    attack.train(game, num_samples=10)
    assert game.test(attack, num_samples=10).accuracy == 1


def test_many_targets_are_compared_in_blocks_without_changing_what_is_seen(monkeypatch):
    targets, data = mixed_table(7, 5), mixed_table(20, 6)
    cases = [
        (ClosestDistanceMIA(LpDistance(2)), membership_game(targets)),
        (LocalNeighbourhoodAttack(radius=7), membership_game(targets)),
        (ClosestDistanceAIA(), attribute_game(targets, ("U", "F", "M"))),
        (LocalNeighbourhoodAttack(radius=7), attribute_game(targets)),
        (ProbabilityEstimationAttack(KernelDensity(), "accuracy"), membership_game(targets)),
    ]
    whole = [observed(attack, game, data) for attack, game in cases]
    monkeypatch.setattr("tapas.attacks.tables._distances.LARGEST_MATRIX", 50)
    for (attack, game), expected in zip(cases, whole, strict=True):
        assert np.array_equal(observed(attack, game, data), expected)


def test_attacks_and_briefings_travel_between_processes():
    game = attribute_game(mixed_table(2, 3), ("U", "F", "M"))
    data = mixed_table(10, 4)
    attack = ClosestDistanceAIA(LpDistance(2))
    attack.train(attribute_game(mixed_table(1, 3), ("U", "F", "M")), num_samples=10)
    briefing = game.briefing(all_targets=True)
    observer = attack.observer(briefing, no_samples)
    for dumps in (pickle.dumps, cloudpickle.dumps):
        content = dumps((observer, briefing))
        assert b"TargetedAIA" not in content
        twin, told = pickle.loads(content)  # noqa: S301
        there = twin(Release(data), told, rng=np.random.default_rng(0))
        assert np.array_equal(there, observed(attack, game, data))
        assert twin.key == observer.key


def test_earlier_import_paths_lead_to_the_same_classes():
    from tapas.attacks import closest_distance, distances

    assert closest_distance.ClosestDistanceAIA is ClosestDistanceAIA
    assert closest_distance.LpDistance is distances.LpDistance is LpDistance
