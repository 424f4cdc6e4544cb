"""Mechanisms of known epsilon do what they say, and an audit finds that and no more."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, NotTrainedError
from tapas.stats import audit_power, epsilon_lower_bound, runs_needed
from tapas.testing import (
    DomainFromData,
    FloatingPointLaplace,
    GaussianCount,
    KnownEvent,
    LaplaceCount,
    NoiseDividedByRows,
    NoisyHistogram,
    OffByOneBudget,
    OnePartitionForEveryTeacher,
    RandomizedResponse,
    SizeLeak,
    WrongSensitivity,
    worst_case,
)
from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedMIA

ROWS = 20
BACKGROUND, TARGET = worst_case(ROWS)
COMMON = BACKGROUND.take([0])

HONEST = [
    RandomizedResponse(TARGET),
    LaplaceCount(TARGET),
    GaussianCount(TARGET),
    NoisyHistogram(TARGET, others=COMMON),
]
# Each with the trials per world within which nine audits of ten must find its violation.
BROKEN = [
    (WrongSensitivity(TARGET, other=COMMON, num_others=ROWS), 366),
    (OffByOneBudget(TARGET, queries=2), 264),
    (OffByOneBudget(TARGET, queries=3), 1_881),
    (DomainFromData(TARGET, others=COMMON), 26),
    (NoiseDividedByRows(TARGET, others=COMMON, num_rows=100), 12),
    (FloatingPointLaplace(TARGET), 26),
    (OnePartitionForEveryTeacher(TARGET, teachers=5), 26),
    (SizeLeak(TARGET, num_others=ROWS), 12),
]
ALL = HONEST + [mechanism for mechanism, _ in BROKEN]


def audited(mechanism, trials_per_world, seed):
    """Whether the event happened in each trial of each world: (members, non-members)."""
    model = TargetedMIA(
        ExactDataKnowledge(BACKGROUND),
        TARGET,
        BlackBoxKnowledge(mechanism, 60),
        replace_target=mechanism.relation == "replace",
        seed=seed,
        n_jobs=1,
    )
    attack = KnownEvent(mechanism)
    attack.train(model)
    summary = model.test(attack, num_samples=2 * trials_per_world)
    event = np.asarray(summary.predictions, dtype=bool)
    member = np.asarray(summary.labels, dtype=bool)
    return event[member], event[~member]


def bound(events, confidence=0.95, delta=0.0):
    hits, alarms = events
    return epsilon_lower_bound(
        hits.sum(), len(hits), alarms.sum(), len(alarms), confidence=confidence, delta=delta
    ).value


def direct_rates(mechanism, trials):
    """Rates without the threat model."""
    leaving = BACKGROUND.take(range(ROWS - 1)) if mechanism.relation == "replace" else BACKGROUND
    worlds = (leaving + TARGET, BACKGROUND)
    return [
        np.mean([
            mechanism.evidence(mechanism.fit(world, random_state=seed).generate(60))
            >= mechanism.threshold
            for seed in range(trials)
        ])
        for world in worlds
    ]  # fmt: skip


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_the_event_happens_as_often_as_the_closed_form_says(mechanism):
    trials = 400
    for seen, rate in zip(direct_rates(mechanism, trials), mechanism.rates, strict=True):
        low, high = binom.interval(0.9999, trials, rate)
        assert low <= seen * trials <= high


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_the_rates_are_allowed_by_the_true_epsilon_and_contradict_a_broken_claim(mechanism):
    hit, alarm = mechanism.rates
    loss = math.inf if alarm == 0 else math.log((hit - mechanism.delta) / alarm)
    assert loss <= mechanism.true_epsilon + 1e-9
    if mechanism.true_epsilon > mechanism.claimed_epsilon:
        assert loss > mechanism.claimed_epsilon


@pytest.mark.parametrize(("mechanism", "trials"), BROKEN, ids=str)
def test_the_planner_finds_each_violation_within_the_known_number_of_trials(mechanism, trials):
    assert runs_needed(*mechanism.rates, mechanism.claimed_epsilon) <= trials


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (RandomizedResponse(TARGET), 1),
        (LaplaceCount(TARGET, 0.5), 0.5),
        (NoisyHistogram(TARGET, 2.0), 2),
        (WrongSensitivity(TARGET, other=COMMON, num_others=ROWS), 2),
        (OffByOneBudget(TARGET, queries=2), 2),
        (OffByOneBudget(TARGET, queries=3), 1.5),
        (DomainFromData(TARGET), math.inf),
        (NoiseDividedByRows(TARGET, num_rows=100), 50),
        (OnePartitionForEveryTeacher(TARGET, teachers=5), 5),
        (SizeLeak(TARGET, num_others=3), math.inf),
        (FloatingPointLaplace(TARGET), math.inf),
    ],
    ids=str,
)
def test_each_states_its_true_epsilon(mechanism, epsilon):
    assert mechanism.true_epsilon == pytest.approx(epsilon)


@pytest.mark.parametrize(
    "mechanism",
    [RandomizedResponse(TARGET), LaplaceCount(TARGET), NoisyHistogram(TARGET),
     WrongSensitivity(TARGET, other=COMMON, num_others=ROWS), OffByOneBudget(TARGET)],
    ids=str,
)  # fmt: skip
def test_the_event_shows_all_of_a_finite_epsilon(mechanism):
    hit, alarm = mechanism.rates
    assert math.log(hit / alarm) == pytest.approx(mechanism.true_epsilon)


@pytest.mark.parametrize(
    ("mechanism", "median"),
    [
        (RandomizedResponse(TARGET), 0.859),
        (LaplaceCount(TARGET), 0.805),
        (NoisyHistogram(TARGET), 0.724),
        (WrongSensitivity(TARGET, other=COMMON, num_others=ROWS), 1.555),
        (DomainFromData(TARGET), 5.20),
    ],
    ids=str,
)
def test_a_thousand_trials_per_world_certify_the_known_median(mechanism, median):
    hits, alarms = (round(1_000 * rate) for rate in mechanism.rates)
    certified = epsilon_lower_bound(hits, 1_000, alarms, 1_000).value
    assert certified == pytest.approx(median, abs=0.005)


def test_the_gaussian_noise_is_the_smallest_that_suffices():
    assert GaussianCount(TARGET, 1.0, 1e-5).sigma == pytest.approx(3.73, abs=0.005)


def test_an_output_that_zero_can_give_is_never_held_against_it():
    mechanism = FloatingPointLaplace(TARGET, 0.7)
    for seed in range(300):
        assert mechanism.evidence(mechanism.fit(BACKGROUND, random_state=seed).generate(2)) == 0


def test_they_work_on_other_tables():
    data = load_sample("census", rows=50, seed=2)
    target, data = data.get_records([0]), data.drop_records([0])
    for mechanism in (
        RandomizedResponse(target), LaplaceCount(target), GaussianCount(target),
        NoisyHistogram(target), DomainFromData(target, others=data), OffByOneBudget(target),
        NoiseDividedByRows(target), OnePartitionForEveryTeacher(target),
    ):  # fmt: skip
        release = mechanism.fit(data, random_state=0).generate(30, random_state=0)
        assert len(release) == 30
        assert release.description == data.description


def test_what_cannot_be_is_refused():
    blank = TabularDataset([[None] * 4], BACKGROUND.description)
    with pytest.raises(ConfigError, match="no value at all"):
        RandomizedResponse(blank)
    with pytest.raises(ConfigError, match="one record"):
        RandomizedResponse(BACKGROUND)
    with pytest.raises(ConfigError, match="epsilon"):
        LaplaceCount(TARGET, 0)
    with pytest.raises(ConfigError, match="queries is 9"):
        OffByOneBudget(TARGET, queries=9)
    with pytest.raises(NotTrainedError):
        LaplaceCount(TARGET).generate(1)
    letters = DataDescription([{"name": "c", "type": "finite", "representation": ["a", "b"]}])
    with pytest.raises(ConfigError, match="type 'real'"):
        FloatingPointLaplace(TabularDataset([["a"]], letters))
    with pytest.raises(ConfigError, match="KnownMechanism"):
        KnownEvent(BACKGROUND)


@pytest.mark.parametrize("mechanism", [HONEST[0], BROKEN[3][0]], ids=str)
def test_an_audit_by_the_threat_model_sees_the_closed_form_rates(mechanism):
    trials = 150
    for events, rate in zip(audited(mechanism, trials, 1), mechanism.rates, strict=True):
        low, high = binom.interval(0.9999, trials, rate)
        assert low <= events.sum() <= high


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", HONEST, ids=str)
def test_audits_of_an_honest_mechanism_exceed_its_epsilon_at_most_in_alpha_of_cases(mechanism):
    events = audited(mechanism, 5_000, seed=11)
    audits = [bound((events[0][i::50], events[1][i::50]), 0.95, mechanism.delta) for i in range(50)]
    exceeded = sum(value > mechanism.true_epsilon for value in audits)
    assert exceeded <= binom.ppf(0.999, 50, 0.05)
    whole = bound(events, 0.95, mechanism.delta)
    print(f"{mechanism}: {exceeded}/50 audits above, 5,000 per world certify {whole:.3f}")  # noqa: T201
    assert whole <= mechanism.true_epsilon


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*identical releases.*")
@pytest.mark.parametrize(("mechanism", "trials"), BROKEN, ids=str)
def test_each_violation_is_found_with_the_known_power(mechanism, trials):
    trials = min(trials, runs_needed(*mechanism.rates, mechanism.claimed_epsilon))
    audits = 20 if trials < 1_000 else 5
    events = audited(mechanism, audits * trials, seed=12)
    found = sum(
        bound((events[0][i::audits], events[1][i::audits])) > mechanism.claimed_epsilon
        for i in range(audits)
    )
    power = audit_power(*mechanism.rates, mechanism.claimed_epsilon, trials)
    print(f"{mechanism}: found in {found}/{audits} audits of {trials} per world, "  # noqa: T201
          f"power {power:.3f}")  # fmt: skip
    assert power >= 0.9
    assert found >= binom.ppf(1e-3, audits, 0.9)
