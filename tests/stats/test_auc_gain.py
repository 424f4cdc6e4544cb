"""How much larger one area is than another: near 1, and where everybody is ranked rightly."""

import numpy as np
import pytest
from scipy.stats import norm

from tapas.stats import auc_gain_interval


def drawn(rng, size, shifts, related):
    common = rng.normal(size=(2, size))
    other = related * common[0] + np.sqrt(1 - related**2) * common[1]
    return common[0] + shifts[0], other + shifts[1]


@pytest.mark.parametrize("sizes", [(10, 10), (50, 50), (20, 200)])
@pytest.mark.parametrize("areas", [(0.5, 0.5), (0.9, 0.5), (0.97, 0.9), (0.99, 0.97)])
def test_a_gain_is_covered_near_one_too(areas, sizes):
    rng = np.random.default_rng(0)
    shifts, missed, games = np.sqrt(2) * norm.ppf(areas), 0, 300
    for _ in range(games):
        ones = drawn(rng, sizes[0], shifts, 0.9 if min(areas) > 0.5 else 0.0)
        zeros = drawn(rng, sizes[1], (0, 0), 0.9 if min(areas) > 0.5 else 0.0)
        found = auc_gain_interval(ones, zeros)
        missed += not found.low <= areas[0] - areas[1] <= found.high
    assert missed / games <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / games)


@pytest.mark.parametrize("inputs", [np.zeros(10), np.arange(10.0)])
def test_a_gain_keeps_a_width_where_everybody_is_ranked_rightly(inputs):
    perfect = np.arange(10.0)
    found = auc_gain_interval((perfect[5:], inputs[5:]), (perfect[:5], inputs[:5]))
    assert found.low < found.value < found.high or found.high == 1
    assert found.high - found.low > 0.2


def test_where_many_are_on_the_wrong_side_it_is_delongs():
    rng = np.random.default_rng(2)
    ones, zeros = (drawn(rng, 100, (shift, shift / 2), 0.5) for shift in (1, 0))
    above = [[np.mean((zeros[k] < one) + (zeros[k] == one) / 2) for one in ones[k]] for k in (0, 1)]
    below = [[np.mean((ones[k] > one) + (ones[k] == one) / 2) for one in zeros[k]] for k in (0, 1)]
    spread = sum(np.var(np.subtract(*side), ddof=1) / 100 for side in (above, below))
    found = auc_gain_interval(ones, zeros)
    assert found.high - found.value == pytest.approx(norm.ppf(0.975) * np.sqrt(spread))
