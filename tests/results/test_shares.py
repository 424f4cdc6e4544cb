"""What is said of the share that a model in question is taken to have."""

import numpy as np

from tapas.results import (
    AuditedSubject,
    AuditRecord,
    BinaryLabelInferenceAttackSummary,
    Findings,
    MIAttackSummary,
    PropertyShares,
    ShareAnswer,
    decide,
    holds_together,
    shares_told,
)
from tapas.results._shares import _is_unlike
from tapas.stats import clopper_pearson

SHARES = (0.3, 0.7)


def test_a_model_like_the_test_models_is_called_unlike_as_often_as_is_said() -> None:
    rng, labels, runs = np.random.default_rng(0), [0] * 10 + [1] * 20, 1000
    found = 0
    for _ in range(runs):
        scores = rng.normal(size=31)
        summary = BinaryLabelInferenceAttackSummary(labels, labels, scores[:-1])
        found += _is_unlike(summary, SHARES, ShareAnswer("a", 0.7, (scores[-1],)))
    expected = runs * 2 / 21
    assert abs(found - expected) < 4 * np.sqrt(expected)


def test_of_few_test_models_nothing_is_said() -> None:
    summary = BinaryLabelInferenceAttackSummary([0] * 18 + [1], [0] * 18 + [1], np.zeros(19))
    assert not _is_unlike(summary, SHARES, ShareAnswer("a", 0.3, (9.0,)))


def _answered(attacks: int, error_share: float = 1.0) -> AuditedSubject:
    labels = np.tile([0, 1], 20)
    guesses = np.where(np.arange(40) < 8, 1 - labels, labels)
    summaries = tuple(
        MIAttackSummary(labels, guesses, guesses * 1.0, "G", f"A{n}", "D", error_share=error_share)
        for n in range(attacks)
    )
    answers = tuple(ShareAnswer(f"A{n}", 0.7, (0.5,)) for n in range(attacks))
    return AuditedSubject("G", summaries=summaries, shares=PropertyShares(SHARES, answers))


def test_how_often_answers_are_right_holds_for_all_of_them_together() -> None:
    for attacks, share in ((1, 1.0), (4, 1.0), (2, 0.1)):
        subject = _answered(attacks, share)
        ends = clopper_pearson(16, 20, 1 - 0.05 * share / attacks)
        low, high = (f"{100 * end:.0f}" for end in ends)
        told = shares_told([subject])
        assert len(told) == attacks
        assert all(f"16 had it ({low} to {high} %" in one.words() for one in told)
        record = AuditRecord("t", {}, "f", 0, (subject,))
        together = " ".join(holds_together(Findings(record), decide(record)))
        assert "takes the model in question to have holds together for all attacks" in together
