"""Metrics from counts against the plain metrics of the repeated trials."""

import warnings

import numpy as np
import pytest

from tapas.errors import StatisticsError, TapasWarning
from tapas.metrics import Outcomes
from tapas.results import MEASURES, AIAttackSummary, BinaryLabelInferenceAttackSummary
from tapas.stats import resampled_counts


def outcomes(seed, size, ties):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size)
    scores = rng.normal(size=size) + labels
    return labels, rng.integers(0, 2, size), np.round(scores) if ties else scores, rng


def compare(summary_of, found, counts, kind):
    rows = [m for m in MEASURES if kind in m.kinds and m.resampled is not None]
    assert len(rows) >= 3
    for replicate, times in enumerate(counts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TapasWarning)
            again = summary_of(times)
            for measure in rows:
                expected = measure.point(again)
                value = measure.resampled(found)[replicate]
                np.testing.assert_allclose(value, expected, err_msg=measure.name)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("with_scores", [False, True])
@pytest.mark.parametrize("size", [4, 30, 150])
def test_counts_give_the_metrics_of_the_repeated_trials(size, with_scores, ties):
    labels, guesses, scores, rng = outcomes(size, size, ties)
    scores = scores if with_scores else None
    (counts,) = resampled_counts(size, 12, rng=rng)

    def repeated(times):
        arrays = [None if a is None else np.repeat(a, times) for a in (labels, guesses, scores)]
        return BinaryLabelInferenceAttackSummary(*arrays)

    compare(repeated, Outcomes(labels, guesses, scores).counted(counts), counts, "binary")


@pytest.mark.parametrize("with_scores", [False, True])
def test_many_valued_counts_give_the_metrics_of_the_repeated_trials(with_scores):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 25)
    scores = rng.normal(size=(25, 3)) + np.eye(3)[labels]
    guesses = scores.argmax(axis=1)
    scores = scores if with_scores else None
    (counts,) = resampled_counts(25, 15, rng=np.random.default_rng(6))

    def repeated(times):
        arrays = [None if a is None else np.repeat(a, times, 0) for a in (labels, guesses, scores)]
        return AIAttackSummary(*arrays, attribute_values=[0, 1, 2])

    compare(
        repeated, Outcomes(labels, guesses, scores, [0, 1, 2]).counted(counts), counts, "values"
    )


def test_nan_scores_give_nan_where_scores_are_needed():
    found = Outcomes([0, 1, 1], [0, 1, 0], [0.0, np.nan, 1.0]).counted(np.ones((3, 3)))
    assert np.isnan(found.auc).all()
    assert np.isfinite(found.accuracy).all()


def test_rates_of_two_values_need_two_values():
    with pytest.raises(StatisticsError, match="0/1"):
        _ = Outcomes(["a", "b"], ["a", "b"]).counted(np.ones((1, 2))).tp
