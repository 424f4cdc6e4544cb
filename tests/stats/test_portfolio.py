"""The default certificate: a threshold, two tails, or pairs that share the error."""

import itertools
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import hypergeom

from tapas.errors import StatisticsError
from tapas.stats import (
    audit_claim,
    certificate,
    clopper_pearson,
    epsilon_lower_bound,
    gaussian_epsilon_from_mu,
)
from tapas.stats._buehler import buehler_epsilon
from tapas.stats._pair_comparison import matched_wins, pair_epsilon, pair_gaussian_epsilon
from tapas.stats._trials import as_trials
from tapas.stats._two_tails import Ring, Tails, tail_epsilon, tails_of


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
        ("laplace", 100, 0.5),
        ("laplace", 500, 0.75),
        ("gaussian", 600, 1.1),
        ("rare", 1000, 1.8),
    ],
)
def test_known_mechanisms_show_most_of_what_they_have(name, size, least):
    assert median(name, size, audits=15 if size == 100 else 9) >= least


def test_gaussian_mechanisms_read_as_such_show_more():
    assert median("gaussian", 1000, family="gaussian") >= 3.2
    with pytest.raises(StatisticsError, match="delta"):
        certificate(summary(*responses(np.random.default_rng(0), 50)), family="gaussian")


def test_an_attack_that_ranks_members_last_shows_as_much():
    rng = np.random.default_rng(0)
    positive, negative = 1.5 + rng.laplace(size=400), rng.laplace(size=400)
    told, turned = (certificate(summary(s * positive, s * negative)).bound for s in (1, -1))
    assert (told.method, turned.method) == ("two tails", "two tails, turned")
    assert turned.value > 0.9 * told.value  # its part of the error is smaller
    positive, negative = 1.5 + rng.laplace(size=600), rng.laplace(size=600)
    found = [certificate(summary(s * positive, s * negative)) for s in (1, -1)]
    assert [one.turned for one in found] == [False, True]
    assert found[0].bound.value == pytest.approx(found[1].bound.value)


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
    assert certificate(paired).bound.method in ("clopper-pearson", "pair comparison", "pair gaps")


