"""DeLong by midranks against the definition."""

import math

import numpy as np
import pytest
from scipy import stats as reference
from scipy.optimize import brentq

from tapas.errors import StatisticsError
from tapas.stats import advantage_interval, auc_interval


def naive_delong(positive, negative, confidence):
    """DeLong from its definition: every pair of trials is compared."""
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    value = wins.mean()
    variance = wins.mean(axis=1).var(ddof=1) / len(positive)
    variance += wins.mean(axis=0).var(ddof=1) / len(negative)
    half = reference.norm.ppf((1 + confidence) / 2) * math.sqrt(variance) / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return tuple(1 / (1 + math.exp(-centre + sign * half)) for sign in (1, -1)), value


def newcombe_end(value, m, n, confidence, side):
    """The area that is z of its own standard errors (Hanley and McNeil's) away."""
    z = reference.norm.ppf((1 + confidence) / 2)

    def distance(area):
        shape = 1 + ((m + n) / 2 - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return (value - area) ** 2 - z * z * area * (1 - area) * shape / (m * n)

    return brentq(distance, side, value)


def end_of_a_share(positive, negative, confidence):
    """Clopper and Pearson's upper end for as many trials as would vary like the AUC."""
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    variance = wins.mean(axis=1).var(ddof=1) / len(positive)
    variance += wins.mean(axis=0).var(ddof=1) / len(negative)
    won, number = wins.mean(), wins.mean() * (1 - wins.mean()) / variance
    return reference.beta.ppf((1 + confidence) / 2, won * number + 1, number - won * number)


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_midranks_equal_all_pairs_with_and_without_ties(decimals):
    rng = np.random.default_rng(decimals)
    positive = np.round(rng.normal(0.7, 1, 61), decimals)
    negative = np.round(rng.normal(0, 1, 67), decimals)
    (low, high), value = naive_delong(positive, negative, 0.9)
    interval = auc_interval(positive, negative, confidence=0.9)
    assert interval.value == pytest.approx(value)
    assert interval.low == pytest.approx(min(low, newcombe_end(value, 61, 67, 0.9, 0)), abs=1e-3)
    share = end_of_a_share(positive, negative, 0.9)
    others = max(high, newcombe_end(value, 61, 67, 0.9, 1))
    assert interval.high == pytest.approx(max(share, others), abs=1e-3)
    assert interval.low <= low < high <= interval.high
    assert not interval.widened


@pytest.mark.parametrize("sign", [1, -1])
def test_perfect_and_hopeless_attacks_are_flagged_and_keep_a_width(sign):
    interval = auc_interval(sign * np.arange(1, 21), -sign * np.arange(1, 31))
    assert interval.widened
    assert interval.value == (1.0 if sign > 0 else 0.0)
    # Twenty disjoint pairs, all won: the exact limit is (alpha / 2) ** (1 / 20).
    width = 1 - 0.025 ** (1 / 20)
    assert interval.high - interval.low == pytest.approx(width)


def test_all_scores_tied_is_one_half_with_a_width():
    interval = auc_interval(np.zeros(10), np.zeros(10))
    assert interval.value == 0.5
    assert interval.widened
    assert interval.low < 0.3 < 0.7 < interval.high


def test_few_trials_and_one_world_stay_defined():
    assert auc_interval([], [1.0, 2.0]) == (0.0, 1.0, 0.5)
    assert auc_interval([], [1.0, 2.0]).widened
    single = auc_interval([1.0], [0.0, 2.0])
    assert single.widened
    assert 0 <= single.low <= single.value <= single.high <= 1


def test_yes_and_no_have_the_exact_limits_of_their_advantage():
    """For them the area is half of one more than the advantage: one number, one interval."""
    yes, others = np.arange(300) < 283, np.arange(300) < 249
    area = auc_interval(yes * 1.0, others * 1.0, confidence=0.9875)
    advantage = advantage_interval(283, 300, 249, 300, confidence=0.9875)
    np.testing.assert_allclose(area, [(1 + end) / 2 for end in advantage])
    assert area.low > 0.5
    paired = auc_interval(yes * 1.0, others * 1.0, confidence=0.9875, paired=True)
    assert paired != area
    sure = auc_interval(np.ones(60), np.zeros(80))
    assert sure.widened
    assert 0.9 < sure.low < sure.high == 1


@pytest.mark.parametrize(("area", "most"), [(0.5, 0.04), (0.97, 0.04)])
def test_few_trials_of_one_kind_are_not_taken_for_many(area, most):
    rng = np.random.default_rng(3)
    shift = math.sqrt(2) * reference.norm.ppf(area)
    missed = 0
    for _ in range(200):
        low, high, *_ = auc_interval(rng.normal(shift, 1, 5), rng.normal(0, 1, 500))
        missed += not low <= area <= high
    assert missed / 200 <= most


def drawn_near_one(shift, m, n, rng):
    """Scores whose AUC is known: members spread far, or answers of one bit."""
    if shift is None:
        return (rng.random(m) < 0.99).astype(float), (rng.random(n) > 0.99).astype(float), 0.99
    truth = reference.norm.cdf(shift / math.sqrt(10))
    return rng.normal(shift, 3, m), rng.normal(size=n), truth


@pytest.mark.parametrize(
    ("shift", "m", "n", "error"), [(None, 50, 50, 0.01), (8, 50, 500, 0.01), (6, 50, 500, 0.05)]
)
def test_neither_end_misses_an_area_near_one_more_often_than_its_half_of_the_error(
    shift, m, n, error
):
    rng, too_high, too_low, runs = np.random.default_rng(4), 0, 0, 3000
    for _ in range(runs):
        positive, negative, truth = drawn_near_one(shift, m, n, rng)
        low, high, *_ = auc_interval(positive, negative, confidence=1 - error)
        too_high += low > truth
        too_low += high < truth
    assert max(too_high, too_low) <= reference.binom.ppf(0.999, runs, error / 2)


def test_missing_scores_and_matrices_are_refused():
    with pytest.raises(StatisticsError, match="missing"):
        auc_interval([1.0, math.nan], [0.0])
    with pytest.raises(StatisticsError, match="one target at a time"):
        auc_interval(np.ones((2, 2)), [0.0])


@pytest.mark.slow
def test_delong_covers_a_known_auc():
    rng = np.random.default_rng(5)
    truth = reference.norm.cdf(1 / math.sqrt(2))
    hits = 0
    for _ in range(2000):
        low, high, *_ = auc_interval(rng.normal(1, 1, 80), rng.normal(0, 1, 120))
        hits += low <= truth <= high
    assert 0.93 <= hits / 2000 <= 0.97
