"""Bootstrap by counts, against loops and known widths."""

import math

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import StatisticsError
from tapas.stats import (
    auc_interval,
    bootstrap,
    weighted_accuracy,
    weighted_advantage,
    weighted_auc,
)


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    scores = np.round(labels + rng.normal(size=200), 1)
    return labels, scores, (scores > 0.5).astype(int)


def test_weighted_metrics_equal_metrics_of_the_resampled_trials(trials):
    labels, scores, predictions = trials
    rng = np.random.default_rng(1)
    weights = rng.multinomial(200, np.full(200, 1 / 200), size=3).astype(float)
    for row, draw in enumerate(weights.astype(int)):
        y, s, p = (np.repeat(values, draw) for values in (labels, scores, predictions))
        tpr, fpr = p[y == 1].mean(), p[y == 0].mean()
        auc = auc_interval(s[y == 1], s[y == 0]).value
        one = weights[row : row + 1]
        assert weighted_accuracy(labels, predictions, weights=one)[0] == pytest.approx(
            (y == p).mean()
        )
        assert weighted_advantage(labels, predictions, weights=one)[0] == pytest.approx(tpr - fpr)
        assert weighted_auc(labels, scores, weights=one)[0] == pytest.approx(auc)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_accuracy_interval_has_the_binomial_width(trials, method):
    labels, _, predictions = trials
    interval = bootstrap(weighted_accuracy, labels, predictions, method=method, seed=1)
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
    draws = np.random.default_rng(3).multinomial(60, np.full(60, 1 / 60), size=3000)
    replicates = np.array([np.repeat(data, draw).mean() for draw in draws])
    left_out = np.array([np.delete(data, i).mean() for i in range(60)])
    bend = left_out.mean() - left_out
    acceleration = (bend**3).sum() / (6 * (bend**2).sum() ** 1.5)
    bias = reference.norm.ppf(np.mean(replicates < data.mean()))
    ends = []
    for level in (0.05, 0.95):
        z = bias + reference.norm.ppf(level)
        ends.append(np.quantile(replicates, reference.norm.cdf(bias + z / (1 - acceleration * z))))
    assert ours[:2] == pytest.approx(ends)
    assert ours.high - ours.value > ours.value - ours.low


def test_pairs_are_drawn_whole():
    labels = np.tile([0, 1], 100)
    right = np.random.default_rng(5).integers(0, 2, 100).repeat(2)
    predictions = np.where(right, labels, 1 - labels)
    groups = np.arange(100).repeat(2)
    single = bootstrap(weighted_accuracy, labels, predictions, seed=6)
    paired = bootstrap(weighted_accuracy, labels, predictions, groups=groups, seed=6)
    ratio = (paired.high - paired.low) / (single.high - single.low)
    assert ratio == pytest.approx(math.sqrt(2), rel=0.15)


def test_seed_repeats_and_generator_is_used(trials):
    labels, scores, _ = trials
    first = bootstrap(weighted_auc, labels, scores, seed=7, num_resamples=50)
    assert first == bootstrap(weighted_auc, labels, scores, seed=7, num_resamples=50)
    rng = np.random.default_rng(8)
    one = bootstrap(weighted_auc, labels, scores, rng=rng, num_resamples=50)
    assert one != bootstrap(weighted_auc, labels, scores, rng=rng, num_resamples=50)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_metric_without_spread_is_flagged(method):
    labels = np.tile([0, 1], 10)
    interval = bootstrap(weighted_accuracy, labels, labels, method=method, seed=0)
    assert interval == (1.0, 1.0, 1.0)
    assert interval.widened


def test_one_world_gives_nan_or_a_half_and_no_crash():
    labels = np.ones(10, dtype=int)
    assert math.isnan(bootstrap(weighted_advantage, labels, labels, seed=0).low)
    assert bootstrap(weighted_auc, labels, np.arange(10.0), seed=0).value == 0.5


def test_unequal_lengths_are_refused():
    with pytest.raises(StatisticsError, match="length"):
        bootstrap(weighted_accuracy, np.ones(3), np.ones(4))
    with pytest.raises(StatisticsError, match="length"):
        bootstrap(weighted_accuracy, np.ones(3), np.ones(3), groups=[0, 1])
