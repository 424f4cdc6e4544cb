"""Effective epsilon against a loop over thresholds, and its defined edge cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapas import metrics
from tapas.errors import TapasWarning


def naive(labels, scores):
    size = len(scores)
    cut = max(1, min(10, size // 10))
    best = -math.inf  # below 0 an attack shows nothing
    for threshold in np.sort(scores)[cut : size - cut]:
        tpr = np.mean(scores[labels == 1] >= threshold)
        fpr = np.mean(scores[labels == 0] >= threshold)
        for above, below in ((tpr, fpr), (1 - fpr, 1 - tpr)):
            if above > 0:
                best = max(best, math.inf if below == 0 else math.log(above / below))
    return max(best, 0.0)


@given(st.integers(0, 10_000), st.integers(3, 150), st.sampled_from([1, 20]), st.floats(-1, 2))
def test_it_equals_a_loop_over_thresholds(seed, size, grain, shift):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    labels[:2] = 0, 1
    scores = np.round(rng.normal(size=size) + shift * labels, 0 if grain == 1 else 6)
    assert metrics.effective_epsilon(labels, scores) == pytest.approx(naive(labels, scores))


def test_randomized_response_shows_its_epsilon():
    labels = np.repeat([1, 0], 1000)
    says_yes = np.concatenate([np.arange(1000) < 750, np.arange(1000) < 250])
    assert metrics.effective_epsilon(labels, says_yes) == pytest.approx(math.log(3))
    assert metrics.effective_epsilon_from_rates(0.75, 0.25) == pytest.approx(math.log(3))


def test_it_is_infinite_for_a_perfect_attack():
    labels = np.repeat([0, 1], 50)
    assert metrics.effective_epsilon(labels, np.arange(100)) == math.inf
    assert metrics.effective_epsilon_from_rates(0.5, 0.0) == math.inf
    assert metrics.effective_epsilon_from_rates(1.0, 0.5) == math.inf


def test_rates_that_say_nothing_give_zero():
    assert metrics.effective_epsilon_from_rates(0.0, 0.0) == 0
    assert metrics.effective_epsilon_from_rates(1.0, 1.0) == 0
    assert metrics.effective_epsilon([0, 1, 0, 1], [3.0, 3.0, 3.0, 3.0]) == 0


def test_extreme_scores_are_not_used_as_thresholds():
    labels = np.tile([0, 1], 100)
    scores = np.zeros(200)
    scores[1:20:2] = 5.0  # ten positives above everything else
    assert metrics.effective_epsilon(labels, scores) == 0
    scores[21] = 5.0  # the eleventh is no longer dropped
    assert metrics.effective_epsilon(labels, scores) == math.inf


@pytest.mark.parametrize(
    ("labels", "scores"),
    [([1, 1, 1, 1], [1, 2, 3, 4]), ([0, 1], [0, 1]), ([], []), ([0, 1, 1], [np.nan, 1, 2])],
)
def test_it_is_nan_with_a_warning_where_it_is_not_defined(labels, scores):
    with pytest.warns(TapasWarning, match="NaN"):
        assert math.isnan(metrics.effective_epsilon(labels, scores))


def test_undefined_rates_give_nan_with_a_warning():
    with pytest.warns(TapasWarning, match="rate is NaN"):
        assert math.isnan(metrics.effective_epsilon_from_rates(math.nan, 0.5))
