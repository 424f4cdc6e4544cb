"""Contingency tables against naive twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import chisquare

from tapas.generators._tables import (
    count_cells,
    draw,
    draw_given,
    estimated_rows,
    projected,
    shares,
)


def test_counting_equals_a_loop_over_the_rows():
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, size, 50) for size in (2, 3, 4)])
    naive = np.zeros((2, 3, 4), dtype=int)
    for row in cells.T:
        naive[tuple(row)] += 1
    assert np.array_equal(count_cells(cells, (2, 3, 4)), naive)
    assert count_cells(cells[:, :0], (2, 3, 4)).sum() == 0


@given(
    counts=st.lists(st.integers(-50, 200), min_size=1, max_size=12),
    total=st.floats(1, 500),
)
def test_projected_counts_are_non_negative_and_have_the_total(counts, total):
    result = projected(np.array(counts), total)
    assert result.min() >= 0
    assert result.sum() == pytest.approx(total)
    assert np.all(np.diff(result[np.argsort(counts)]) >= -1e-9)


def test_projected_counts_are_the_nearest():
    counts = np.array([-3.0, 4.0, 10.0, 1.0, 0.5])
    found = minimize(
        lambda x: ((x - counts) ** 2).sum(),
        np.full(5, 2.0),
        bounds=[(0, None)] * 5,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 10},
        tol=1e-12,
    )
    assert projected(counts, 10.0) == pytest.approx(found.x, abs=1e-4)


def test_counts_that_need_no_change_are_left():
    counts = np.array([[1, 2], [3, 4]])
    assert projected(counts, 10.0) == pytest.approx(counts)


def test_small_tables_weigh_more_in_the_number_of_rows():
    assert estimated_rows([np.full(1, 10), np.full(4, 5)]) == pytest.approx((10 + 20 / 4) / 1.25)
    assert estimated_rows([np.array([-5])]) == 1


def test_shares_of_nothing_are_uniform_or_as_told():
    counts = np.array([[0, -2], [1, 3]])
    assert shares(counts).tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert shares(counts, np.array([1.0, 0.0])).tolist() == [[1, 0], [0.25, 0.75]]


def test_drawing_follows_each_row_of_the_conditional():
    rng = np.random.default_rng(1)
    conditional = np.array([[0.2, 0.8, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    given_rows = rng.integers(0, 3, 9_000)
    drawn = draw_given(conditional, given_rows, rng)
    for row, wanted in enumerate(conditional):
        seen = np.bincount(drawn[given_rows == row], minlength=3)
        assert np.all(seen[wanted == 0] == 0)
        if (wanted > 0).sum() > 1:
            kept = wanted > 0
            assert chisquare(seen[kept], seen.sum() * wanted[kept]).pvalue > 1e-3
    assert draw(np.array([0.0, 1.0]), 5, rng).tolist() == [1] * 5
    assert draw(np.array([1.0]), 0, rng).shape == (0,)
