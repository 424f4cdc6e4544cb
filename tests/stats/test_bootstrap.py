"""Bootstrap by counts, against loops and known widths."""

import math

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import StatisticsError
from tapas.metrics import Outcomes
from tapas.stats import bootstrap, percentile_interval, resampled_counts


def accuracy(labels, predictions, *, weights):
    return Outcomes(labels, predictions).counted(weights).accuracy


def advantage(labels, predictions, *, weights):
    return Outcomes(labels, predictions).counted(weights).mia_advantage


def area(labels, scores, *, weights):
    return Outcomes(labels, labels, scores).counted(weights).auc


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    scores = np.round(labels + rng.normal(size=200), 1)
    return labels, scores, (scores > 0.5).astype(int)


def test_each_resample_draws_as_many_trials():
    blocks = list(resampled_counts(50_000, 7, rng=np.random.default_rng(0)))
    assert sum(len(block) for block in blocks) == 7
    assert all((block.sum(axis=1) == 50_000).all() for block in blocks)


def test_trials_of_a_group_are_drawn_together():
    groups = np.repeat([5, 9, 2], [2, 1, 3])
    (counts,) = resampled_counts(6, 40, rng=np.random.default_rng(0), groups=groups)
    for group in np.unique(groups):
        mine = counts[:, groups == group]
        assert (mine == mine[:, :1]).all()
    assert (counts[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_no_trials_cannot_be_resampled():
    with pytest.raises(StatisticsError, match="no trials"):
        list(resampled_counts(0, 3, rng=np.random.default_rng(0)))


def test_ends_are_order_statistics_and_may_be_infinite():
    replicates = np.append(np.arange(99.0), np.inf)
    found = percentile_interval(replicates, 50.0, 0.98)
    assert (found.low, found.high) == (0.0, np.inf)
    assert math.isnan(percentile_interval([np.nan], 0.0, 0.9).low)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_accuracy_interval_has_the_binomial_width(trials, method):
    labels, _, predictions = trials
    interval = bootstrap(accuracy, labels, predictions, method=method, seed=1)
    value = (labels == predictions).mean()
    spread = math.sqrt(value * (1 - value) / 200)
    assert interval.value == pytest.approx(value)
    assert interval.low == pytest.approx(value - 1.96 * spread, abs=0.02)
    assert interval.high == pytest.approx(value + 1.96 * spread, abs=0.02)


def test_bca_equals_its_definition_on_a_skewed_mean():
    data = np.random.default_rng(2).lognormal(size=60)

    def mean(values, *, weights):
        return weights @ values / weights.sum(axis=1)

    ours = bootstrap(
        mean, data, method="bca", num_resamples=3000, rng=np.random.default_rng(3), confidence=0.9
    )
    draws = np.concatenate(list(resampled_counts(60, 3000, rng=np.random.default_rng(3))))
    replicates = np.array([np.repeat(data, draw).mean() for draw in draws])
    left_out = np.array([np.delete(data, i).mean() for i in range(60)])
    bend = left_out.mean() - left_out
    acceleration = (bend**3).sum() / (6 * (bend**2).sum() ** 1.5)
    bias = reference.norm.ppf(np.mean(replicates < data.mean()))
    ends = []
    for level in (0.05, 0.95):
        z = bias + reference.norm.ppf(level)
        way = "lower" if level < 0.5 else "higher"
        share = reference.norm.cdf(bias + z / (1 - acceleration * z))
        ends.append(np.quantile(replicates, share, method=way))
    assert ours[:2] == pytest.approx(ends)
    assert ours.high - ours.value > ours.value - ours.low


def test_pairs_are_drawn_whole():
    labels = np.tile([0, 1], 100)
    right = np.random.default_rng(5).integers(0, 2, 100).repeat(2)
    predictions = np.where(right, labels, 1 - labels)
    groups = np.arange(100).repeat(2)
    single = bootstrap(accuracy, labels, predictions, seed=6)
    paired = bootstrap(accuracy, labels, predictions, groups=groups, seed=6)
    ratio = (paired.high - paired.low) / (single.high - single.low)
    assert ratio == pytest.approx(math.sqrt(2), rel=0.15)


def test_seed_repeats_and_generator_is_used(trials):
    labels, scores, _ = trials
    first = bootstrap(area, labels, scores, seed=7, num_resamples=50)
    assert first == bootstrap(area, labels, scores, seed=7, num_resamples=50)
    rng = np.random.default_rng(8)
    one = bootstrap(area, labels, scores, rng=rng, num_resamples=50)
    assert one != bootstrap(area, labels, scores, rng=rng, num_resamples=50)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_metric_without_spread_is_flagged(method):
    labels = np.tile([0, 1], 10)
    interval = bootstrap(accuracy, labels, labels, method=method, seed=0)
    assert interval == (1.0, 1.0, 1.0)
    assert interval.widened


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_single_group_says_nothing(method):
    labels = np.arange(10) % 2
    found = bootstrap(accuracy, labels, labels, method=method, groups=np.zeros(10), seed=0)
    assert found == (-np.inf, np.inf, 1.0)
    assert found.widened


def test_one_world_gives_nan_or_a_half_and_no_crash():
    labels = np.ones(10, dtype=int)
    assert math.isnan(bootstrap(advantage, labels, labels, seed=0).low)
    assert bootstrap(area, labels, np.arange(10.0), seed=0).value == 0.5


def test_unequal_lengths_are_refused():
    with pytest.raises(StatisticsError, match="length"):
        bootstrap(accuracy, np.ones(3), np.ones(4))
    with pytest.raises(StatisticsError, match="length"):
        bootstrap(accuracy, np.ones(3), np.ones(3), groups=[0, 1])
