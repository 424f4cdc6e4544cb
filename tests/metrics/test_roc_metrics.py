"""ROC counts, area and operating points against naive twins and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tapas import metrics
from tapas.errors import StatisticsError, TapasWarning


@st.composite
def outcomes(draw, both=True):
    """Labels and scores with many ties."""
    size = draw(st.integers(2, 40))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    if both:
        labels[0], labels[-1] = 0, 1
    scores = draw(st.lists(st.integers(-4, 4), min_size=size, max_size=size))
    return labels, np.array(scores, dtype=float)


@given(outcomes(both=False))
def test_counts_equal_counting_at_each_threshold(case):
    labels, scores = case
    curve = metrics.roc_curve(labels, scores)
    np.testing.assert_array_equal(curve.thresholds, np.unique(scores)[::-1])
    guesses = scores >= curve.thresholds[:, None]
    np.testing.assert_array_equal(curve.tp, (guesses & (labels == 1)).sum(axis=1))
    np.testing.assert_array_equal(curve.fp, (guesses & (labels == 0)).sum(axis=1))


@given(outcomes())
def test_auc_equals_the_share_of_pairs_won_with_ties_half(case):
    labels, scores = case
    pairs = scores[labels == 1][:, None] - scores[labels == 0]
    assert metrics.auc(labels, scores) == pytest.approx(np.mean((np.sign(pairs) + 1) / 2))
    assert metrics.auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


@given(outcomes())
def test_auc_of_reversed_scores_is_the_complement(case):
    labels, scores = case
    assert metrics.auc(labels, -scores) == pytest.approx(1 - metrics.auc(labels, scores))


def test_auc_of_one_class_is_a_half():
    assert metrics.auc([1, 1, 1], [0.1, 0.2, 0.3]) == 0.5
    assert metrics.auc([], []) == 0.5


def test_nan_scores_give_nan_with_a_warning_and_no_curve():
    with pytest.warns(TapasWarning, match="1 scores are NaN"):
        assert np.isnan(metrics.auc([0, 1], [np.nan, 1.0]))
    with pytest.raises(StatisticsError, match="no place on a ROC curve"):
        metrics.roc_curve([0, 1], [np.nan, 1.0])


@given(outcomes(), st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]))
def test_operating_point_is_the_best_threshold_below_the_rate(case, target):
    labels, scores = case
    thresholds = np.append(np.unique(scores), np.inf)
    guesses = scores >= thresholds[:, None]
    fpr = guesses[:, labels == 0].mean(axis=1)
    tpr = guesses[:, labels == 1].mean(axis=1)
    best = tpr[fpr <= target].max()
    point = metrics.tpr_at_fpr(labels, scores, target)
    assert point.tpr == pytest.approx(best)
    assert point.fpr == pytest.approx(fpr[tpr == best].min())
    assert point.fpr <= target
    assert np.mean(scores[labels == 1] >= point.threshold) == pytest.approx(point.tpr)


def test_operating_point_is_not_interpolated():
    labels, scores = np.array([0, 0, 1, 1]), np.array([2.0, 1.0, 2.0, 0.0])
    assert metrics.tpr_at_fpr(labels, scores, 0.4) == (0.0, 0.0, np.inf)
    assert metrics.tpr_at_fpr(labels, scores, 0.5) == (0.5, 0.5, 2.0)


def test_operating_point_needs_both_classes():
    with pytest.warns(TapasWarning, match="both classes"):
        assert np.isnan(metrics.tpr_at_fpr([1, 1], [0.0, 1.0], 0.1).tpr)


def test_macro_auc_averages_the_values_that_occur():
    labels = np.array(["a", "b", "a", "b"])
    scores = np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0.1, 0.9, 0], [0.3, 0.7, 0]])
    expected = (
        metrics.auc(labels == "a", scores[:, 0]) + metrics.auc(labels == "b", scores[:, 1])
    ) / 2
    assert metrics.macro_auc(labels, scores, ["a", "b", "c"]) == pytest.approx(expected)
    assert metrics.macro_auc(["a", "a"], scores[:2], ["a", "b", "c"]) == 0.5
    with pytest.raises(StatisticsError, match="one column per value"):
        metrics.macro_auc(labels, scores, ["a", "b"])
