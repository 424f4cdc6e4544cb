import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapas.generators._discretise import Bins, decimals_of

NUMBERS = st.floats(-1e6, 1e6)
SPREAD_OUT = st.lists(NUMBERS, min_size=1, max_size=60).map(np.array)
NEXT_TO_EACH_OTHER = st.builds(
    lambda number, steps: number + np.array(steps) * np.spacing(number),
    NUMBERS,
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
)
VALUES = st.one_of(SPREAD_OUT, NEXT_TO_EACH_OTHER)


@given(values=VALUES, num_bins=st.integers(1, 12))
@example(values=np.array([1.5, np.nextafter(1.5, 9)]), num_bins=2)
@example(values=np.array([0.0, 5e-324]), num_bins=2)
@example(values=np.array([1.7e308, 1.75e308]), num_bins=2)
def test_a_number_lies_within_its_bin_and_so_does_what_is_drawn_from_it(values, num_bins):
    bins = Bins.from_data(values, num_bins)
    codes = bins.encode(values)
    assert 1 <= len(bins) <= max(num_bins, 1)
    assert set(codes) == set(range(len(bins)))
    for drawn in (values, bins.draw(codes, np.random.default_rng(0))):
        assert (bins.lows[codes] <= drawn).all()
        assert (drawn <= bins.highs[codes]).all()


def test_bins_are_about_equally_full():
    values = np.random.default_rng(0).exponential(size=1000)
    bins = Bins.from_data(values, 8)
    counts = np.bincount(bins.encode(values))
    assert len(bins) == 8
    assert counts.min() >= 124
    assert counts.max() <= 126


def test_a_frequent_number_has_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    values = np.append(np.zeros(600), rng.uniform(1, 2, 400))
    bins = Bins.from_data(values, 5)
    assert (bins.lows[0], bins.highs[0]) == (0, 0)
    assert len(bins) > 2


def test_few_distinct_numbers_are_bins():
    bins = Bins.from_data(np.array([3.0, 1, 3, np.nan, 7]), 3)
    assert bins.lows.tolist() == bins.highs.tolist() == [1, 3, 7]
    assert bins.encode(np.array([1, 7, np.nan, 100, -5])).tolist() == [0, 2, -1, 2, 0]
    assert np.array_equal(
        bins.draw(np.array([2, -1]), np.random.default_rng(0)), [7, np.nan], equal_nan=True
    )


def test_whole_numbers_are_drawn_uniformly_from_their_bin():
    bins = Bins(np.array([0.0, 3]), np.array([3.0, 10]), decimals=0)
    drawn = bins.draw(np.repeat([0, 1], 30_000), np.random.default_rng(0))
    shares = [np.bincount(part.astype(int), minlength=11) / 30_000 for part in np.split(drawn, 2)]
    assert np.allclose(shares[0], np.repeat([1 / 3, 0], [3, 8]), atol=0.02)
    assert np.allclose(shares[1], np.repeat([0, 1 / 8], [3, 8]), atol=0.02)


def test_values_on_an_edge_belong_to_the_upper_bin():
    bins = Bins(np.array([0.0, 1]), np.array([1.0, 2]))
    assert bins.encode(np.array([0, 0.99, 1, 2, 5])).tolist() == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("low", [1.5, -1.5, 0.0, 5e-324, 1e-323, 1e300])
def test_an_edge_and_the_number_next_to_it_lie_in_different_bins(low):
    edge, top = np.nextafter(low, 1e308), 1.5e308
    bins = Bins(np.array([low, edge]), np.array([edge, top]))
    assert bins.encode(np.array([low, edge, top])).tolist() == [0, 1, 1]


def test_no_numbers_make_no_bins():
    bins = Bins.from_data(np.array([np.nan, np.nan]), 4)
    assert len(bins) == 0
    assert bins.encode(np.array([np.nan, 1])).tolist() == [-1, -1]


def test_decimals_are_those_that_the_values_need():
    assert decimals_of(np.array([1.0, np.nan, -3])) == 0
    assert decimals_of(np.array([1.25, 3])) == 2
    assert decimals_of(np.array([0.123456])) == 6
    assert decimals_of(np.array([1 / 3])) is None
