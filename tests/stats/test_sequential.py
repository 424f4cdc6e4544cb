"""E7: the wealth, the stopping time, and looking as often as one likes."""

import math

import numpy as np
import pytest
from scipy import integrate

from tapas.errors import ConfigError, StatisticsError
from tapas.stats import SequentialEpsilon
from tapas.stats._sequential import _log_wealth, _Path


def stopping_distribution(rate, claim, length, alpha=0.05, delta=0.0):
    """P(stop at step n) exactly, by carrying the chance of every count still running."""
    limit = (math.exp(claim) + delta) / (1 + math.exp(claim))
    running, stopped = np.ones(1), []
    for n in range(1, length + 1):
        running = np.append(running * (1 - rate), 0.0) + np.append(0.0, running * rate)
        right = np.arange(n + 1.0)
        path = _Path(right, np.zeros(n + 1), np.zeros(n + 1), n - right)
        over = _log_wealth(path, limit, 1 - limit, delta) >= -math.log(alpha)
        stopped.append(running[over].sum())
        running = np.where(over, 0.0, running)
    return np.array(stopped)


def test_wealth_equals_numerical_integration():
    for counts, rate in (((30, 0, 0, 5), 0.7), ((10, 2, 4, 3), 0.6), ((0, 4, 0, 0), 0.55)):

        def bet(u, counts=counts, rate=rate):
            right, first, second, wrong = counts
            up, down = u / rate, (1 - u) / (1 - rate)
            mean = ((up + down) / 2) ** (first + second) / 2
            one_sided = ((up + down - 1) ** first + (up + down - 1) ** second) / 4
            return up**right * down**wrong * (mean + one_sided) / (1 - rate)

        twin = integrate.quad(bet, rate, 1)[0]
        path = _Path(*(np.array([float(c)]) for c in counts))
        found = _log_wealth(path, rate, 1 - rate, 0.0)[0]
        assert found == pytest.approx(math.log(twin), abs=1e-6)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_no_pair_of_rates_that_a_claim_allows_makes_a_bettor_richer(delta):
    claim = 1.0
    limit = (math.exp(claim) + delta) / (1 + math.exp(claim))
    steps = [_Path(*(np.array([float(i == j)]) for i in range(4))) for j in range(4)]
    gains = [math.exp(_log_wealth(step, limit, 1 - limit, delta)[0]) for step in steps]
    for fpr in np.linspace(0, 1, 41):
        tpr = min(1.0, math.exp(claim) * fpr + delta, 1 - (1 - delta - fpr) * math.exp(-claim))
        chances = (tpr * (1 - fpr), tpr * fpr, (1 - tpr) * (1 - fpr), (1 - tpr) * fpr)
        assert np.dot(chances, gains) <= 1 + 1e-9


def test_rare_events_contradict_a_claim():
    event = np.zeros(400, dtype=bool)
    event[::20] = True  # one member in twenty is found, nobody else
    audit = SequentialEpsilon(claim=1.0).update_pair(event, np.ones(400, dtype=bool))
    assert audit.contradicted


def test_half_the_audits_of_randomized_response_stop_by_trial_42():
    rate = math.exp(2) / (1 + math.exp(2))
    reached = np.cumsum(stopping_distribution(rate, claim=1.0, length=120))
    assert reached[40] < 0.5 <= reached[41]
    assert 100 <= np.argmax(reached >= 0.9) + 1 <= 110


@pytest.mark.parametrize(("claim", "delta"), [(0.0, 0.0), (1.0, 0.0), (1.0, 0.05), (4.0, 0.0)])
def test_true_claims_are_rarely_contradicted_however_long_one_looks(claim, delta):
    rate = (math.exp(claim) + delta) / (1 + math.exp(claim))
    assert stopping_distribution(rate, claim, 400, delta=delta).sum() <= 0.05


@pytest.mark.slow
def test_true_claims_stay_rarely_contradicted_over_thousands_of_looks():
    rate = math.e / (1 + math.e)
    assert stopping_distribution(rate, 1.0, 5000).sum() <= 0.05


