"""TPR at a fixed FPR."""

import math

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import StatisticsError
from tapas.stats import clopper_pearson, negatives_needed, tpr_at_fpr_interval


def test_point_is_the_lowest_threshold_that_keeps_the_rate():
    positive, negative = np.array([0.9, 0.8, 0.3]), np.arange(10) / 10
    point = tpr_at_fpr_interval(positive, negative, 0.2)
    assert point.fpr.value == 0.2
    assert point.tpr.value == pytest.approx(2 / 3)
    assert point.threshold == 0.8
    looser = tpr_at_fpr_interval(positive, negative, 0.29)
    assert looser.fpr.value == 0.2


def test_rounding_of_the_rate_does_not_lose_an_alarm():
    negative = np.arange(100.0)
    assert tpr_at_fpr_interval([200.0], negative, 0.07).fpr.value == pytest.approx(0.07)
    assert tpr_at_fpr_interval([200.0], negative, 0.29).fpr.value == pytest.approx(0.29)


def test_ties_are_not_split():
    point = tpr_at_fpr_interval(np.ones(5), np.ones(5), 0.5)
    assert (point.threshold, point.tpr.value, point.fpr.value) == (math.inf, 0.0, 0.0)
    assert tpr_at_fpr_interval(np.ones(5), np.ones(5), 1.0).tpr.value == 1.0


def test_given_threshold_has_clopper_pearson_on_both_rates():
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(1, 1, 50), rng.normal(0, 1, 80)
    point = tpr_at_fpr_interval(positive, negative, 0.1, threshold=1.2, confidence=0.9)
    tp, fp = int((positive >= 1.2).sum()), int((negative >= 1.2).sum())
    assert point.tpr[:2] == pytest.approx(clopper_pearson(tp, 50, 0.9))
    assert point.fpr[:2] == pytest.approx(clopper_pearson(fp, 80, 0.9))


def limits(sizes, fpr, seed, *, paired=False):
    rng = np.random.default_rng(seed)
    positive, negative = rng.normal(2, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    return tpr_at_fpr_interval(positive, negative, fpr, paired=paired).tpr


@pytest.mark.parametrize(("sizes", "fpr"), [((231, 231), 0.01), ((500, 500), 0.01)])
def test_the_rate_at_the_stated_fpr_is_covered(sizes, fpr):
    truth = reference.norm.sf(reference.norm.isf(fpr) - 2)
    found = [limits(sizes, fpr, seed) for seed in range(60)]
    assert sum(low <= truth <= high for low, high, _ in found) >= 56


def test_too_few_negatives_give_no_lower_end():
    assert negatives_needed(0.01) == 437
    assert limits((400, 436), 0.01, 0).low == 0
    assert limits((400, 437), 0.01, 0).low > 0
    assert negatives_needed(0.0) == math.inf
    assert negatives_needed(1.0) == 1


def test_the_limits_are_those_of_two_order_statistics():
    positive, negative = np.arange(1000.0) + 0.5, np.arange(1000.0)
    low, high, _ = tpr_at_fpr_interval(positive, negative, 0.1).tpr
    tail = 0.05 / 4
    below = max(k for k in range(200) if reference.binom.cdf(k, 1000, 0.1) <= tail)
    above = min(k for k in range(200) if reference.binom.sf(k - 1, 1000, 0.1) <= tail)
    assert low == pytest.approx(clopper_pearson(below + 1, 1000, 1 - tail, "lower"))
    assert high == pytest.approx(clopper_pearson(above, 1000, 1 - tail, "upper"))


def test_decisions_have_as_narrow_an_interval_as_scores():
    """The lower of two scores is given to too many non-members to be a threshold."""
    positive, negative = np.arange(50_000) < 2500, np.arange(50_000) < 100
    low, high, value = tpr_at_fpr_interval(positive, negative, 0.01).tpr
    assert value == 0.05
    assert 0.047 < low < 0.05 < high < 0.053
    none = tpr_at_fpr_interval(positive, np.arange(50_000) < 2000, 0.01).tpr
    assert (none.low, none.value) == (0, 0)
    assert none.high < 1e-3


def of_decisions(rng, size, rates):
    """Scores 0, 1 and 2; `rates` are the chances of the upper two, of members and of others."""
    return [np.searchsorted(np.cumsum(world), rng.random(size)) * 1.0 for world in rates]


def rate_within(fpr, rates):
    """The largest TPR of a threshold whose FPR is at most `fpr`."""
    reached = [np.append(0, np.cumsum(world[::-1])) for world in rates]
    return max(tpr for tpr, alarms in zip(*reached, strict=True) if alarms <= fpr + 1e-12)


TIED = [
    ([0.5, 0.3, 0.2], [0.9, 0.095, 0.005]),
    ([0.5, 0.3, 0.2], [0.9, 0.09, 0.01]),
    ([0.5, 0.3, 0.2], [0.9, 0.085, 0.015]),
    ([0.5, 0.3, 0.2], [0.992, 0.003, 0.005]),
]


def misses(rates, audits, paired):
    rng, truth, missed = np.random.default_rng(3), rate_within(0.01, rates), 0
    for _ in range(audits):
        found = tpr_at_fpr_interval(*of_decisions(rng, 800, rates), 0.01, paired=paired).tpr
        missed += not found.low <= truth <= found.high
    return missed / audits


@pytest.mark.parametrize("rates", TIED)
def test_equal_scores_are_covered_too(rates):
    assert misses(rates, 60, False) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 60)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("rates", TIED)
def test_equal_scores_are_covered_in_long_runs(rates, paired):
    assert misses(rates, 4000, paired) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)


def test_pairs_are_covered_whatever_their_dependence():
    for seed in range(5):
        single, pairs = limits((600, 600), 0.1, seed), limits((600, 600), 0.1, seed, paired=True)
        assert pairs.low < single.low < single.high < pairs.high


def test_intervals_surround_their_values_and_one_world_is_refused():
    rng = np.random.default_rng(1)
    point = tpr_at_fpr_interval(rng.normal(1, 1, 200), rng.normal(0, 1, 300), 0.01)
    for interval in (point.tpr, point.fpr):
        assert interval.low <= interval.value <= interval.high
    with pytest.raises(StatisticsError, match="both worlds"):
        tpr_at_fpr_interval([], [1.0], 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [1, 9])
def test_both_intervals_cover_their_rates(decimals):
    rng = np.random.default_rng(8)
    missed = np.zeros(2)
    step = 10.0**-decimals
    for _ in range(2000):
        positive = np.round(rng.normal(1, 1, 100), decimals)
        negative = np.round(rng.normal(0, 1, 100), decimals)
        point = tpr_at_fpr_interval(positive, negative, 0.1)
        barrier = negative[negative < point.threshold].max() + step / 2
        stated = np.round(reference.norm.isf(0.1), decimals) + step / 2
        if reference.norm.sf(stated - step) <= 0.1:
            stated -= step
        truth = reference.norm.sf(stated - 1), reference.norm.sf(barrier)
        for which, interval in enumerate((point.tpr, point.fpr)):
            missed[which] += not interval.low <= truth[which] <= interval.high
    assert np.all(missed / 2000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000))
