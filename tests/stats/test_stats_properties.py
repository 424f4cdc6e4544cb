"""Properties that hold for any counts and any scores."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tapas.stats import (
    SequentialEpsilon,
    auc_interval,
    clopper_pearson,
    epsilon_lower_bound,
    max_epsilon_lower_bound,
    one_run_epsilon,
    tpr_at_fpr_interval,
)


@st.composite
def outcomes(draw, most=60):
    num_positive, num_negative = draw(st.integers(1, most)), draw(st.integers(1, most))
    tp, fp = draw(st.integers(0, num_positive)), draw(st.integers(0, num_negative))
    return tp, num_positive, fp, num_negative


deltas = st.sampled_from([0.0, 1e-5, 0.05])
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


@settings(deadline=None)
@given(outcomes(), deltas, st.sampled_from([0.8, 0.95, 0.99]))
def test_bound_lies_between_zero_and_its_ceiling(counts, delta, confidence):
    bound = epsilon_lower_bound(*counts, delta=delta, confidence=confidence)
    assert 0 <= bound.value <= bound.ceiling


@settings(deadline=None)
@given(outcomes(), deltas)
def test_bound_grows_with_hits_and_falls_with_alarms(counts, delta):
    _, num_positive, _, num_negative = counts
    tp, fp = np.meshgrid(np.arange(num_positive + 1), np.arange(num_negative + 1), indexing="ij")
    value = epsilon_lower_bound(tp, num_positive, fp, num_negative, delta=delta).value
    assert np.all(np.diff(value, axis=0) >= -1e-12)
    assert np.all(np.diff(value, axis=1) <= 1e-12)


@settings(deadline=None)
@given(outcomes(), deltas)
def test_bound_is_the_same_when_worlds_and_event_are_swapped(counts, delta):
    tp, num_positive, fp, num_negative = counts
    swapped = (num_negative - fp, num_negative, num_positive - tp, num_positive)
    one, two = (epsilon_lower_bound(*c, delta=delta) for c in (counts, swapped))
    assert one.value == pytest.approx(two.value)
    assert one.ceiling == pytest.approx(two.ceiling)


@settings(max_examples=15, deadline=None)
@given(outcomes(most=25), deltas)
@example((12, 21, 4, 23), 0.05)
def test_buehler_lies_between_clopper_pearson_and_its_ceiling_and_is_symmetric(counts, delta):
    tp, num_positive, fp, num_negative = counts
    swapped = (num_negative - fp, num_negative, num_positive - tp, num_positive)
    bound = epsilon_lower_bound(*counts, delta=delta, method="buehler")
    assert epsilon_lower_bound(*counts, delta=delta).value - 1e-6 <= bound.value
    assert bound.value <= bound.ceiling + 1e-6
    mirrored = epsilon_lower_bound(*swapped, delta=delta, method="buehler")
    assert bound.value == pytest.approx(mirrored.value, abs=1e-3)


@settings(deadline=None)
@given(outcomes(), st.floats(0.5, 0.98))
def test_bound_falls_as_confidence_and_delta_rise(counts, confidence):
    base = epsilon_lower_bound(*counts, confidence=confidence).value
    assert epsilon_lower_bound(*counts, confidence=confidence + 0.01).value <= base
    assert epsilon_lower_bound(*counts, confidence=confidence, delta=0.01).value <= base


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(0, 50))
def test_limits_surround_the_rate_and_mirror_each_other(k, more):
    n = k + more
    low, high = clopper_pearson(k, n)
    assert 0 <= low <= high <= 1
    if n:
        assert low <= k / n <= high
    mirrored_low, mirrored_high = clopper_pearson(more, n)
    assert (1 - high, 1 - low) == pytest.approx((mirrored_low, mirrored_high), abs=1e-12)


@settings(deadline=None)
@given(st.integers(1, 60), st.data())
def test_one_run_bound_grows_with_right_guesses(num_guesses, data):
    right = data.draw(st.integers(0, num_guesses - 1))
    less, more = (one_run_epsilon(80, num_guesses, v, delta=1e-4) for v in (right, right + 1))
    assert 0 <= less.value <= more.value <= more.ceiling


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), max_size=60))
def test_sequential_bound_never_falls_as_trials_come_in(correct):
    bound = SequentialEpsilon().update(correct).bound
    assert 0 <= bound.value <= bound.ceiling + 1e-9
    assert SequentialEpsilon().update(correct[:-1]).bound.value <= bound.value + 1e-9


@settings(deadline=None)
@given(scores, scores)
def test_auc_interval_is_defined_for_any_scores_and_mirrors(positive, negative):
    interval = auc_interval(positive, negative)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.high > interval.low
    mirrored = auc_interval(negative, positive)
    assert mirrored.low == pytest.approx(1 - interval.high, abs=1e-9)


@settings(deadline=None)
@given(scores, scores, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_scores_count_only_by_their_order(positive, negative, fpr):
    positive, negative = np.array(positive), np.array(negative)
    for statistic in (max_epsilon_lower_bound, auc_interval):
        assert statistic(positive, negative) == statistic(np.exp(positive), np.exp(negative))
    point = tpr_at_fpr_interval(positive, negative, fpr)
    assert point.fpr.value <= fpr
    assert point.tpr == tpr_at_fpr_interval(np.exp(positive), np.exp(negative), fpr).tpr
