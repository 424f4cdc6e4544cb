"""A limit on what is found at few false alarms that stays open says what would decide it."""

import re

import numpy as np
import pytest

from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Gate,
    GateOutcome,
    MIAttackSummary,
    decide,
)


def outcome(
    members: np.ndarray,
    scores: np.ndarray | None,
    guesses: np.ndarray,
    attack: str = "LossMIA",
    dependence: str | None = "one release",
) -> GateOutcome:
    summary = MIAttackSummary(
        members, guesses, scores, "M", attack, "D", "all", dependence=dependence
    )
    subject = AuditedSubject("S", "audited", (summary,))
    gate = Gate("tpr_at_fpr", 0.05, fpr=0.01)
    (found,) = decide(AuditRecord("A", {}, "f" * 32, 0, (subject,), gates=(gate,))).outcomes
    return found


def drawn(number: int, seed: int) -> GateOutcome:
    rng = np.random.default_rng(seed)
    members = np.arange(number) % 2 == 0
    scores = rng.normal(2.0 * members)
    return outcome(members, scores, scores > 0.5)


@pytest.mark.parametrize("graded", [True, False])
def test_an_attack_that_says_yes_or_no_is_told_and_no_records_are_asked_for(graded: bool) -> None:
    rng = np.random.default_rng(0)
    members = np.arange(600) < 300
    guesses = rng.random(600) < np.where(members, 0.5, 0.01)
    found = outcome(members, guesses.astype(float) if graded else None, guesses, "RuleBasedMIA")
    assert found.state == "inconclusive"
    assert "RuleBasedMIA answers yes or no only" in found.words
    assert "limit auc or advantage" in found.words
    assert "records would" not in found.words
    assert "narrow the interval" not in found.words


def test_the_number_of_records_that_is_told_decides() -> None:
    told, decided = [], 0
    for seed in range(20):
        found = drawn(300, seed)
        number = re.search(r"about ([\d,]+) judged .* where there are 300;", found.words)
        if number is not None:
            told.append(int(number[1].replace(",", "")))
    for seed in range(20):
        decided += drawn(int(1.5 * np.median(told)), 100 + seed).state == "fail"
    assert len(told) > 10
    assert 600 <= np.median(told) <= 3_000
    assert decided >= 15


def test_a_result_that_sits_on_the_limit_is_said_to_stay_open() -> None:
    members = np.arange(2_000) < 1_000
    scores = np.concatenate([np.full(40, 3.0), np.linspace(0, 2, 960), np.linspace(0, 2, 1_000)])
    found = outcome(members, scores, scores > 2.5)
    assert "so near the limit 10,000 judged records would not decide either" in found.words


def test_trials_of_generators_are_asked_for_as_before() -> None:
    rng = np.random.default_rng(1)
    members = np.arange(40) % 2 == 0
    scores = rng.normal(size=40)
    found = outcome(members, scores, scores > 0, dependence=None)
    assert found.words.endswith("more trials are needed")
