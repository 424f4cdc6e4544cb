"""Guesses of an attribute stand beside the best guess without the release."""

import json
import math

import numpy as np
import pytest

from tapas.cli._outputs import verdict_values
from tapas.report import AuditPage
from tapas.results import (
    MEASURES,
    AIAttackSummary,
    AuditedSubject,
    AuditRecord,
    BinaryAIAttackSummary,
    Gate,
    MIAttackSummary,
    decide,
    estimate,
    leak,
    summary_facts,
)

(GAIN,) = (measure for measure in MEASURES if measure.name == "accuracy_gain")


def many(labels, predictions, **about):
    return AIAttackSummary(
        labels, predictions, None, "G", "A", "D", "T", "job", attribute_values="abc", **about
    )


def drawn(rng, size, told, prior=(0.7, 0.2, 0.1)):
    """An attack that is told the value in a share of the trials, and else says the commonest."""
    labels = rng.choice(list("abc"), size=size, p=prior)
    return many(labels, np.where(rng.random(size) < told, labels, "a"))


def test_it_is_accuracy_less_the_commonest_value_or_what_the_inputs_tell() -> None:
    summary = many(list("aaabbc"), list("aaabbb"))
    assert estimate(GAIN, summary, 0.95).value == pytest.approx(5 / 6 - 3 / 6)
    alone = np.eye(3)[[0, 0, 0, 1, 0, 0]]
    told = many(list("aaabbc"), list("aaabbb"), inputs_alone=alone)
    assert estimate(GAIN, told, 0.95).value == pytest.approx(5 / 6 - 4 / 6)
    assert summary_facts(told).chance == pytest.approx(4 / 6)
    two = BinaryAIAttackSummary(
        [1, 1, 0, 1], [1, 1, 0, 0], sensitive_attribute="sex", inputs_alone=[0.9, 0.8, 0.1, 0.7]
    )
    assert estimate(GAIN, two, 0.95).value == pytest.approx(3 / 4 - 1)
    assert estimate(GAIN, MIAttackSummary([1, 0], [1, 0]), 0.95) is None


@pytest.mark.parametrize(("told", "prior"), [(0.0, (0.7, 0.2, 0.1)), (0.3, (0.34, 0.33, 0.33))])
def test_its_interval_covers_whichever_guess_is_best(told, prior) -> None:
    rng, truth = np.random.default_rng(0), told * (1 - max(prior))
    missed = 0
    for _ in range(300):
        found = estimate(GAIN, drawn(rng, 60, told, prior), 0.95)
        missed += not found.low <= truth <= found.high
    assert missed / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)


def test_of_secrets_played_in_turn_it_is_the_accuracy_less_a_known_number() -> None:
    rng, found = np.random.default_rng(0), 0
    for _ in range(300):
        turns = many(list("abc") * 20, rng.choice(list("abc"), 60), dependence="unrelated worlds")
        facts = summary_facts(turns)
        gain, right = facts.accuracy_gain, facts.accuracy
        assert (gain.low, gain.high) == pytest.approx((right.low - 1 / 3, right.high - 1 / 3))
        found += gain.low > 0
    assert found / 300 <= 0.025 + 3 * math.sqrt(0.025 * 0.975 / 300)


def record(summary) -> AuditRecord:
    return AuditRecord("", {}, "f", 0, (AuditedSubject("G", "audited", (summary,)),))


def test_a_common_value_is_no_leak_through_any_door() -> None:
    """Right in nine of ten trials, as anybody is who knows how common the value is."""
    rng = np.random.default_rng(1)
    harmless = record(drawn(rng, 400, 0.0, (0.9, 0.05, 0.05)))
    (outcome,) = decide(harmless, [Gate("accuracy_gain", 0.1)]).outcomes
    assert outcome.state == "pass"
    page = AuditPage(harmless)
    assert "the best guess without the release" in " ".join(page.words)
    assert "No attack did reliably better" in " ".join(page.words)
    leaky = record(drawn(rng, 400, 0.6, (0.9, 0.05, 0.05)))
    (outcome,) = decide(leaky, [Gate("accuracy_gain", 0.01)]).outcomes
    assert outcome.state == "fail"
    html = AuditPage(leaky).html()
    assert "Above the best guess" in html
    said = json.dumps(verdict_values(leaky, decide(leaky)))
    assert "accuracy_gain" in said


def test_guesses_that_are_always_wrong_tell_as_much() -> None:
    labels = np.tile([0, 1], 100)
    turned = BinaryAIAttackSummary(labels, 1 - labels, sensitive_attribute="sex")
    (outcome,) = decide(record(turned), [Gate("accuracy_gain", 0.1)]).outcomes
    assert outcome.state == "fail"


def test_it_is_known_where_values_are_drawn_by_known_probabilities() -> None:
    labels = np.array(list("a" * 170 + "b" * 20 + "c" * 10))
    always = many(labels, labels, chance=0.9)
    facts = summary_facts(always, confidence=0.99)
    assert (facts.chance, always.best_guess) == (0.9, 0.9)
    assert facts.accuracy_gain.low == pytest.approx(facts.accuracy.low - 0.9)
    assert facts.accuracy_gain.high == pytest.approx(0.1)
    assert leak(facts)[0] > 0.5
    assert AIAttackSummary.from_dict(always.to_dict()).best_guess == 0.9
    assert many(labels, labels).best_guess == 0.85


@pytest.mark.parametrize("prior", [(0.9, 0.05, 0.05), (0.4, 0.3, 0.3)])
def test_its_interval_covers_where_the_best_guess_is_known(prior) -> None:
    rng, told = np.random.default_rng(1), 0.3
    truth, missed = told * (1 - max(prior)), 0
    for _ in range(300):
        labels = rng.choice(list("abc"), size=60, p=prior)
        guesses = np.where(rng.random(60) < told, labels, "a")
        found = estimate(GAIN, many(labels, guesses, chance=max(prior)), 0.95)
        missed += not found.low <= truth <= found.high
    assert missed / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)
