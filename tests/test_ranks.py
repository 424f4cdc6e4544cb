"""Ranks of many columns at once are those of each column by itself."""

import numpy as np
import pytest
from scipy import stats as reference

from tapas._ranks import midranks
from tapas.metrics import column_aucs
from tapas.stats import mean_auc_influences, rank_sum_p_values


def columns(*, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scores of 301 columns, of which one says nothing and one has an infinite score."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(41, 301))
    scores = np.round(2 * scores) if tied else scores
    scores[:, 0], scores[3, 1] = 1.0, -np.inf
    positive = rng.random(scores.shape) < 0.5
    positive[:, 2] = True
    return scores, positive


@pytest.mark.parametrize("tied", [False, True])
def test_ranks_are_those_of_scipy(tied: bool) -> None:
    scores, _ = columns(tied=tied)
    scores[5, 7] = np.nan
    np.testing.assert_array_equal(midranks(scores), reference.rankdata(scores, axis=0))


@pytest.mark.parametrize("tied", [False, True])
def test_rank_sum_tests_are_those_of_scipy(tied: bool) -> None:
    scores, positive = columns(tied=tied)
    found = rank_sum_p_values(scores, positive)
    assert found[0] == found[2] == 1.0
    for column in range(3, 40):
        mine, secret = scores[:, column], positive[:, column]
        test = reference.mannwhitneyu(
            mine[secret], mine[~secret], alternative="two-sided", method="asymptotic"
        )
        assert found[column] == pytest.approx(test.pvalue, rel=1e-12)


def test_trials_that_move_against_each_other_are_not_taken_for_independent() -> None:
    """Of a pair, one release holds somebody else who moves the score, and the other does not."""
    rng = np.random.default_rng(3)
    other = rng.normal(size=(40, 600))
    scores = np.stack([other, -other], axis=1).reshape(80, 600)
    first = rng.random((40, 600)) < 0.5
    positive = np.stack([first, ~first], axis=1).reshape(80, 600)
    groups = np.repeat(np.arange(40), 2)
    most = 30 + 3 * np.sqrt(600 * 0.05 * 0.95)
    assert (rank_sum_p_values(scores, positive) < 0.05).sum() > most
    assert (rank_sum_p_values(scores, positive, groups) < 0.05).sum() <= most
    told = np.where(positive, 3.0, 0.0) + 0.1 * scores
    assert (rank_sum_p_values(told, positive, groups) < 1e-6).all()


def test_the_error_of_a_mean_area_is_that_of_leaving_each_trial_out() -> None:
    rng = np.random.default_rng(4)
    scores, positive = rng.integers(0, 9, (30, 4)).astype(float), rng.random((30, 4)) < 0.4
    mean, parts, _ = mean_auc_influences(scores, positive, np.arange(30))
    assert mean == pytest.approx(column_aucs(scores, positive).mean())
    left = [
        column_aucs(np.delete(scores, out, 0), np.delete(positive, out, 0)).mean()
        for out in range(30)
    ]
    expected = 29 / 30 * np.sum((np.array(left) - np.mean(left)) ** 2)
    assert (parts**2).sum() == pytest.approx(expected)


def test_the_only_trial_of_a_class_has_an_error_of_its_own() -> None:
    """It is as far off as its column is from the others."""
    rng = np.random.default_rng(3)
    scores, positive = rng.normal(size=(40, 50)), np.zeros((40, 50), dtype=bool)
    positive[rng.integers(0, 40, 50), np.arange(50)] = True
    _, parts, _ = mean_auc_influences(scores, positive, np.arange(40))
    assert np.sqrt((parts**2).sum()) == pytest.approx(np.sqrt(1 / 12 / 50), rel=0.2)
    area, alone, degrees = mean_auc_influences(scores[:, :1], positive[:, :1], np.arange(40))
    assert 0 < area < 1
    assert degrees == 1
    assert np.sqrt((alone**2).sum()) > 0.95 * np.sqrt(area * (1 - area))
