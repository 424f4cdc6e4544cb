"""Metrics from counts against the plain metrics of the repeated trials."""

import warnings

import numpy as np
import pytest

from tapas import metrics
from tapas.errors import StatisticsError, TapasWarning
from tapas.results import AIAttackSummary, BinaryLabelInferenceAttackSummary


def outcomes(seed, size, ties):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    scores = rng.normal(size=size) + labels
    return labels, rng.integers(0, 2, size), np.round(scores) if ties else scores, rng


def plain_metrics(labels, guesses, scores):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TapasWarning)
        summary = BinaryLabelInferenceAttackSummary(labels, guesses, scores)
        return summary.get_metrics().iloc[0]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("with_scores", [False, True])
@pytest.mark.parametrize("size", [4, 30, 150])
def test_counts_give_the_metrics_of_the_repeated_trials(size, with_scores, ties):
    labels, guesses, scores, rng = outcomes(size, size, ties)
    scores = scores if with_scores else None
    (counts,) = metrics.resampled_counts(size, 12, rng=rng)
    found = metrics.counted_metrics(counts, labels, guesses, scores)
    assert tuple(found) == metrics.ALL_METRICS
    for replicate, times in enumerate(counts):
        repeated = [None if a is None else np.repeat(a, times) for a in (labels, guesses, scores)]
        expected = plain_metrics(*repeated)
        for name in metrics.ALL_METRICS:
            np.testing.assert_allclose(found[name][replicate], expected[name], err_msg=name)


def test_each_replicate_draws_as_many_trials():
    blocks = list(metrics.resampled_counts(50_000, 7, rng=np.random.default_rng(0)))
    assert sum(len(block) for block in blocks) == 7
    assert all((block.sum(axis=1) == 50_000).all() for block in blocks)


def test_trials_of_a_group_are_drawn_together():
    groups = np.repeat([5, 9, 2], [2, 1, 3])
    (counts,) = metrics.resampled_counts(6, 40, rng=np.random.default_rng(0), groups=groups)
    for group in np.unique(groups):
        mine = counts[:, groups == group]
        assert (mine == mine[:, :1]).all()
    assert (counts[:, [0, 2, 3]].sum(axis=1) == 3).all()


def test_opposite_pairs_have_no_spread_when_drawn_together():
    labels = np.tile([0, 1], 100)
    guesses = np.tile([0, 1], 100)
    guesses[:40] = 1 - guesses[:40]
    groups = np.arange(200) // 2
    rng = np.random.default_rng(1)
    found = metrics.resampled_metrics(labels, guesses, num_replicates=50, rng=rng, groups=groups)
    np.testing.assert_allclose(found["true_positive_rate"] + found["false_positive_rate"], 1)


def test_bootstrap_spread_is_that_of_the_binomial():
    labels = np.repeat([0, 1], 500)
    guesses = np.concatenate([np.arange(500) < 100, np.arange(500) < 400])
    rng = np.random.default_rng(2)
    found = metrics.resampled_metrics(labels, guesses, num_replicates=4000, rng=rng)
    assert np.std(found["accuracy"]) == pytest.approx(np.sqrt(0.8 * 0.2 / 1000), rel=0.06)


def test_the_same_seed_gives_the_same_replicates():
    labels, guesses, scores, _ = outcomes(3, 40, False)
    first, second = (
        metrics.resampled_metrics(
            labels, guesses, scores, num_replicates=9, rng=np.random.default_rng(4)
        )
        for _ in range(2)
    )
    for name in metrics.ALL_METRICS:
        np.testing.assert_array_equal(first[name], second[name])


def test_nan_scores_give_nan_replicates():
    found = metrics.resampled_metrics(
        [0, 1, 1], [0, 1, 0], [0.0, np.nan, 1.0], num_replicates=3, rng=np.random.default_rng(0)
    )
    assert np.isnan(found["auc"]).all()
    assert np.isfinite(found["accuracy"]).all()


def test_no_trials_cannot_be_resampled():
    with pytest.raises(StatisticsError, match="no trials"):
        metrics.resampled_metrics([], [], num_replicates=3, rng=np.random.default_rng(0))


def test_many_valued_counts_give_the_metrics_of_the_repeated_trials():
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 25)
    scores = rng.normal(size=(25, 3)) + np.eye(3)[labels]
    guesses = scores.argmax(axis=1)
    found = metrics.resampled_value_metrics(
        labels, guesses, scores, [0, 1, 2], num_replicates=15, rng=np.random.default_rng(6)
    )
    (counts,) = metrics.resampled_counts(25, 15, rng=np.random.default_rng(6))
    for replicate, times in enumerate(counts):
        again = AIAttackSummary(
            *(np.repeat(a, times, axis=0) for a in (labels, guesses, scores)),
            attribute_values=[0, 1, 2],
        )
        for name in ("accuracy", "balanced_accuracy", "macro_auc"):
            assert found[name][replicate] == pytest.approx(getattr(again, name)), name
