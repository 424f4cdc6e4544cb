"""Corrections for many questions, and how many trials to plan."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats as reference

from tapas.errors import StatisticsError
from tapas.results import MIAttackSummary
from tapas.stats import (
    auc_interval,
    audit_power,
    certificate,
    epsilon_lower_bound,
    holm,
    look_share,
    runs_needed,
    shared_confidence,
    shared_p_values,
    smallest_area,
    smallest_leak,
)
from tapas.stats._certificate_power import certificate_power
from tapas.stats._pair_power import pair_power


def test_holm_adjusts_step_down_and_keeps_the_order():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).size == 0


def test_holm_lies_between_raw_values_and_bonferroni():
    values = np.random.default_rng(0).random(50) ** 3
    adjusted = holm(values)
    assert np.all((values <= adjusted) & (adjusted <= np.minimum(1, values.size * values)))
    with pytest.raises(StatisticsError):
        holm([1.2])


def test_power_equals_a_sum_over_all_outcomes():
    n, tpr, fpr, claim = 25, 0.8, 0.1, 0.8
    tp, fp = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    mass = reference.binom.pmf(tp, n, tpr) * reference.binom.pmf(fp, n, fpr)
    twin = mass[epsilon_lower_bound(tp, n, fp, n).value > claim].sum()
    assert audit_power(tpr, fpr, claim, n) == pytest.approx(twin)


@pytest.mark.parametrize(
    ("tpr", "fpr", "claim", "trials"),
    [
        (math.e / (1 + math.e), 1 / (1 + math.e), 0.5, 149),  # randomized response
        (0.25, 0.25 * math.exp(-2), 1.0, 366),  # two cells, noise for half the change
        (1.0, 0.0, 1.0, 12),  # noise divided by the number of rows
        (0.695, 0.0, 1.0, 26),  # domain read from the data
    ],
)
def test_planned_trials_equal_the_tabulated_ones(tpr, fpr, claim, trials):
    assert runs_needed(tpr, fpr, claim) == trials


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tpr", "fpr", "low", "high"),
    [
        # Both directions count, so randomized response needs fewer than the 4,383 of one.
        (math.e / (1 + math.e), 1 / (1 + math.e), 3500, 3650),
        (0.5, 0.5 / math.e, 8100, 8160),
    ],
)
def test_planned_trials_close_to_the_truth_are_many(tpr, fpr, low, high):
    assert low <= runs_needed(tpr, fpr, 0.9) <= high


def test_perfect_attack_is_seen_as_soon_as_the_ceiling_allows():
    n = runs_needed(1.0, 0.0, 3.0)
    assert epsilon_lower_bound(n, n, 0, n).value > 3.0
    assert epsilon_lower_bound(n - 1, n - 1, 0, n - 1).value <= 3.0


def test_no_number_of_trials_contradicts_a_true_claim():
    assert runs_needed(0.7, 0.3, math.log(7 / 3)) == math.inf
    assert runs_needed(0.5, 0.5, 0.0) == math.inf
    with pytest.raises(StatisticsError, match="claim"):
        runs_needed(0.9, 0.1, -1.0)


@pytest.mark.parametrize(
    ("tpr", "fpr", "claim", "trials"),
    [
        (0.05, 0.0, 1.0, None),  # a rare event
        (0.05, 0.0, 1.0, 469),
        (0.5, 0.01, 1.0, None),
        (0.55, 0.45, 0.0, None),
        (0.2, 0.05, 0.5, None),
    ],
)
def test_the_forecast_of_the_certificate_is_what_it_does(tpr, fpr, claim, trials):
    planned = runs_needed(tpr, fpr, claim, method="portfolio")
    size, audits = trials or planned, 80
    expected = certificate_power(tpr, fpr, claim, size)
    assert (expected >= 0.9) == (trials is None)
    rng, found = np.random.default_rng(9), 0
    for _ in range(audits):
        member = rng.permutation(2 * size) < size
        told = rng.random(2 * size) < np.where(member, tpr, fpr)
        one = SimpleNamespace(labels=member, predictions=told, scores=told * 1.0)
        found += certificate(one).bound.value > claim
    assert (
        abs(found / audits - expected) <= 3 * math.sqrt(expected * (1 - expected) / audits) + 0.02
    )


@pytest.mark.parametrize(
    ("tpr", "fpr", "claim", "pairs"),
    [
        (0.616, 0.384, 0.0, 100),  # the smallest leak that is told from none
        (0.731, 0.269, 0.5, 100),
        (0.9, 0.1, 1.0, 60),
        (0.3, 0.01, 1.0, 250),
        (0.05, 0.0, 1.0, 700),
    ],
)
def test_the_forecast_of_the_certificate_of_pairs_is_what_it_does(tpr, fpr, claim, pairs):
    expected, audits, found = pair_power(tpr, fpr, claim, pairs), 120, 0
    assert 0.15 < expected < 0.98
    rng, member = np.random.default_rng(2), np.arange(2 * pairs) % 2 == 1
    for _ in range(audits):
        told = rng.random(2 * pairs) < np.where(member, tpr, fpr)
        groups = np.arange(2 * pairs) // 2
        one = SimpleNamespace(labels=member, predictions=told, scores=told * 1.0, groups=groups)
        found += certificate(one).bound.value > claim
    assert (
        abs(found / audits - expected) <= 3 * math.sqrt(expected * (1 - expected) / audits) + 0.03
    )


def test_more_pairs_are_forecast_to_show_more_and_not_as_much_as_independent_trials():
    powers = [pair_power(0.6, 0.3, 0.3, size) for size in (1, 20, 100, 400, 1000, 40_000)]
    assert powers == sorted(powers)
    assert powers[0] == 0
    assert powers[-1] > 0.99
    assert pair_power(0.6, 0.3, 0.3, 400, delta=0.01) < powers[3]
    assert pair_power(0.5, 0.0, 1.0, 100) <= certificate_power(0.5, 0.0, 1.0, 100)
    assert smallest_leak(200, method="portfolio of pairs") > smallest_leak(200)
    assert pair_power(0.0, 0.0, 0.0, 50) == 0


def test_more_trials_are_forecast_to_show_more():
    powers = [certificate_power(0.6, 0.3, 0.3, size) for size in (2, 50, 200, 499, 1000, 40_000)]
    assert powers == sorted(powers)
    assert powers[-1] > 0.99
    assert certificate_power(0.6, 0.3, 0.3, 400, delta=0.01) < powers[3]
    assert runs_needed(0.5, 0.5, 0.0, method="portfolio") == math.inf


def test_all_looks_together_spend_a_tenth_more():
    shares = [look_share(look) for look in range(1, 2000)]
    assert shares[0] == 1
    assert sum(shares[1:]) == pytest.approx(0.1, rel=1e-3)
    assert shared_confidence(0.95, 4, share=0.5) == pytest.approx(1 - 0.05 / 8)


def test_p_values_share_an_error_as_levels_do():
    found = shared_p_values([0.05 / 8, 0.00626, 0.9], 4, share=0.5)
    assert found[0] == pytest.approx(0.05)
    assert found[1] > 0.05
    assert found[2] == 1


def test_the_smallest_leak_is_where_the_power_is_reached():
    powers = {
        "clopper-pearson": audit_power,
        "portfolio": certificate_power,
        "portfolio of pairs": pair_power,
    }
    for method, power in powers.items():
        epsilon = smallest_leak(200, method=method)
        rate = 1 / (1 + math.exp(-epsilon))
        assert power(rate, 1 - rate, 0.0, 200) == pytest.approx(0.9, abs=0.01)
        assert smallest_leak(2000, method=method) < epsilon
        assert epsilon < smallest_leak(200, confidence=0.999, method=method)
        assert smallest_leak(2, method=method) == math.inf
    assert smallest_leak(200) < smallest_leak(200, method="clopper-pearson")
    assert smallest_leak(200) < smallest_leak(200, delta=0.01)


def test_the_default_certificate_finds_the_smallest_leak_nine_times_in_ten() -> None:
    rng, epsilon, found = np.random.default_rng(0), smallest_leak(100), 0
    for _ in range(150):
        member = np.arange(200) < 100
        scores = (member ^ (rng.random(200) < 1 / (1 + math.exp(epsilon)))).astype(float)
        summary = MIAttackSummary(member, scores > 0, scores, dependence="independent")
        found += float(certificate(summary).bound) > 0
    assert 0.82 < found / 150 < 0.97


@pytest.mark.parametrize("paired", [True, False])
def test_the_smallest_area_of_few_trials_is_found_nine_times_in_ten(paired: bool) -> None:
    area = smallest_area(20, 20, paired=paired)
    rng, shift = np.random.default_rng(0), np.sqrt(2) * reference.norm.ppf(area)
    found = 0
    for _ in range(1000):
        scores = rng.normal(shift, 1, 20), rng.normal(size=20)
        found += auc_interval(*scores, paired=paired).low > 0.5
    assert abs(found / 1000 - 0.9) < 3 * np.sqrt(0.09 / 1000) + 0.02
    assert smallest_area(20, 20) < smallest_area(20, 20, paired=True)
    assert smallest_area(100, 100) == smallest_area(100, 100, paired=True)
    assert smallest_area(5, 5, paired=True) == math.inf


def test_the_smallest_area_is_found_nine_times_in_ten() -> None:
    area = smallest_area(150, 300)
    rng, shift = np.random.default_rng(0), np.sqrt(2) * reference.norm.ppf(area)
    found = 0
    for _ in range(300):
        interval = auc_interval(rng.normal(shift, 1, 150), rng.normal(size=300))
        found += interval.low > 0.5
    assert abs(found / 300 - 0.9) < 3 * np.sqrt(0.09 / 300) + 0.02
    assert smallest_area(1500, 3000) < area < smallest_area(150, 300, confidence=0.999)
    assert smallest_area(2, 2) == math.inf
