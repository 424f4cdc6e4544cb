import numpy as np
import pytest
from mixed_tables import (
    DESCRIPTION,
    Deaf,
    attribute_game,
    key_of,
    membership_game,
    mixed_table,
    observed,
    outlier,
)
from scipy.stats import binom

from tapas.attacks import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks.tables._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError


def within_binomial(successes: int, trials: int, rate: float) -> bool:
    low, high = binom.ppf([1e-4, 1 - 1e-4], trials, rate)
    return bool(low <= successes <= high)


@pytest.mark.parametrize(("distance", "radius"), [(HammingDistance(), 7), (LpDistance(2), 30.0)])
def test_membership_is_scored_by_the_share_of_records_in_the_ball(distance, radius):
    targets, data = mixed_table(4, 5, 0.1), mixed_table(40, 6, 0.1)
    seen = observed(LocalNeighbourhoodAttack(distance, radius), membership_game(targets), data)
    assert np.array_equal(seen, (distance(targets, data) <= radius).mean(axis=1))
    assert seen.any()


def naive_shares(distance, radius, target, attribute, values, data):
    """The same on tables that do not have the sensitive column at all."""
    others = [name for name in DESCRIPTION.columns if name != attribute]
    near = (distance(target.view(others), data.view(others)) <= radius)[0]
    inside = data.data[attribute][near]
    counts = np.array([(inside == value).sum() for value in values])
    return counts / len(inside) if counts.sum() else np.full(len(values), 1 / len(values))


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("sex", ("M", "F", "U")),
        ("ward", (3, 1, 0, 2)),
        ("risk", ("high", "low", "mid")),
        ("visits", (-3, 0, 3)),
    ],
)
@pytest.mark.parametrize("radius", [5, 6, 40])
def test_values_are_scored_by_their_share_in_a_ball_over_the_other_columns(
    attribute, values, radius
):
    targets, data = mixed_table(3, 5, 0.1), mixed_table(60, 6, 0.1)
    game = attribute_game(targets, values, attribute=attribute)
    for distance in (HammingDistance(), LpDistance(2)):
        seen = observed(LocalNeighbourhoodAttack(distance, radius), game, data)
        twins = [
            naive_shares(distance, radius, targets.take([row]), attribute, values, data)
            for row in range(3)
        ]
        assert np.allclose(seen, twins, atol=1e-12)


def test_a_radius_of_zero_finds_the_target_itself_whatever_its_value():
    data = outlier("M") + mixed_table(20, 2)
    for values, expected in ((("F", "M"), 1.0), (("M", "F"), 0.0)):
        game = attribute_game(outlier("F"), values)
        assert observed(LocalNeighbourhoodAttack(radius=0), game, data).tolist() == [expected]


def test_the_recorded_value_of_the_target_is_never_used():
    data = outlier("M") + mixed_table(20, 2)
    seen = [
        observed(LocalNeighbourhoodAttack(radius=radius), attribute_game(outlier(value)), data)
        for radius in (0, 1, 9)
        for value in ("F", "M", None)
    ]
    assert np.array_equal(seen[0::3], seen[1::3])
    assert np.array_equal(seen[0::3], seen[2::3])


def test_metrics_that_name_or_weigh_the_sensitive_column_still_work():
    data = outlier("M") + mixed_table(20, 2)
    weights = np.ones(DESCRIPTION.encoded_dim)
    weights[:3] = 100.0
    game = attribute_game(outlier("F"))
    for distance in (
        HammingDistance(columns=("sex", "cost")),
        LpDistance(2, weights=weights),
        LpDistance(2, scale=mixed_table(30)),
        0.5 * HammingDistance() + LpDistance(1),
    ):
        assert observed(LocalNeighbourhoodAttack(distance, 0), game, data).tolist() == [1.0]


def test_a_metric_of_ones_own_sees_no_masked_value():
    class Whole(DistanceMetric):
        def __call__(self, x, y):
            assert not x.data["visits"].isna().any()
            gaps = x.as_numeric[:, None] - y.as_numeric
            return np.sqrt((gaps**2).sum(axis=2))

    game = attribute_game(outlier(), (1, 2, 40), attribute="visits")
    attack = LocalNeighbourhoodAttack(Whole(), 0)
    assert observed(attack, game, outlier() + mixed_table(5)).tolist() == [[0, 0, 1]]


def test_balls_without_any_of_the_values_score_all_alike():
    game = attribute_game(outlier(), ("F", "M"))
    attack = LocalNeighbourhoodAttack(radius=0)
    for data in (mixed_table(5), outlier("U"), outlier(None), mixed_table(5).empty()):
        assert observed(attack, game, data).tolist() == [0.5]
    membership = membership_game(outlier())
    assert observed(attack, membership, mixed_table(5).empty()).tolist() == [0.0]
    assert observed(attack, membership, outlier()).tolist() == [1.0]


def test_values_outside_the_question_count_in_the_size_of_the_ball():
    data = outlier("M") + outlier("U") + outlier("U") + outlier(None)
    game = attribute_game(outlier(), ("F", "M"))
    assert observed(LocalNeighbourhoodAttack(radius=0), game, data).tolist() == [0.25]


@pytest.mark.parametrize("values", [("F", "M"), ("M", "F"), ("U", "F", "M")])
def test_values_are_read_off_a_sample_at_the_rate_of_sampling(values):
    game = attribute_game(outlier(), values, size=30, released=15)
    attack = LocalNeighbourhoodAttack(radius=2)
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=300)
    expected = 0.5 + 0.5 / len(values)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 300, expected)


def test_members_are_found_in_a_sample_at_the_rate_of_sampling():
    game = membership_game(outlier(), size=30, released=15)
    attack = LocalNeighbourhoodAttack(radius=2)
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=300)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 300, 0.75)


@pytest.mark.parametrize("make", [membership_game, attribute_game])
def test_nothing_is_found_in_a_release_that_ignores_the_data(make):
    game = make(mixed_table(1, 9), generator=Deaf())
    attack = LocalNeighbourhoodAttack(radius=6)
    attack.train(game, num_samples=60)
    summary = game.test(attack, num_samples=200)
    assert within_binomial(int((summary.labels == summary.predictions).sum()), 200, 0.5)


def test_labels_defaults_and_refusals():
    attack = LocalNeighbourhoodAttack()
    assert attack.label == "LocalNeighbourhood(Hamming, 1, accuracy)"
    assert LocalNeighbourhoodAttack(LpDistance(2), 0.5).label == (
        "LocalNeighbourhood(L_2, 0.5, accuracy)"
    )
    assert LocalNeighbourhoodAttack(label="mine").label == "mine"
    assert key_of(attack) == key_of(LocalNeighbourhoodAttack(criterion=("tp", 1)))
    assert key_of(attack) != key_of(LocalNeighbourhoodAttack(radius=2))
    assert key_of(attack) != key_of(LocalNeighbourhoodAttack(LpDistance(1)))
    for radius in (-1, "1", None, float("nan"), True):
        with pytest.raises(ConfigError, match="radius"):
            LocalNeighbourhoodAttack(radius=radius)
    other = TabularDataset(mixed_table(3).data[["sex"]], DESCRIPTION.view(["sex"]))
    with pytest.raises(AssertionError):
        observed(attack, membership_game(outlier()), other)
    assert issubclass(IncompatibleAttackError, AssertionError)
