"""Clopper-Pearson, and limits of an advantage."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import ConfigError, StatisticsError
from tapas.stats import advantage_interval, clopper_pearson


def test_clopper_pearson_equals_binomtest_one_count_at_a_time():
    n = 37
    low, high = clopper_pearson(np.arange(n + 1), n, 0.9)
    for k in range(n + 1):
        twin = reference.binomtest(k, n).proportion_ci(0.9, method="exact")
        assert low[k] == pytest.approx(twin.low, abs=1e-12)
        assert high[k] == pytest.approx(twin.high, abs=1e-12)


def test_one_sided_limits_spend_all_of_alpha_on_their_side():
    assert clopper_pearson(0, 100, 0.95, "upper") == pytest.approx(1 - 0.05 ** (1 / 100))
    assert clopper_pearson(100, 100, 0.95, "lower") == pytest.approx(0.05 ** (1 / 100))


def test_limits_without_trials_are_the_whole_interval():
    assert clopper_pearson(0, 0, 0.95) == (0.0, 1.0)


def test_scalars_give_floats_and_arrays_give_arrays():
    assert isinstance(clopper_pearson(3, 10, 0.95, "lower"), float)
    assert clopper_pearson([3, 4], 10, 0.95, "lower").shape == (2,)


@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5])
def test_clopper_pearson_covers_at_least_its_level_exactly(rate):
    n = 60
    low, high = clopper_pearson(np.arange(n + 1), n, 0.9)
    mass = reference.binom.pmf(np.arange(n + 1), n, rate)
    assert mass[(low <= rate) & (rate <= high)].sum() >= 0.9


@pytest.mark.parametrize(("k", "n"), [(5, 4), (-1, 4), (0.5, 4), (math.nan, 4)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(StatisticsError):
        clopper_pearson(k, n, 0.95)


def test_unknown_side_and_level_are_refused():
    with pytest.raises(ConfigError, match="side"):
        clopper_pearson(1, 2, 0.95, "both")
    with pytest.raises(ConfigError, match="confidence"):
        clopper_pearson(1, 2, 95)


@pytest.mark.parametrize("confidence", [0.95, 1 - 0.05 / 2000])
@pytest.mark.parametrize("sizes", [(5, 5), (10, 10), (4, 30)])
def test_an_advantage_is_covered_whatever_the_rates(sizes, confidence):
    ends = np.array(
        [
            [advantage_interval(i, sizes[0], j, sizes[1], confidence=confidence)[:2] for j in cells]
            for cells in [range(sizes[1] + 1)]
            for i in range(sizes[0] + 1)
        ]
    )
    rates = [0.0, 0.02, 0.1, 0.27, 0.5, 0.73, 0.95, 1.0]
    for first, second in itertools.product(rates, rates):
        outside = (ends[..., 0] > first - second + 1e-12) | (ends[..., 1] < first - second - 1e-12)
        chances = [
            reference.binom.pmf(np.arange(n + 1), n, p)
            for n, p in zip(sizes, (first, second), strict=True)
        ]
        assert chances[0] @ outside @ chances[1] <= 1 - confidence


def test_an_advantage_is_hardly_wider_than_newcombes():
    # Newcombe (1998), table II, contrast (a): 56/70 against 48/80, .0524 to .3339.
    interval = advantage_interval(56, 70, 48, 80, confidence=0.95)
    assert interval.value == pytest.approx(0.2)
    assert 0.02 < interval.low < 0.0524
    assert 0.3339 < interval.high < 0.37


def test_the_advantage_of_a_perfect_attack_keeps_a_width():
    low, high, value = advantage_interval(10, 10, 0, 10)
    assert (high, value) == (1.0, 1.0)
    assert 0.4 < low < 0.7


def test_advantage_without_one_world_says_nothing():
    interval = advantage_interval(0, 0, 3, 10)
    assert (interval.low, interval.high, interval.widened) == (-1.0, 1.0, True)
    assert math.isnan(interval.value)
