"""Exact noise against its closed-form distribution."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from tapas.errors import ConfigError
from tapas.generators._noise import (
    _bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    exponential_mechanism,
    rational_above,
)

SIZE = 40_000


def p_value(drawn, weights_of, reach):
    """Chi-square of integers against unnormalised weights, tails pooled beyond `reach`."""
    support = np.arange(-60 * reach, 60 * reach + 1)
    weights = weights_of(support)
    shares = weights / weights.sum()
    clipped = np.clip(drawn, -reach, reach)
    seen = np.bincount(clipped + reach, minlength=2 * reach + 1)
    pooled = np.bincount(np.clip(support, -reach, reach) + reach, shares)
    return chisquare(seen, len(drawn) * pooled / pooled.sum()).pvalue


@pytest.mark.parametrize(("scale", "reach"), [(0.4, 2), (1.0, 5), (2.7, 12), (15.0, 40)])
def test_discrete_laplace_has_its_closed_form_distribution(scale, reach):
    drawn = discrete_laplace(scale, SIZE, np.random.default_rng(1))
    assert p_value(drawn, lambda z: np.exp(-np.abs(z) / scale), reach) > 1e-3


@pytest.mark.parametrize(("variance", "reach"), [(0.3, 1), (1.0, 3), (13.9, 10), (400.0, 50)])
def test_discrete_gaussian_has_its_closed_form_distribution(variance, reach):
    drawn = discrete_gaussian(variance, SIZE, np.random.default_rng(2))
    assert p_value(drawn, lambda z: np.exp(-(z.astype(float) ** 2) / (2 * variance)), reach) > 1e-3


def test_a_wrong_scale_is_seen_by_the_same_test():
    drawn = discrete_laplace(1.0, SIZE, np.random.default_rng(1))
    assert p_value(drawn, lambda z: np.exp(-np.abs(z) / 1.05), 5) < 1e-6


@pytest.mark.parametrize("variance", [1e10, 1e14])
def test_variances_too_large_for_machine_integers_stay_exact(variance):
    drawn = discrete_gaussian(variance, 4_000, np.random.default_rng(3))
    assert drawn.dtype == np.int64
    # Five standard errors of a normal sample variance.
    assert abs(drawn.var() / variance - 1) < 5 * math.sqrt(2 / 4_000)


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_noise_is_whole_has_the_asked_size_and_follows_the_seed(draw):
    first = draw(3.0, 500, np.random.default_rng(7))
    assert first.dtype == np.int64
    assert first.shape == (500,)
    assert np.array_equal(first, draw(3.0, 500, np.random.default_rng(7)))
    assert not np.array_equal(first, draw(3.0, 500, np.random.default_rng(8)))
    assert draw(3.0, 0, np.random.default_rng(7)).shape == (0,)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)])
def test_a_coin_of_probability_exp_minus_gamma_shows_heads_that_often(gamma):
    heads = bernoulli_exp(
        np.full(SIZE, gamma.numerator), gamma.denominator, np.random.default_rng(4)
    )
    expected = math.exp(-gamma)
    assert abs(heads.mean() - expected) <= 4 * math.sqrt(expected * (1 - expected) / SIZE)


def test_a_coin_with_a_huge_denominator_is_compared_digit_by_digit():
    denominator = 3 * 10**30
    thirds = np.array([10**30] * 20_000, dtype=object)
    heads = _bernoulli(thirds, denominator, np.random.default_rng(5))
    assert abs(heads.mean() - 1 / 3) < 4 * math.sqrt(2 / 9 / 20_000)
    assert not _bernoulli(
        np.array([0] * 10, dtype=object), denominator, np.random.default_rng(5)
    ).any()
    certain = np.array([denominator] * 10, dtype=object)
    assert _bernoulli(certain, denominator, np.random.default_rng(5)).all()


@pytest.mark.parametrize("value", [1 / 3, 0.7, 12.1, 1e-7, 1e9 + 0.3])
def test_scales_are_rounded_up_never_down_and_hardly(value):
    rounded = rational_above(value)
    assert 0 <= rounded - Fraction(value) < Fraction(value) / 2**19
    assert rounded.denominator & (rounded.denominator - 1) == 0


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_noise_without_a_positive_scale_is_refused(value):
    with pytest.raises(ConfigError, match="positive"):
        discrete_laplace(value, 1, np.random.default_rng(0))


def test_the_exponential_mechanism_chooses_with_its_closed_form_probabilities():
    rng = np.random.default_rng(6)
    scores, epsilon, sensitivity = np.array([0, 5, 7, -40]), 0.8, 2
    chosen = np.bincount(
        [exponential_mechanism(scores, epsilon, sensitivity, rng) for _ in range(2_000)],
        minlength=4,
    )
    weights = np.exp(epsilon * scores / (2 * sensitivity))
    expected = 2_000 * weights / weights.sum()
    assert chisquare(chosen[:3], expected[:3] * chosen[:3].sum() / expected[:3].sum()).pvalue > 1e-3
    assert chosen[3] <= 5


def test_the_exponential_mechanism_stands_scores_far_apart():
    scores = np.array([0, 10**12])
    assert exponential_mechanism(scores, 1.0, 1, np.random.default_rng(0)) == 1
