"""The default certificate: a threshold and a comparison of pairs that share the error."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, ndtr

from tapas.errors import StatisticsError
from tapas.stats import (
    audit_claim,
    certificate,
    clopper_pearson,
    epsilon_lower_bound,
    gaussian_epsilon_from_mu,
)
from tapas.stats._pair_comparison import matched_wins, pair_epsilon, pair_gaussian_epsilon
from tapas.stats._trials import as_trials


def summary(positive, negative, **about):
    labels = np.arange(2 * len(positive)) % 2 == 1
    scores = np.empty(labels.size)
    scores[labels], scores[~labels] = positive, negative
    return SimpleNamespace(labels=labels, predictions=scores > 0, scores=scores, **about)


def responses(rng, size, epsilon=1.0):
    rate = expit(epsilon)
    return (rng.random(size) < rate) * 1.0, (rng.random(size) < 1 - rate) * 1.0


MECHANISMS = {
    "responses": lambda rng, n: (*responses(rng, n), 0.0),
    "laplace": lambda rng, n: (1 + rng.laplace(size=n), rng.laplace(size=n), 0.0),
    "gaussian": lambda rng, n: (0.9325 + rng.normal(size=n), rng.normal(size=n), 1e-5),
    "rare": lambda rng, n: (
        np.where(rng.random(n) < 0.05, 10, 0) + rng.normal(size=n),
        rng.normal(size=n),
        0.0,
    ),
}


def median(name, size, audits=9, **options):
    rng = np.random.default_rng(2)
    found = []
    for _ in range(audits):
        positive, negative, delta = MECHANISMS[name](rng, size)
        found.append(certificate(summary(positive, negative), delta=delta, **options).bound.value)
    return np.median(found)


@pytest.mark.parametrize(
    ("name", "size", "least"),
    [
        ("responses", 100, 0.6),
        ("laplace", 100, 0.4),
        ("laplace", 500, 0.7),
        ("gaussian", 600, 0.8),
        ("rare", 1000, 1.8),
    ],
)
def test_known_mechanisms_show_most_of_what_they_have(name, size, least):
    assert median(name, size) >= least


def test_gaussian_mechanisms_read_as_such_show_more():
    assert median("gaussian", 1000, family="gaussian") >= 3.2
    with pytest.raises(StatisticsError, match="delta"):
        certificate(summary(*responses(np.random.default_rng(0), 50)), family="gaussian")


def test_an_attack_that_ranks_members_last_shows_as_much():
    rng = np.random.default_rng(0)
    positive, negative = 1.5 + rng.laplace(size=400), rng.laplace(size=400)
    told, turned = (certificate(summary(s * positive, s * negative)) for s in (1, -1))
    assert (told.turned, turned.turned) == (False, True)
    assert told.bound.value == pytest.approx(turned.bound.value)


def test_the_area_of_every_private_mechanism_is_bounded():
    """Randomized response has the largest area that (epsilon, 0) allows."""
    for epsilon in (0.0, 0.5, 2.0):
        area = float(expit(epsilon))  # ties count one half
        assert area == pytest.approx(1 - 1 / (1 + math.exp(epsilon)))
    low = clopper_pearson(80, 100, 0.95, "lower")
    assert pair_epsilon(80, 100, 0.05, 0.0) == pytest.approx(math.log(low / (1 - low)))
    slack = pair_epsilon(80, 100, 0.05, 0.01)
    assert 1 - 0.99**2 / (1 + math.exp(slack)) == pytest.approx(low)
    assert pair_epsilon(0, 0, 0.05, 0.0) == 0
    mu = 1.2
    shown = pair_gaussian_epsilon(1000 * ndtr(mu / math.sqrt(2)), 1000, 0.5, 1e-5)
    assert shown == pytest.approx(gaussian_epsilon_from_mu(mu, 1e-5), rel=0.02)


def test_pairs_of_the_game_are_compared_with_each_other():
    one = summary([3.0, 0.0, 5.0], [1.0, 2.0, 4.0], groups=np.array([0, 0, 1, 1, 2, 2]))
    (trials,) = as_trials(one)
    assert matched_wins(trials) == (2, 3)
    (tied,) = as_trials(summary(np.zeros(400), np.zeros(400)))
    wins, pairs = matched_wins(tied)
    assert pairs == 400
    assert 160 < wins < 240
    paired = summary(*responses(np.random.default_rng(1), 200), groups=np.arange(400) // 2)
    assert certificate(paired).bound.method in ("clopper-pearson", "pair comparison")


def test_it_is_the_default_of_claims_and_never_above_its_ceiling():
    rng = np.random.default_rng(3)
    one = summary(*responses(rng, 300, 2.0))
    found = certificate(one)
    assert audit_claim(one, 1.0).bound == found.bound
    assert 0 < found.bound.value < found.bound.ceiling
    rest = found.choice.remaining
    event, member = one.scores[rest] >= found.choice.threshold, one.labels[rest]
    counts = (event & member).sum(), member.sum(), (event & ~member).sum(), (~member).sum()
    level = 1 - 0.05 * (1 - found.pair_share)
    twin = epsilon_lower_bound(*counts, confidence=level, method="buehler")
    assert found.bound.value == pytest.approx(max(twin.value, found.bound.value))
    assert found.bound.method in ("buehler", "pair comparison")


def test_trials_of_one_world_or_without_scores_show_nothing():
    one = SimpleNamespace(labels=np.ones(20), predictions=np.ones(20))
    assert certificate(one).bound.value == 0
    tiny = SimpleNamespace(labels=np.array([0, 1, 0, 1]), predictions=np.array([0, 1, 0, 1]))
    assert certificate(tiny).bound.value >= 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 60, 300])
@pytest.mark.parametrize("name", ["responses", "laplace", "turned", "pairs"])
def test_the_truth_is_exceeded_no_more_often_than_stated(name, size):
    rng = np.random.default_rng(size)
    audits, above = 2000, 0
    for _ in range(audits):
        about = {}
        positive, negative, _ = MECHANISMS["laplace" if name == "laplace" else "responses"](
            rng, size
        )
        if name == "turned":
            positive, negative = -positive, -negative
        if name == "pairs":
            about["groups"] = np.arange(2 * size) // 2
        above += certificate(summary(positive, negative, **about)).bound.value > 1
    assert above / audits <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / audits)
