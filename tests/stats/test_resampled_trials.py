"""Trials drawn again by counts, against loops and known widths."""

import math

import numpy as np
import pytest

from tapas.errors import StatisticsError
from tapas.metrics import Outcomes
from tapas.stats import percentile_interval, resampled_counts


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


def interval(statistic, *data, groups=None, resamples=2000):
    number = len(data[0])
    rng = np.random.default_rng(1)
    draws = resampled_counts(number, resamples, rng=rng, groups=groups)
    found = np.concatenate([statistic(*data, weights=weights) for weights in draws])
    (value,) = statistic(*data, weights=np.ones((1, number), dtype=np.int64))
    return percentile_interval(found, value, 0.95)


def test_accuracy_interval_has_the_binomial_width(trials):
    labels, _, predictions = trials
    found = interval(accuracy, labels, predictions)
    value = (labels == predictions).mean()
    spread = math.sqrt(value * (1 - value) / 200)
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(value - 1.96 * spread, abs=0.02)
    assert found.high == pytest.approx(value + 1.96 * spread, abs=0.02)


def test_pairs_are_drawn_whole():
    labels = np.tile([0, 1], 100)
    right = np.random.default_rng(5).integers(0, 2, 100).repeat(2)
    predictions = np.where(right, labels, 1 - labels)
    single = interval(accuracy, labels, predictions)
    paired = interval(accuracy, labels, predictions, groups=np.arange(100).repeat(2))
    ratio = (paired.high - paired.low) / (single.high - single.low)
    assert ratio == pytest.approx(math.sqrt(2), rel=0.15)


def test_metric_without_spread_is_flagged():
    labels = np.tile([0, 1], 10)
    found = interval(accuracy, labels, labels)
    assert found == (1.0, 1.0, 1.0)
    assert found.widened


def test_one_world_gives_nan_or_a_half_and_no_crash():
    labels = np.ones(10, dtype=int)
    assert math.isnan(interval(advantage, labels, labels).low)
    assert interval(area, labels, np.arange(10.0)).value == 0.5
