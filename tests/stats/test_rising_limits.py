"""Limits of a probability that rises with the score hold where the probability is known."""

import numpy as np
import pytest
from scipy.special import expit

from tapas.stats import clopper_pearson, rising_limits


@pytest.mark.parametrize(("inside", "outside"), [(200, 200), (40, 360), (360, 40)])
@pytest.mark.parametrize("apart", [0.0, 1.0, 2.5])
def test_the_known_probability_is_within_all_limits_together(
    apart: float, inside: int, outside: int
) -> None:
    wrong, members = 0, np.arange(inside + outside) < inside
    for seed in range(100):
        rng = np.random.default_rng(seed)
        scores = rng.normal(apart * (members - 0.5), 1.0)
        low, high = rising_limits(scores, members, scores, prior=0.5)
        exact = expit(apart * scores)  # of two normal distributions, at even odds
        wrong += bool(((exact < low) | (exact > high)).any())
        assert (np.diff(low[np.argsort(scores)]) >= 0).all()
        assert (np.diff(high[np.argsort(scores)]) >= 0).all()
    assert wrong <= 11  # of 100 at 5 %, with probability 0.996


def test_equal_scores_count_whole() -> None:
    rng = np.random.default_rng(0)
    scores, wrong = np.repeat(np.arange(8), 50), 0
    for _ in range(100):
        members = rng.random(400) < scores / 7
        low, high = rising_limits(scores, members, np.arange(8))
        wrong += bool(((np.arange(8) / 7 < low) | (np.arange(8) / 7 > high)).any())
    assert wrong <= 11
    assert low[7] > 0.8
    assert high[0] < 0.2


def test_one_window_is_the_interval_of_clopper_and_pearson() -> None:
    members = np.arange(31) % 3 > 0
    low, high = rising_limits(np.zeros(31), members, [-1.0, 0.0, 1.0])
    hits, total, level = members.sum(), 31, 1 - 0.05 / (2 * 2)  # two windows, all that is tied
    assert low == pytest.approx([0, *[clopper_pearson(hits, total, level, "lower")] * 2])
    assert high == pytest.approx([*[clopper_pearson(hits, total, level, "upper")] * 2, 1])


def test_few_records_say_nothing() -> None:
    low, high = rising_limits(np.arange(10), np.arange(10) > 4, [0.0, 9.0])
    assert (low.tolist(), high.tolist()) == ([0, 0], [1, 1])


def test_more_records_say_more_of_the_highest_scores() -> None:
    found = []
    for number in (100, 1_000, 10_000):
        rng = np.random.default_rng(1)
        members = np.arange(number) % 2 == 0
        scores = rng.normal(3.0 * members, 1.0)
        found.append(rising_limits(scores, members, scores.max())[0])
    assert 0.7 < found[0] < found[1] < found[2]
    assert found[2] > 0.99
