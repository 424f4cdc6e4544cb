"""Simultaneous bands and the bound over all thresholds."""

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import ConfigError
from tapas.stats import epsilon_lower_bound, max_epsilon_lower_bound, roc_band
from tapas.stats._bands import (
    _STEPS,
    _all_hold,
    _berk_jones_level,
    _checked_ranks,
    _rank_limits,
    band_table,
    roc_counts,
)


def test_one_point_band_is_an_ordinary_limit():
    assert band_table(1, 0.05, "berk-jones")[0] == pytest.approx(0.95)


def test_probability_of_the_walk_equals_the_two_point_integral():
    # P(U(1) <= a, U(2) <= b) = 2ab - a^2 for a <= b.
    a, b = 0.8, 0.95
    value = _all_hold(2, np.array([1, 2]), np.array([a, b]))
    assert value == pytest.approx(2 * a * b - a * a)


@pytest.mark.parametrize("n", [5, 60, 300])
def test_probability_of_the_walk_equals_simulation(n):
    rng = np.random.default_rng(n)
    ranks = _checked_ranks(n)
    limits = _rank_limits(ranks, n, 0.01)
    uniform = np.sort(rng.random((4000, n)), axis=1)[:, ranks - 1]
    simulated = np.mean((uniform <= limits).all(axis=1))
    assert _all_hold(n, ranks, limits) == pytest.approx(simulated, abs=0.025)


@pytest.mark.parametrize(("n", "tail"), [(1, 0.05), (2, 0.9), (37, 0.0125), (230, 0.001)])
def test_the_level_is_the_one_that_halving_finds(n, tail):
    ranks = _checked_ranks(n)
    low, high = tail / ranks.size, tail
    for _ in range(_STEPS):
        middle = float(np.sqrt(low * high))
        holds = _all_hold(n, ranks, _rank_limits(ranks, n, middle)) >= 1 - tail
        low, high = (middle, high) if holds else (low, middle)
    assert _berk_jones_level(n, tail) == low


@pytest.mark.parametrize("method", ["berk-jones", "dkw", "bonferroni"])
@pytest.mark.parametrize("n", [1, 7, 250])
def test_bands_are_monotone_limits_above_the_observed_share(method, n):
    table = band_table(n, 0.05, method)
    assert table.shape == (n + 1,)
    assert np.all(np.diff(table) >= 0)
    assert np.all(table >= np.arange(n + 1) / n)
    assert table[-1] == 1.0


def test_berk_jones_is_never_wider_than_bonferroni_where_all_ranks_are_held():
    assert np.all(band_table(150, 0.05, "berk-jones") <= band_table(150, 0.05, "bonferroni"))


def test_berk_jones_is_much_narrower_than_dkw_at_small_rates():
    assert band_table(1000, 0.025, "berk-jones")[0] < band_table(1000, 0.025, "dkw")[0] / 4


def test_counts_keep_ties_together():
    thresholds, tp, fp = roc_counts(np.array([3.0, 1.0, 1.0]), np.array([1.0, 0.0]))
    assert thresholds.tolist() == [3.0, 1.0, 0.0]
    assert (tp.tolist(), fp.tolist()) == ([1, 3, 3], [0, 1, 2])


def test_counts_equal_a_loop_over_thresholds():
    rng = np.random.default_rng(0)
    positive, negative = rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 20).astype(float)
    thresholds, tp, fp = roc_counts(positive, negative)
    assert thresholds.tolist() == sorted(set(positive) | set(negative), reverse=True)
    assert tp.tolist() == [int((positive >= t).sum()) for t in thresholds]
    assert fp.tolist() == [int((negative >= t).sum()) for t in thresholds]


def test_roc_band_surrounds_the_curve():
    rng = np.random.default_rng(1)
    band = roc_band(rng.normal(1, 1, 90), rng.normal(0, 1, 110), method="berk-jones")
    assert np.all((band.tpr_low <= band.tpr) & (band.tpr <= band.tpr_high))
    assert np.all((band.fpr_low <= band.fpr) & (band.fpr <= band.fpr_high))
    assert band.thresholds.size == 200
    assert (band.confidence, band.method) == (0.95, "berk-jones")


def test_bound_over_thresholds_is_below_the_uncorrected_maximum():
    rng = np.random.default_rng(2)
    positive, negative = rng.normal(1.5, 1, 300), rng.normal(0, 1, 300)
    _, tp, fp = roc_counts(positive, negative)
    uncorrected = epsilon_lower_bound(tp, 300, fp, 300).value.max()
    for band in ("berk-jones", "dkw", "bonferroni"):
        bound = max_epsilon_lower_bound(positive, negative, band=band)
        assert 0 < bound.value < uncorrected
        assert bound.value < bound.ceiling


def test_perfect_separation_reaches_the_ceiling():
    bound = max_epsilon_lower_bound(np.ones(100), np.zeros(100))
    assert bound.value == bound.ceiling > 2


def test_empty_worlds_and_ties_certify_nothing():
    assert max_epsilon_lower_bound([], [1.0]).value == 0.0
    assert max_epsilon_lower_bound([], []).value == 0.0
    assert max_epsilon_lower_bound(np.ones(50), np.ones(50)).value == 0.0
    assert roc_band([], [1.0, 2.0]).tpr_high.tolist() == [1.0, 1.0]


def test_unknown_bands_are_refused():
    with pytest.raises(ConfigError, match="berk-jones"):
        max_epsilon_lower_bound([1.0], [0.0], band="kolmogorov")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["berk-jones", "dkw", "bonferroni"])
def test_roc_band_holds_at_every_threshold_together(method):
    rng = np.random.default_rng(6)
    failures = 0
    for _ in range(2000):
        band = roc_band(rng.normal(1, 1, 60), rng.normal(0, 1, 60), method=method, confidence=0.9)
        tpr, fpr = reference.norm.sf(band.thresholds - 1), reference.norm.sf(band.thresholds)
        holds = (band.tpr_low <= tpr) & (tpr <= band.tpr_high)
        holds &= (band.fpr_low <= fpr) & (fpr <= band.fpr_high)
        failures += not holds.all()
    assert failures / 2000 <= 0.1 + 3 * np.sqrt(0.09 / 2000)
