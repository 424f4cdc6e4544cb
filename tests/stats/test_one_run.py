"""E5 and E6: anchors, twins, and an independent optimum."""

import math

import numpy as np
import pytest
from scipy import optimize
from scipy import stats as reference

from tapas.errors import StatisticsError
from tapas.stats import gaussian_epsilon_from_mu, one_run_epsilon, one_run_gaussian_epsilon
from tapas.stats._one_run import _is_impossible, _one_run_p_value


def test_one_run_anchor():
    bound = one_run_epsilon(1000, 600, 600, delta=1e-5, confidence=0.95)
    assert bound.value == pytest.approx(5.2704, abs=5e-5)
    assert bound.value == bound.ceiling


@pytest.mark.parametrize("counts", [(50, 40, 31), (20, 20, 20), (30, 10, 1)])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_one_run_p_value_equals_its_naive_twin(counts, delta):
    m, r, v = counts
    epsilon = 0.7
    binomial = reference.binom(r, math.exp(epsilon) / (1 + math.exp(epsilon)))
    worst = max(sum(binomial.pmf(k) for k in range(v - i, v)) / i for i in range(1, v + 1))
    twin = binomial.sf(v - 1) + 2 * m * delta * worst
    assert _one_run_p_value(epsilon, m, r, v, delta) == pytest.approx(twin)


def test_one_run_without_delta_is_a_binomial_limit():
    bound = one_run_epsilon(500, 300, 230)
    rate = reference.beta.ppf(0.05, 230, 71)
    assert bound.value == pytest.approx(math.log(rate / (1 - rate)), abs=1e-9)


@pytest.mark.parametrize("correct", [0, 10, 20])
def test_guesses_no_better_than_coins_certify_nothing(correct):
    assert one_run_epsilon(40, 40, correct, delta=1e-5).value == 0.0
    assert one_run_gaussian_epsilon(40, 40, correct, delta=1e-5).value == 0.0


def test_no_guesses_certify_nothing():
    assert one_run_epsilon(40, 0, 0).value == 0.0
    assert one_run_gaussian_epsilon(40, 0, 0, delta=1e-5).value == 0.0


def test_impossible_guess_counts_are_refused():
    with pytest.raises(StatisticsError, match="num_correct <= num_guesses <= num_canaries"):
        one_run_epsilon(10, 5, 6)
    with pytest.raises(StatisticsError, match="delta"):
        one_run_gaussian_epsilon(10, 5, 5, delta=0.0)


@pytest.mark.parametrize(
    ("m", "r", "v", "mu"), [(12, 12, 10, 1.0), (20, 9, 8, 0.5), (15, 15, 9, 0.2)]
)
def test_gaussian_one_run_recursion_finds_the_optimum_of_a_linear_program(m, r, v, mu):
    """The largest P[right >= v] under tangents of the trade-off curve, by linear programming."""
    count = np.arange(r + 1)
    tangents = reference.norm.cdf(np.linspace(-8, 8, 400))
    value = reference.norm.cdf(reference.norm.ppf(tangents) + mu)
    z = reference.norm.ppf(tangents)
    slope = np.exp(-mu * z - mu * mu / 2)
    rows, limits = [], []
    for i in range(1, v + 1):
        right = np.where(count >= i, count / m, 0.0)
        wrong = np.where(count >= i - 1, (r - count) / m, 0.0)
        rows.append(right - slope[:, None] * wrong)
        limits.append(value - slope * tangents)
    solution = optimize.linprog(
        -(count >= v).astype(float),
        A_ub=np.vstack(rows),
        b_ub=np.concatenate(limits),
        A_eq=np.ones((1, r + 1)),
        b_eq=[1.0],
    )
    largest = -solution.fun
    grid = np.array([mu])
    assert not _is_impossible(grid, m, r, v, largest * 0.99)[0]
    assert _is_impossible(grid, m, r, v, largest * 1.01)[0]


def test_gaussian_one_run_bound_approaches_the_truth_and_beats_the_general_one():
    mu, m = 1.0, 4000
    correct = round(m * reference.norm.cdf(mu / 2))
    truth = gaussian_epsilon_from_mu(mu, 1e-5)
    gaussian = one_run_gaussian_epsilon(m, m, correct, delta=1e-5)
    general = one_run_epsilon(m, m, correct, delta=1e-5)
    assert general.value < gaussian.value < truth
    assert not gaussian.certifies


@pytest.mark.slow
def test_one_run_bounds_cover_independent_gaussian_canaries():
    """m canaries on separate coordinates; guess the r most certain; truth is mu = 1."""
    rng = np.random.default_rng(7)
    mu, m, r, runs = 1.0, 400, 100, 400
    truth = gaussian_epsilon_from_mu(mu, 1e-5)
    secret = rng.integers(0, 2, size=(runs, m))
    evidence = rng.normal(mu * secret, 1.0) - mu / 2
    surest = np.argsort(-np.abs(evidence), axis=1)[:, :r]
    right = np.take_along_axis((evidence > 0) == (secret == 1), surest, axis=1).sum(axis=1)
    values, place = np.unique(right, return_inverse=True)
    bounds = np.array([one_run_gaussian_epsilon(m, r, int(v), delta=1e-5).value for v in values])
    general = np.array([one_run_epsilon(m, r, int(v), delta=1e-5).value for v in values])
    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert np.mean(bounds[place] > truth) <= limit
    assert np.mean(general[place] > truth) <= limit
    assert np.median(bounds[place]) > 0
