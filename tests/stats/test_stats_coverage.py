"""The auditor audited: mechanisms of known epsilon, and mechanisms that leak nothing."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from tapas.stats import (
    SequentialEpsilon,
    audit_claim,
    audit_power,
    certify,
    epsilon_lower_bound,
    max_epsilon_lower_bound,
    one_run_epsilon,
    select_threshold,
)


def allowed(alpha, runs):
    """The level plus three standard deviations of its estimate."""
    return alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs)


def laplace_audit(rng, n, shift, attacks):
    """Attacks that see the same Laplace release through different amounts of extra noise."""
    labels = rng.integers(0, 2, n)
    release = shift * labels + rng.laplace(size=n)
    scores = release + rng.normal(size=(attacks, n)) * np.arange(attacks)[:, None] / 2
    return [SimpleNamespace(labels=labels, predictions=labels, scores=s) for s in scores]


def share_above(rng, runs, n, shift, attacks, method):
    truth, above = shift, 0
    for _ in range(runs):
        summaries = laplace_audit(rng, n, shift, attacks)
        if method == "band":
            value = float(audit_claim(summaries, 0.0, validation_split=None).bound)
        else:
            choice = select_threshold(summaries, validation_split=0.3)
            value = float(certify(choice, summaries, method=method))
        above += value > truth
    return above / runs


def uncorrected_maximum(one):
    order = np.argsort(-one.scores)
    hits, num_positive = np.cumsum(one.labels[order]), one.labels.sum()
    alarms = np.arange(1, hits.size + 1) - hits
    bound = epsilon_lower_bound(hits, num_positive, alarms, hits.size - num_positive)
    return bound.value.max()


@pytest.mark.parametrize("method", ["clopper-pearson", "band"])
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_certificates_after_selection_rarely_exceed_the_truth(method, shift):
    rng = np.random.default_rng(0)
    assert share_above(rng, 150, 100, shift, 3, method) <= allowed(0.05, 150)


def test_uncorrected_maximum_accuses_harmless_mechanisms_and_selection_does_not():
    rng = np.random.default_rng(1)
    runs, n, attacks = 40, 200, 20
    accused = np.zeros(3)
    for _ in range(runs):
        labels = rng.integers(0, 2, n)
        summaries = [
            SimpleNamespace(labels=labels, predictions=labels, scores=rng.random(n))
            for _ in range(attacks)
        ]
        accused += (
            max(uncorrected_maximum(one) for one in summaries) > 0,
            audit_claim(summaries, 0.0).contradicted,
            audit_claim(summaries, 0.0, validation_split=None).contradicted,
        )
    assert accused[0] / runs > 0.4
    assert np.all(accused[1:] / runs <= allowed(0.05, runs))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["clopper-pearson", "buehler", "band"])
@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 2.0])
def test_certificates_after_selection_rarely_exceed_the_truth_in_long_runs(method, shift):
    rng = np.random.default_rng(2)
    runs = 300 if method == "buehler" else 1500
    assert share_above(rng, runs, 200, shift, 4, method) <= allowed(0.05, runs)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_fixed_size_bounds_cover_randomized_response_exactly(epsilon, delta):
    """Every outcome of 40 trials per world, with its probability."""
    n = 40
    tpr = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
    tp, fp = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    counts = np.arange(n + 1)
    mass = np.outer(binomial(counts, n, tpr), binomial(counts, n, 1 - tpr))
    value = epsilon_lower_bound(tp, n, fp, n, delta=delta).value
    assert mass[value > epsilon].sum() <= 0.05
    likely = mass > 1e-5
    tight = epsilon_lower_bound(tp[likely], n, fp[likely], n, delta=delta, method="buehler").value
    assert mass[likely][tight > epsilon].sum() <= 0.05


def binomial(k, n, rate):
    choose = np.array([math.comb(n, int(i)) for i in k], dtype=float)
    return choose * rate**k * (1 - rate) ** (n - k)


def test_harmless_releases_rarely_certify_by_any_door():
    rng = np.random.default_rng(3)
    runs, n = 200, 60
    tp, fp = rng.binomial(n, 0.5, runs), rng.binomial(n, 0.5, runs)
    correct = rng.integers(0, 2, (runs, n)).astype(bool)
    doors = {
        "clopper-pearson": epsilon_lower_bound(tp, n, fp, n).value,
        "one run": np.array([one_run_epsilon(n, n, int(c.sum())).value for c in correct]),
        "sequential": np.array([SequentialEpsilon().update(c).bound.value for c in correct]),
        "band": np.array(
            [max_epsilon_lower_bound(rng.random(n), rng.random(n)).value for _ in range(runs)]
        ),
    }
    for door, values in doors.items():
        assert np.mean(values > 0) <= allowed(0.05, runs), door


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tpr", "fpr", "claim", "trials", "typical"),
    [
        (math.e / (1 + math.e), 1 / (1 + math.e), 0.5, 150, 0.859),  # randomized response, eps 1
        (0.5, 0.5 / math.e, 0.9, 8140, 0.805),  # Laplace count, eps 1, y >= 1
        (0.25, 0.25 * math.exp(-2), 1.0, 366, 1.555),  # replace with noise for add/remove
    ],
)
def test_violations_are_found_with_the_tabulated_power(tpr, fpr, claim, trials, typical):
    assert audit_power(tpr, fpr, claim, trials) >= 0.9
    expected = epsilon_lower_bound(round(1000 * tpr), 1000, round(1000 * fpr), 1000)
    assert expected.value == pytest.approx(typical, abs=0.01)
    rng = np.random.default_rng(4)
    hits = rng.binomial(trials, tpr, 20_000), rng.binomial(trials, fpr, 20_000)
    found = np.mean(epsilon_lower_bound(hits[0], trials, hits[1], trials).value > claim)
    assert found == pytest.approx(audit_power(tpr, fpr, claim, trials), abs=0.01)
