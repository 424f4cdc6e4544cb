"""Rates against counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapas import metrics
from tapas.errors import StatisticsError, TapasWarning

LABELS = np.array([1, 1, 1, 0, 0])
GUESSES = np.array([1, 1, 0, 1, 0])


def test_rates_are_shares_of_the_right_trials():
    assert metrics.confusion_counts(LABELS, GUESSES) == (2, 1, 1, 1)
    assert metrics.accuracy(LABELS, GUESSES) == 3 / 5
    assert metrics.true_positive_rate(LABELS, GUESSES) == metrics.recall(LABELS, GUESSES) == 2 / 3
    assert metrics.false_positive_rate(LABELS, GUESSES) == 1 / 2
    assert metrics.precision(LABELS, GUESSES) == 2 / 3
    assert metrics.mia_advantage(LABELS, GUESSES) == pytest.approx(1 / 6)
    assert metrics.privacy_gain(LABELS, GUESSES) == pytest.approx(5 / 6)
    assert metrics.balanced_accuracy(LABELS, GUESSES) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_booleans_and_zero_one_agree():
    assert metrics.confusion_counts(LABELS.astype(bool), GUESSES) == (2, 1, 1, 1)


def test_accuracy_takes_any_labels():
    assert metrics.accuracy(["a", "b", "c"], ["a", "b", "a"]) == pytest.approx(2 / 3)
    assert metrics.balanced_accuracy(["a", "a", "b"], ["a", "b", "b"]) == 0.75


@pytest.mark.parametrize(
    ("metric", "labels", "guesses"),
    [
        (metrics.true_positive_rate, [0, 0], [0, 1]),
        (metrics.false_positive_rate, [1, 1], [0, 1]),
        (metrics.precision, [1, 0], [0, 0]),
        (metrics.accuracy, [], []),
        (metrics.balanced_accuracy, [], []),
    ],
)
def test_a_rate_without_trials_is_nan_with_a_warning(metric, labels, guesses):
    with pytest.warns(TapasWarning, match="NaN"):
        assert np.isnan(metric(labels, guesses))


def test_unequal_lengths_are_refused():
    with pytest.raises(StatisticsError, match="equal length"):
        metrics.accuracy([1, 0], [1])


def test_labels_that_are_not_binary_are_refused_with_a_remedy():
    with pytest.raises(StatisticsError, match="positive value"):
        metrics.true_positive_rate(["yes", "no"], ["yes", "no"])


def test_inference_advantage_cancels_what_the_population_gives_away():
    raw = metrics.inference_advantage([1, 1, 1, 1], [1, 1, 0, 0])
    release = metrics.inference_advantage([1, 1, 1, 0], [1, 1, 0, 0])
    assert (raw, release) == (0.5, 0.25)
    assert metrics.inference_privacy_gain(raw, release) == 0.25


def test_value_rates_are_one_against_rest():
    rates = metrics.value_rates(["a", "a", "b", "c"], ["a", "b", "b", "a"])
    np.testing.assert_array_equal(rates.values, ["a", "b", "c"])
    np.testing.assert_array_equal(rates.num_trials, [2, 1, 1])
    np.testing.assert_allclose(rates.true_positive_rate, [0.5, 1, 0])
    np.testing.assert_allclose(rates.false_positive_rate, [0.5, 1 / 3, 0])
    np.testing.assert_allclose(rates.precision, [0.5, 0.5, np.nan])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_accuracy_is_the_weighted_mean_of_the_two_rates(outcomes):
    labels, guesses = np.array(outcomes).T
    counts = metrics.confusion_counts(labels, guesses)
    assert counts.tp + counts.fp + counts.tn + counts.fn == len(labels)
    assert metrics.accuracy(labels, guesses) == (counts.tp + counts.tn) / len(labels)
