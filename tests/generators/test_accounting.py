"""Budgets and conversions against closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from tapas.errors import ConfigError
from tapas.generators._accounting import (
    Budget,
    Spend,
    epsilon_from_rho,
    exponential_epsilon,
    gaussian_variance,
    rho_from_epsilon,
    rho_from_epsilon_classical,
)

EPSILONS = st.floats(1e-3, 50)
DELTAS = st.floats(1e-12, 0.1)


def exact_gaussian_delta(rho, epsilon):
    """Delta of the (continuous) Gaussian mechanism that spends rho (Balle and Wang 2018)."""
    mu = math.sqrt(2 * rho)
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def test_the_conversion_equals_a_search_over_a_grid_of_orders():
    rho, delta = 0.05, 1e-6
    order = 1 + np.exp(np.linspace(-8, 8, 200_001))
    grid = order * rho + (
        np.log(1 / delta) + (order - 1) * np.log1p(-1 / order) - np.log(order)
    ) / (order - 1)
    assert epsilon_from_rho(rho, delta) == pytest.approx(grid.min(), rel=1e-8)


@given(rho=st.floats(1e-6, 50), delta=DELTAS)
def test_the_conversion_lies_between_the_exact_gaussian_and_the_classical_bound(rho, delta):
    epsilon = epsilon_from_rho(rho, delta)
    assert epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta)) * (1 + 1e-12)
    assert exact_gaussian_delta(rho, epsilon) <= delta * (1 + 1e-6) + 1e-16


@given(epsilon=EPSILONS, delta=DELTAS)
def test_the_two_conversions_are_inverse_and_never_overspend(epsilon, delta):
    rho = rho_from_epsilon(epsilon, delta)
    assert epsilon_from_rho(rho, delta) <= epsilon
    assert epsilon_from_rho(rho, delta) == pytest.approx(epsilon, rel=1e-6)
    assert rho >= rho_from_epsilon_classical(epsilon, delta) * (1 - 1e-8)


@given(epsilon=EPSILONS, delta=DELTAS)
def test_the_classical_rho_solves_its_equation(epsilon, delta):
    rho = rho_from_epsilon_classical(epsilon, delta)
    assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) == pytest.approx(epsilon, rel=1e-9)


def test_steps_have_the_published_costs():
    assert exponential_epsilon(0.5) == 2.0
    assert gaussian_variance(0.5, 9.0) == 9.0


def test_a_divided_budget_adds_up_to_its_total():
    budget = Budget.divided("epsilon", 1.0, {f"step {i}": 1 for i in range(7)})
    assert math.fsum(spend.amount for spend in budget.spends) == pytest.approx(1.0, rel=1e-12)
    assert budget.of("step 3") == pytest.approx(1 / 7)
    assert budget.relation == "add/remove"
    with pytest.raises(ConfigError, match="nothing is set aside for 'lunch'"):
        budget.of("lunch")


def test_a_budget_that_is_overspent_cannot_be_made():
    with pytest.raises(ConfigError, match=r"spend 1\.5 of a budget of epsilon 1"):
        Budget("epsilon", 1.0, (Spend("a", 1.0), Spend("b", 0.5)))


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "much", True])
def test_a_budget_must_be_a_positive_number(value):
    with pytest.raises(ConfigError, match="positive number"):
        Budget("epsilon", value, ())


def test_a_delta_outside_zero_and_one_is_refused():
    with pytest.raises(ConfigError, match="delta"):
        rho_from_epsilon(1.0, 0.0)
