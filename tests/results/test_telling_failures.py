"""Failures are counted by secret, and named where chance does not explain that they differ."""

from math import comb
from typing import Any

import numpy as np
import pytest

from tapas.report import AuditPage
from tapas.results import (
    AIAttackSummary,
    AuditedSubject,
    AuditRecord,
    BinaryAIAttackSummary,
    Findings,
    TrialFailure,
    leaks_beside_failures,
    only_failures_tell,
    telling_failures,
)

TRIALS = 80


def findings(failed: list[int], shift: float = 0.0, **about: Any) -> Findings:
    """Every second trial has the positive secret, and failures rank highest."""
    positive = np.arange(TRIALS) % 2 == 0
    scores = np.random.default_rng(1).normal(size=TRIALS) + shift * positive
    scores[failed] = np.inf
    values = np.where(positive, "yes", "no")
    summary = BinaryAIAttackSummary(
        values,
        np.where(scores > 1, "yes", "no"),
        scores,
        sensitive_attribute="ill",
        attribute_values=("no", "yes"),
        positive_value="yes",
        attack_info="GroundhogAttack",
        target_id="7",
        **about,
    )
    failures = tuple(TrialFailure("test", index, "no") for index in failed)
    trials = {"train": 10, "test": TRIALS - len(failed)}
    subject = AuditedSubject("S", "audited", (summary,), failures, trials=trials)
    return Findings(AuditRecord("Audit", {}, "f" * 32, 1, (subject,)))


def test_failures_of_one_secret_only_tell_it() -> None:
    found = findings(list(range(0, 60, 2)))
    (one,) = telling_failures(found)
    assert (one.failed, one.trials, one.others_failed, one.others) == (30, 40, 0, 40)
    assert one.p_value == pytest.approx(2 * comb(40, 30) / comb(80, 30), abs=0)
    assert only_failures_tell(found)
    words = AuditPage(found.record).words
    assert (
        "“S” failed in 30 of 40 trials with one value of “ill” of target 7, and in 0 of 40 with "
        "the other: that alone tells the one from the other."
    ) in words
    assert any(
        sentence.startswith("The strongest attack, GroundhogAttack, sees") for sentence in words
    )


def test_few_failures_and_those_of_both_secrets_tell_nothing() -> None:
    assert telling_failures(findings([])) == []
    assert telling_failures(findings([0, 2, 4])) == []
    assert telling_failures(findings(list(range(40)))) == []


def test_what_is_told_in_the_other_trials_is_told_beside_failures() -> None:
    found = findings(list(range(0, 30, 2)), shift=5.0)
    assert telling_failures(found)
    assert leaks_beside_failures(found, found.audited[0])
    assert not only_failures_tell(found)


@pytest.mark.parametrize(("number", "tells"), [(5, False), (20, True)])
def test_of_pairs_those_count_of_which_one_trial_failed(number: int, tells: bool) -> None:
    both = [0, 1, 2, 3]
    alone = [4 + 2 * pair for pair in range(number)]
    found = findings([*both, *alone], groups=np.arange(TRIALS) // 2)
    assert bool(telling_failures(found)) == tells
    if tells:
        assert telling_failures(found)[0].p_value == pytest.approx(2 * 0.5**number, abs=0)


# -- secrets of three values ---------------------------------------------------------------------


def of_three(failed: np.ndarray, right: float = 0.0, seed: int = 1) -> Findings:
    """Values in turn; of trials that did not fail, this share is guessed right beyond chance."""
    rng = np.random.default_rng(seed)
    values = np.array(["a", "b", "c"])
    codes = np.arange(len(failed)) % 3
    guesses = np.where(rng.random(len(failed)) < right, codes, rng.integers(1, 3, len(failed)))
    scores = np.eye(3)[guesses]
    scores[failed] = [np.inf, -np.inf, -np.inf]
    summary = AIAttackSummary(
        values[codes],
        np.where(failed, "a", values[guesses]),
        scores,
        sensitive_attribute="ill",
        attribute_values=tuple(values),
        attack_info="GroundhogAttack",
        target_id="7",
    )
    failures = tuple(TrialFailure("test", int(row), "no") for row in np.flatnonzero(failed))
    trials = {"train": 10, "test": int((~failed).sum())}
    subject = AuditedSubject("S", "audited", (summary,), failures, trials=trials)
    return Findings(AuditRecord("Audit", {}, "f" * 32, 1, (subject,)))


def test_failures_for_one_of_three_values_tell_it_from_the_others() -> None:
    found = of_three(np.arange(120) % 3 == 0)
    (one,) = telling_failures(found)
    assert (one.failed, one.trials, one.others_failed, one.others) == (40, 40, 0, 80)
    assert one.num_values == 3
    assert one.p_value == pytest.approx(3 * 2 / comb(120, 40), rel=1e-6)
    assert only_failures_tell(found)


def test_of_what_is_left_the_best_guess_is_no_leak_and_more_is() -> None:
    """Without the value that fails, half of the guesses are right by chance and not a third."""
    failed = np.arange(240) % 3 == 0
    by_chance, seeing = of_three(failed), of_three(failed, right=0.6)
    assert not leaks_beside_failures(by_chance, by_chance.audited[0])
    assert leaks_beside_failures(seeing, seeing.audited[0])
    assert not only_failures_tell(seeing)


def test_failures_by_chance_seldom_tell_of_three_values() -> None:
    rng = np.random.default_rng(5)
    told = sum(bool(telling_failures(of_three(rng.random(90) < 0.3))) for _ in range(200))
    assert told <= 200 * 0.05 + 3 * np.sqrt(200 * 0.05 * 0.95)