def test_it_is_the_default_of_claims_and_never_above_its_ceiling():
    rng = np.random.default_rng(3)
    one = summary(*responses(rng, 300, 2.0))
    found = certificate(one)
    assert audit_claim(one, 1.0).bound == found.bound
    assert 0 < found.bound.value < found.bound.ceiling
    rest = found.choice.remaining
    event, member = one.scores[rest] >= found.choice.threshold, one.labels[rest]
    counts = (event & member).sum(), member.sum(), (event & ~member).sum(), (~member).sum()
    level = 1 - 0.05 * found.shares["buehler"]
    twin = epsilon_lower_bound(*counts, confidence=level, method="buehler")
    assert found.bound.value == pytest.approx(max(twin.value, found.bound.value))
    assert found.bound.method in ("buehler", "two tails")


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize(("delta", "family"), [(0.0, None), (0.01, None), (1e-5, "gaussian")])
@pytest.mark.parametrize("size", [20, 90, 1200])
def test_what_a_perfect_attack_could_show_is_one_number_for_all_attacks(
    size, delta, family, paired
):
    rng = np.random.default_rng(size)
    member = np.arange(size) % 2 == 0
    attacks = {
        "perfect": member * 1.0,
        "perfect, by degrees": member + 0.9 * rng.random(size),
        "turned": -1.0 * member,
        "weak": 0.3 * member + rng.random(size),
        "silent": np.zeros(size),
    }
    about = {"groups": np.arange(size) // 2} if paired else {}
    found = {}
    for name, scores in attacks.items():
        one = SimpleNamespace(labels=member, predictions=member, scores=scores, **about)
        found[name] = certificate(one, delta=delta, family=family).bound
    assert len({bound.ceiling for bound in found.values()}) == 1
    assert all(bound.value <= bound.ceiling for bound in found.values())
    if not paired and delta != 0.01:  # there it rests on which way is taken to promise more
        assert found["perfect"].value > 0.9 * found["silent"].ceiling


def dealt(ring, epsilon):
    """The chance of each number of hits: all ways to deal members, weighted by their odds."""
    chances = dict.fromkeys(range(ring.top + 1), 0.0)
    for chosen in itertools.combinations(range(ring.top + ring.bottom), ring.members):
        hits = sum(place < ring.top for place in chosen)
        chances[hits] += math.exp(2 * epsilon * hits)
    total = sum(chances.values())
    return {hits: chance / total for hits, chance in chances.items()}


def test_hits_in_both_tails_have_the_chance_that_the_odds_give():
    """A naive twin for one share of the trials."""
    ring, epsilon = Ring(hits=5, top=6, bottom=5, members=6), 0.4
    counts = Tails((ring,), (0.5,), trials=20)
    above = dealt(ring, epsilon)[5] + dealt(ring, epsilon)[6]
    assert tail_epsilon(counts, above, 0.0) == pytest.approx(epsilon, abs=1e-4)
    # With delta one trial that tells all may be among the hits, and costs what it might be.
    delta, alpha = 1e-3, 0.3
    spent = -math.expm1(20 * math.log1p(-delta))
    assert spent > 0.05 * alpha
    spent -= 20 * delta * (1 - delta) ** 19
    fewer = Tails((ring._replace(hits=4),), (0.5,), trials=20)
    expected = tail_epsilon(fewer, alpha - spent, 0.0)
    assert tail_epsilon(counts, alpha, delta) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("size", [100, 1000])
def test_scores_that_are_one_number_on_one_side_show_as_much_as_decisions(size):
    """A nearest distance is 0 on a hit and any number otherwise."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(9):
        told = responses(rng, size)
        hit = [np.where(world > 0, 0, -1 - rng.random(size)) for world in told]
        missed = [np.where(world > 0, 1 + rng.random(size), 0) for world in told]
        found.append([certificate(summary(*way)).bound.value for way in (told, hit, missed)])
    decided, *others = np.median(found, axis=0)
    assert min(others) > 0.95 * decided


def test_decisions_show_a_leak_as_soon_as_fishers_test_does():
    """Who is guessed about in one ring alone has nobody to share the error with."""
    for hits in range(50, 70):
        labels = np.arange(200) % 2 == 0
        named = np.zeros(200, dtype=bool)
        named[np.flatnonzero(labels)[:hits]] = named[np.flatnonzero(~labels)[: 100 - hits]] = True
        one = SimpleNamespace(labels=labels, predictions=named, scores=named * 1.0)
        chance = hypergeom.sf(hits - 1, 200, 100, 100)
        shown = tail_epsilon(tails_of(as_trials(one)[0]), 0.05, 0.0) > 0
        assert shown == (chance < 0.05)


@pytest.mark.parametrize("hits", [(3, 2), (4, 0), (3, 3)])
def test_of_several_shares_the_loudest_counts_and_all_pay_for_it(hits):
    """A naive twin for shares one within the other: every outcome, in the order of the loudest."""
    rings = Ring(hits[0], 4, 4, 4), Ring(hits[1], 3, 4, 4)
    alpha, levels = 0.2, (0.3, 0.6)

    @cache
    def outcomes(epsilon):
        inner, outer = (dealt(ring, epsilon) for ring in rings)
        return {(i, i + j): inner[i] * outer[j] for i in inner for j in outer}

    def loudness(found, epsilon):
        chances = outcomes(epsilon)
        tails = [
            sum(chance for other, chance in chances.items() if other[k] >= found[k]) for k in (0, 1)
        ]
        return min(tail / (alpha * level) for tail, level in zip(tails, levels, strict=True))

    def speaks_up_to(found):
        grid = np.linspace(0, 3, 151)
        spoken = [epsilon for epsilon in grid if loudness(found, epsilon) <= 1]
        return max(spoken, default=-1.0)

    order = {found: speaks_up_to(found) for found in outcomes(0.0)}
    observed = order[(hits[0], sum(hits))]
    bound = tail_epsilon(Tails(rings, levels, 30), alpha, 0.0)
    if observed <= 0:
        assert bound == 0
        return
    as_loud = [found for found, value in order.items() if value >= observed]
    assert sum(outcomes(bound)[found] for found in as_loud) == pytest.approx(alpha, abs=1e-3)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (np.arange(20.0), Ring(3, 6, 6, 6)),  # six of each end
        (np.arange(20) % 2, Ring(10, 10, 10, 10)),  # two values: all are guessed
        (np.repeat([0.0, 1.0, 1.0, 2.0], 5), Ring(3, 5, 5, 5)),  # the middle is not
        (np.repeat([0.0, 0.0, 0.0, 1.0], 5), Ring(3, 5, 15, 10)),
        (np.minimum(np.arange(20.0), 11), Ring(5, 9, 9, 9)),  # nine are equal at the top
        (np.maximum(np.arange(20.0), 8), Ring(5, 9, 9, 9)),
        (np.minimum(np.arange(20.0), 5), Ring(8, 15, 5, 10)),
        (np.zeros(20), Ring(10, 20, 0, 10)),
    ],
)
def test_who_is_guessed_follows_from_all_scores_and_no_secret(scores, expected):
    labels = np.arange(20) % 2 == 1
    (trials,) = as_trials(SimpleNamespace(labels=labels, predictions=labels, scores=scores))
    (found,) = tails_of(trials, {0.6: 1.0}).rings
    assert found == expected
    (swapped,) = as_trials(SimpleNamespace(labels=~labels, predictions=labels, scores=scores))
    assert tails_of(swapped, {0.6: 1.0}).rings[0][1:3] == found[1:3]


def test_nobody_is_guessed_twice():
    rng = np.random.default_rng(0)
    for values in (2, 3, 7, 10**6):
        labels = rng.random(2000) < 0.5
        scores = rng.integers(values, size=2000) * 1.0
        (trials,) = as_trials(SimpleNamespace(labels=labels, predictions=labels, scores=scores))
        rings = tails_of(trials).rings
        guessed = sum(ring.top + ring.bottom for ring in rings)
        assert guessed <= 2000
        assert guessed >= 1400 or values == 3
        assert len(rings) == {2: 1, 3: 1, 7: 3, 10**6: 5}[values]


def test_records_decided_by_coins_can_be_read_as_gaussian():
    rng = np.random.default_rng(5)
    member = rng.random(1000) < 0.5
    one = SimpleNamespace(
        labels=member, predictions=member ^ (rng.random(1000) < 0.2), dependence="coins"
    )
    found = certificate(one, delta=1e-5, family="gaussian").bound
    assert found.method == "one-run-gaussian"
    assert not found.certifies
    assert found.value > certificate(one, delta=1e-5).bound.value


def test_trials_of_one_world_or_without_scores_show_nothing():
    one = SimpleNamespace(labels=np.ones(20), predictions=np.ones(20))
    assert certificate(one).bound.value == 0
    tiny = SimpleNamespace(labels=np.array([0, 1, 0, 1]), predictions=np.array([0, 1, 0, 1]))
    assert certificate(tiny).bound.value >= 0


def told(rng, member, epsilon=1.0):
    """Randomized response about each trial."""
    return (rng.random(member.size) < expit(np.where(member, epsilon, -epsilon))) * 1.0


def revealed(rng, member, delta):
    """The same, but for a few trials that tell all."""
    tells = rng.random(member.size) < delta
    return np.where(tells, np.where(member, 2.0, -1.0), told(rng, member))


def spread(rng, member):
    """Randomized response at every height: each share of the trials is at its worst."""
    return np.where(told(rng, member) > 0, 1, -1) * (1 + rng.random(member.size))


def distances(rng, member):
    """Randomized response that gives 0, and any number below that otherwise."""
    return np.where(told(rng, member) > 0, 0, -1 - rng.random(member.size))


def sure_of_some(rng, member):
    """The same, where one in three of the zeros goes unseen."""
    return np.where(rng.random(member.size) < 2 / 3, distances(rng, member), -2.0)


WORLDS = {
    "distances": (600, 0.5, distances, 0.0),
    "distances, unequal": (300, 0.3, sure_of_some, 0.0),
    "distances, turned": (600, 0.5, lambda rng, m: -sure_of_some(rng, ~m), 0.0),
    "spread": (600, 0.5, spread, 0.0),
    "responses": (1000, 0.5, told, 0.0),
    "few": (10, 0.5, told, 0.0),
    "unequal": (200, 0.9, told, 0.0),
    "laplace": (120, 0.5, lambda rng, m: m + rng.laplace(size=m.size), 0.0),
    "floored": (600, 0.5, lambda rng, m: np.floor(m + rng.laplace(size=m.size)), 0.0),
    "revealed": (1000, 0.5, lambda rng, m: revealed(rng, m, 1e-3), 1e-3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_hits_in_both_tails_exceed_the_truth_no_more_often_than_stated(name):
    size, share, draw, delta = WORLDS[name]
    rng = np.random.default_rng(1)
    audits, above = 4000, 0
    for _ in range(audits):
        member = rng.random(size) < share
        scores = draw(rng, member)
        (trials,) = as_trials(SimpleNamespace(labels=member, predictions=member, scores=scores))
        above += tail_epsilon(tails_of(trials), 0.05, delta) > 1
    assert above / audits <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / audits)


@pytest.mark.slow
@pytest.mark.parametrize("size", [5, 60, 300, 600])
@pytest.mark.parametrize(
    "name", ["responses", "distances", "laplace", "turned", "pairs", "revealed"]
)
def test_the_truth_is_exceeded_no_more_often_than_stated(name, size):
    rng = np.random.default_rng(size)
    audits, above, delta = 2000, 0, 0.01 if name == "revealed" else 0.0
    for _ in range(audits):
        about = {}
        positive, negative, _ = MECHANISMS["laplace" if name == "laplace" else "responses"](
            rng, size
        )
        if name == "turned":
            positive, negative = -positive, -negative
        if name == "distances":
            positive, negative = (
                np.where(world > 0, 0, -1 - rng.random(size)) for world in (positive, negative)
            )
        if name == "pairs":
            about["groups"] = np.arange(2 * size) // 2
        if name == "revealed":
            positive[rng.random(size) < delta], negative[rng.random(size) < delta] = 2.0, -1.0
        above += certificate(summary(positive, negative, **about), delta=delta).bound.value > 1
    assert above / audits <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / audits)


def test_a_bound_that_others_exceed_is_not_made_exact_and_nothing_else_changes():
    counts = (60, 80, 20, 75)
    exact = buehler_epsilon(*counts, 0.05, 0.0)
    assert buehler_epsilon(*counts, 0.05, 0.0, exact - 1e-9) == exact
    assert buehler_epsilon(*counts, 0.05, 0.0, exact + 0.1) in (0.0, exact)
    assert buehler_epsilon(*counts, 0.05, 0.0, 2 * exact) == 0.0


def test_a_certificate_is_shown_without_its_masks_of_trials() -> None:
    found = certificate(summary(*responses(np.random.default_rng(0), 500)))
    assert len(repr(found)) < 600
