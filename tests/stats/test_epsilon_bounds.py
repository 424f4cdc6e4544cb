"""E1 to E4 against their anchors, naive twins and refusals."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import integrate, special
from scipy import stats as reference

from tapas.errors import ConfigError, StatisticsError
from tapas.stats import EpsilonBound, epsilon_lower_bound, gaussian_epsilon_from_mu
from tapas.stats._buehler import _Tail


def naive_clopper_pearson(tp, num_positive, fp, num_negative, alpha, delta):
    def upper(k, n):
        return 1.0 if k == n else reference.beta.ppf(1 - alpha / 2, k + 1, n - k)

    fpr, fnr = upper(fp, num_negative), upper(num_positive - tp, num_positive)
    best = 0.0
    if 1 - fnr - delta > 0:
        best = max(best, math.log((1 - fnr - delta) / fpr))
    if 1 - fpr - delta > 0:
        best = max(best, math.log((1 - fpr - delta) / fnr))
    return best


def naive_buehler(tp, num_positive, fp, num_negative, alpha, delta=0.0, points=4001):
    """Sum every outcome of the tail on a fine grid of the frontier."""

    def order(x, y):
        def upper(k, n):
            return 1.0 if k == n else reference.beta.ppf(1 - alpha / 2, k + 1, n - k)

        fpr, fnr = upper(y, num_negative), upper(num_positive - x, num_positive)
        with np.errstate(divide="ignore"):
            return max(
                np.log(max(1 - fnr - delta, 0.0)) - np.log(fpr),
                np.log(max(1 - fpr - delta, 0.0)) - np.log(fnr),
            )

    seen = order(tp, fp)
    tail = [
        (x, y)
        for x in range(num_positive + 1)
        for y in range(num_negative + 1)
        if order(x, y) >= seen - 1e-9
    ]
    x, y = np.array(tail).T
    fpr = np.linspace(0, 1, points)[:, None]

    def probability(epsilon):
        tpr = np.minimum(
            np.exp(epsilon) * fpr + delta, 1 - np.exp(-epsilon) * (1 - delta - fpr)
        ).clip(0, 1)
        mass = reference.binom.pmf(x, num_positive, tpr) * reference.binom.pmf(y, num_negative, fpr)
        return mass.sum(axis=1).max()

    if probability(0.0) > alpha:
        return 0.0
    low, high = 0.0, 12.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if probability(middle) > alpha else (middle, high)
    return low


def test_clopper_pearson_anchor():
    bound = epsilon_lower_bound(90, 100, 10, 100)
    assert bound.value == pytest.approx(1.542152, abs=5e-7)
    assert (bound.confidence, bound.delta, bound.method) == (0.95, 0.0, "clopper-pearson")


@pytest.mark.parametrize(
    ("counts", "first", "second"),
    [((731, 1000, 269, 1000), 0.8586, 0.8984), ((100, 100, 0, 100), 3.281, 4.194)],
)
def test_buehler_anchors(counts, first, second):
    digits = len(str(first).split(".")[1])
    assert round(epsilon_lower_bound(*counts).value, digits) == first
    assert round(epsilon_lower_bound(*counts, method="buehler").value, digits) == second


@pytest.mark.parametrize(
    ("n", "first", "second"), [(100, 3.28, 4.19), (1000, 5.60, 6.50), (10_000, 7.90, 8.81)]
)
def test_ceilings_are_what_a_perfect_attack_reaches(n, first, second):
    for method, ceiling in (("clopper-pearson", first), ("buehler", second)):
        bound = epsilon_lower_bound(n // 2, n, n // 3, n, method=method)
        assert round(bound.ceiling, 2) == ceiling
        perfect = epsilon_lower_bound(n, n, 0, n, method=method)
        assert perfect.value == perfect.ceiling == bound.ceiling


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_clopper_pearson_equals_its_naive_twin_on_a_grid(delta):
    tp, fp = np.meshgrid(np.arange(13), np.arange(9), indexing="ij")
    bound = epsilon_lower_bound(tp, 12, fp, 8, confidence=0.9, delta=delta)
    twin = [[naive_clopper_pearson(x, 12, y, 8, 0.1, delta) for y in range(9)] for x in range(13)]
    assert bound.value == pytest.approx(np.array(twin), abs=1e-10)


@pytest.mark.parametrize(
    ("counts", "delta"),
    [
        ((9, 10, 2, 10), 0.0),
        ((10, 10, 0, 10), 0.0),
        ((12, 20, 0, 7), 0.0),
        ((7, 7, 9, 20), 0.0),
        ((14, 15, 2, 15), 0.05),
        ((8, 15, 6, 15), 0.0),
    ],
)
def test_buehler_equals_brute_force_over_all_outcomes(counts, delta):
    bound = epsilon_lower_bound(*counts, method="buehler", delta=delta, confidence=0.9)
    # The grid of the twin can only miss the supremum, so it may lie a little above.
    assert bound.value == pytest.approx(naive_buehler(*counts, 0.1, delta), abs=2e-3)


def test_the_edge_of_the_confidence_set_is_where_the_tail_has_probability_alpha():
    n1, n0, alpha, steps = 25, 18, 0.05, 30
    tail = _Tail.observed(20, n1, 4, n0, alpha, 0.0)
    assert tail is not None
    fpr = np.array([0.2, 0.3, 0.4, 0.99])
    odds = np.full(fpr.shape, 40.0)
    found = special.expit(tail.edges(fpr, -odds, odds, steps))
    outcomes = np.arange(n1 + 1) <= tail.boundary[:, None]  # misses, for each count of alarms
    for rate, edge in zip(fpr[:3], found[:3], strict=True):
        alarms = reference.binom.pmf(np.arange(n0 + 1), n0, rate)
        misses = reference.binom.pmf(np.arange(n1 + 1), n1, edge)
        assert alarms @ outcomes @ misses == pytest.approx(alpha, rel=1e-6)
    assert found[3] == pytest.approx(0, abs=1e-15)  # so many alarms are too unlikely at any FNR
    assert np.isinf(tail.epsilon(fpr, tail.edges(fpr, -odds, odds, steps))[3])


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_buehler_is_never_below_clopper_pearson(delta):
    tp, fp = np.meshgrid(np.arange(0, 25, 4), np.arange(0, 17, 4), indexing="ij")
    first = epsilon_lower_bound(tp, 24, fp, 16, delta=delta)
    second = epsilon_lower_bound(tp, 24, fp, 16, delta=delta, method="buehler")
    assert np.all(second.value >= first.value - 1e-6)
    assert second.ceiling.shape == second.value.shape
    assert np.all(second.value <= second.ceiling + 1e-9)


def test_bayes_equals_two_dimensional_integration():
    bound = epsilon_lower_bound(18, 20, 5, 20, method="bayes", confidence=0.9)
    miss, alarm = reference.beta(2.5, 18.5), reference.beta(5.5, 15.5)

    def inside(fpr):
        growth = math.exp(bound.value)
        return alarm.pdf(fpr) * miss.sf(max(1 - growth * fpr, (1 - fpr) / growth))

    kink = 1 / (1 + math.exp(bound.value))
    mass = sum(integrate.quad(inside, a, b)[0] for a, b in ((0, kink), (kink, 1)))
    assert mass == pytest.approx(0.1, abs=1e-5)


def test_bayes_is_credible_and_does_not_certify():
    bound = epsilon_lower_bound(90, 100, 10, 100, method="bayes")
    assert not bound.certifies
    assert "not a certificate" in str(bound)
    assert epsilon_lower_bound(90, 100, 10, 100).certifies


def test_bayes_misses_randomized_response_more_often_than_it_says():
    n, truth = 20, 2.0
    tp, fp = np.meshgrid(np.arange(14, n + 1), np.arange(7), indexing="ij")
    rate = math.exp(truth) / (1 + math.exp(truth))
    mass = reference.binom.pmf(tp, n, rate) * reference.binom.pmf(fp, n, 1 - rate)
    missed = {
        method: mass[epsilon_lower_bound(tp, n, fp, n, method=method).value > truth].sum()
        for method in ("clopper-pearson", "bayes")
    }
    assert missed["clopper-pearson"] <= 0.05
    assert missed["bayes"] == pytest.approx(0.196, abs=0.01)


@pytest.mark.parametrize("truth", [0.0, 0.5, 1.0, 2.0])
def test_buehler_covers_randomized_response_exactly(truth):
    n = 7
    tp, fp = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rate = math.exp(truth) / (1 + math.exp(truth))
    mass = reference.binom.pmf(tp, n, rate) * reference.binom.pmf(fp, n, 1 - rate)
    first = epsilon_lower_bound(tp, n, fp, n, confidence=0.9).value > truth
    second = epsilon_lower_bound(tp, n, fp, n, confidence=0.9, method="buehler").value > truth
    assert mass[first].sum() <= mass[second].sum() <= 0.1


def test_gaussian_epsilon_solves_its_equation_and_known_pairs():
    # sigma 3.73 is the analytic calibration of (1, 1e-5).
    assert gaussian_epsilon_from_mu(1 / 3.73, 1e-5) == pytest.approx(1.0, abs=1e-3)
    for mu in (0.01, 0.5, 1.0, 6.0):
        epsilon = gaussian_epsilon_from_mu(mu, 1e-7)
        terms = [mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu]
        delta = reference.norm.cdf(terms[0]) - math.exp(epsilon) * reference.norm.cdf(terms[1])
        assert delta == pytest.approx(1e-7, rel=1e-5)
    assert gaussian_epsilon_from_mu([-1.0, 0.0, 1e-9], 1e-5).tolist() == [0.0, 0.0, 0.0]


def test_gaussian_bound_is_refused_unless_the_family_is_said_aloud():
    with pytest.raises(StatisticsError, match="family='gaussian'"):
        epsilon_lower_bound(731, 1000, 269, 1000, method="gaussian", delta=1e-5)
    with pytest.raises(StatisticsError, match="delta"):
        epsilon_lower_bound(731, 1000, 269, 1000, method="gaussian", family="gaussian")


def test_gaussian_bound_overstates_randomized_response():
    bound = epsilon_lower_bound(
        731, 1000, 269, 1000, method="gaussian", family="gaussian", delta=1e-5
    )
    assert round(bound.value, 1) == 4.7
    assert "if the mechanism is Gaussian" in str(bound)


def test_gaussian_bound_beats_clopper_pearson_on_a_gaussian_mechanism():
    # N(0, 3.73^2) against N(1, 3.73^2) with the expected counts of 1000 trials per world.
    def counts(threshold):
        rates = reference.norm.sf((threshold - np.array([1.0, 0.0])) / 3.73)
        tp, fp = np.round(1000 * rates)
        return tp, 1000, fp, 1000

    best = epsilon_lower_bound(*counts(3.0), delta=1e-5)
    gaussian = epsilon_lower_bound(*counts(0.5), method="gaussian", family="gaussian", delta=1e-5)
    assert round(best.value, 2) == 0.12
    assert round(gaussian.value, 2) == 0.37


@pytest.mark.parametrize("method", ["buehler", "bayes"])
def test_paired_trials_are_refused_where_worlds_must_be_independent(method):
    with pytest.raises(StatisticsError, match="unpaired"):
        epsilon_lower_bound(9, 10, 1, 10, method=method, paired=True)
    assert epsilon_lower_bound(9, 10, 1, 10, paired=True).value > 0


def test_twin_coins_break_buehler_and_not_clopper_pearson():
    # Randomized response whose two worlds share every coin: errors come together.
    n, truth = 1000, 1.0
    errors = np.arange(n + 1)
    mass = reference.binom.pmf(errors, n, 1 / (1 + math.e))
    first = mass[epsilon_lower_bound(n - errors, n, errors, n).value > truth].sum()
    close = np.arange(240, 254)
    second = epsilon_lower_bound(n - close, n, close, n, method="buehler").value > truth
    assert second[0]
    assert not second[-1]
    assert first < 0.05 < mass[close[second].min() : close[second].max() + 1].sum()


@pytest.mark.parametrize("method", ["clopper-pearson", "buehler", "bayes"])
def test_tiny_and_empty_worlds_give_zero(method):
    for counts in ((0, 0, 0, 0), (1, 1, 0, 0), (0, 0, 0, 5), (0, 1, 1, 1), (0, 3, 0, 3)):
        bound = epsilon_lower_bound(*counts, method=method)
        assert bound.value == 0.0
        assert bound.ceiling >= 0.0


def test_delta_one_explains_everything():
    for method in ("clopper-pearson", "buehler"):
        assert epsilon_lower_bound(50, 50, 0, 50, delta=1.0, method=method).value == 0.0


def test_bound_reads_aloud_and_is_frozen():
    bound = epsilon_lower_bound(90, 100, 10, 100, relation="replace")
    assert str(bound) == (
        "epsilon >= 1.542 with 95 % confidence (clopper-pearson, delta 0, replace neighbours, "
        "at most 3.281 could be shown with as many trials)"
    )
    assert float(bound) == bound.value
    assert isinstance(bound, EpsilonBound)
    with pytest.raises(dataclasses.FrozenInstanceError):
        bound.value = 3.0
    assert "[1.542" in str(epsilon_lower_bound([90, 50], 100, [10, 50], 100))


def test_rates_in_place_of_counts_and_unknown_methods_are_refused():
    with pytest.raises(StatisticsError, match="counts, not rates"):
        epsilon_lower_bound(0.9, 100, 0.1, 100)
    with pytest.raises(ConfigError, match="clopper-pearson"):
        epsilon_lower_bound(9, 10, 1, 10, method="wald")