@pytest.mark.slow
def test_bound_of_paired_trials_never_exceeds_the_truth_too_often():
    """Twin coins: both trials of a pair are right, or both wrong; looked at after every pair."""
    rng = np.random.default_rng(3)
    rate, audits = math.e / (1 + math.e), 1000
    crossed = 0
    for _ in range(audits):
        first = rng.random(300) < rate
        second = first if rng.random() < 0.5 else rng.random(300) < rate
        audit = SequentialEpsilon(claim=1.0).update_pair(first, second)
        crossed += audit.contradicted
    assert crossed / audits <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / audits)


def test_contradiction_agrees_with_the_bound_at_every_step():
    rng = np.random.default_rng(0)
    audit = SequentialEpsilon(claim=1.0)
    before = 0.0
    for outcome in rng.random(120) < 0.9:
        audit.update(outcome)
        value = audit.bound.value
        assert value >= before
        assert audit.contradicted == (value >= 1.0)
        before = value
    assert audit.contradicted
    assert audit.should_stop


def test_feeding_one_by_one_equals_feeding_all_at_once():
    outcomes = np.random.default_rng(1).random((60, 2)) < 0.8
    slow, fast = SequentialEpsilon(claim=0.5), SequentialEpsilon(claim=0.5)
    for one, two in outcomes:
        slow.update_pair(one, two)
        slow.interval  # noqa: B018
    fast.update_pair(outcomes[:, 0], outcomes[:, 1])
    assert slow.bound.value == pytest.approx(fast.bound.value, abs=1e-9)
    assert slow.interval.high == pytest.approx(fast.interval.high, abs=1e-9)
    assert slow.log_evidence == pytest.approx(fast.log_evidence)
    assert SequentialEpsilon().update_pair(*np.transpose(outcomes)).bound.value == pytest.approx(
        slow.bound.value
    )


def test_pairs_that_always_agree_weigh_as_single_trials():
    outcomes = np.random.default_rng(2).random(80) < 0.85
    pairs = np.stack([outcomes, outcomes], axis=1)
    paired = SequentialEpsilon().update_pair(*np.transpose(pairs))
    assert paired.bound.value == SequentialEpsilon().update(outcomes).bound.value


def test_perfect_sequence_reaches_the_ceiling():
    bound = SequentialEpsilon().update(np.ones(200, dtype=bool)).bound
    assert bound.value == pytest.approx(bound.ceiling)
    # 200 right guesses: (1 - q^201) / (201 (1 - q) q^200) = 20.
    q = 1 / (1 + math.exp(-bound.value))
    assert (1 - q**201) / (201 * (1 - q) * q**200) == pytest.approx(20.0, rel=1e-6)


def test_narrow_intervals_stop_an_audit_without_violation():
    rng = np.random.default_rng(4)
    audit = SequentialEpsilon(claim=3.0, width=0.5)
    audit.update(rng.random(50) < 0.7)
    assert not audit.should_stop
    audit.update(rng.random(3000) < 0.7)
    low, high, value = audit.interval
    assert low < math.log(0.7 / 0.3) < high
    assert low < value < high
    assert audit.should_stop
    assert not audit.contradicted


def test_nothing_seen_says_nothing():
    audit = SequentialEpsilon(claim=1.0, width=0.1)
    assert audit.bound.value == 0.0
    assert audit.interval.high == math.inf
    assert not audit.should_stop
    assert audit.num_steps == 0


def test_delta_lowers_the_bound():
    outcomes = np.ones(100, dtype=bool)
    plain = SequentialEpsilon().update(outcomes).bound
    slack = SequentialEpsilon(delta=0.05).update(outcomes).bound
    assert slack.value < plain.value
    audit = SequentialEpsilon(claim=slack.value - 1e-6, delta=0.05).update(outcomes)
    assert audit.contradicted


def test_misuse_is_refused_with_a_remedy():
    with pytest.raises(StatisticsError, match="update_pair"):
        SequentialEpsilon().update(0.5)
    with pytest.raises(StatisticsError, match="both trials"):
        SequentialEpsilon().update_pair([True, False], [True])
    with pytest.raises(StatisticsError, match="claim="):
        SequentialEpsilon().log_evidence  # noqa: B018
    with pytest.raises(ConfigError, match="claim"):
        SequentialEpsilon(claim=-1.0)
