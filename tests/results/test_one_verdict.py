"""Whether a leak is found at all is one statement, whatever could have shown it."""

import numpy as np
import pytest

from tapas.report import AuditPage
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Findings,
    MIAttackSummary,
    decide,
    holds_together,
)


def record(scores: np.ndarray, labels: np.ndarray) -> AuditRecord:
    summary = MIAttackSummary(labels, scores > 0, scores, "G", "A", "D", "7")
    return AuditRecord("Audit", {}, "f00", 0, (AuditedSubject("G", "audited", (summary,)),))


def nearly_shown(surely: int = 0) -> AuditRecord:
    """An AUC that differs from one half at 95 %, and not at 97.5 %; some are told for certain."""
    labels = np.tile([1, 0], 200)
    for seed in range(200):
        scores = np.random.default_rng(seed).normal(size=400) + 0.2 * (labels if not surely else 0)
        scores[: 2 * surely : 2] = 9.0
        found = record(scores, labels)
        facts = Findings(found).audited[0].shared
        if facts.auc.low > 0.5 >= facts.at(0.975).auc.low:
            return found
    pytest.fail("no such trials were drawn")


def test_one_measure_alone_does_not_make_the_verdict() -> None:
    found = nearly_shown()
    findings = Findings(found)
    assert findings.ways == 2  # scores, and a certificate
    assert findings.verdict_confidence == pytest.approx(0.975)
    assert not findings.leaks
    words = " ".join(AuditPage(found).words)
    assert "No attack did reliably better than guessing" in words
    assert "One measure by itself excludes guessing with 95% confidence" in words
    assert any("97.5%" in sentence for sentence in holds_together(findings, decide(found)))


def test_where_a_certificate_alone_shows_the_leak_other_measures_are_not_said_to_be_guessing() -> (
    None
):
    found = nearly_shown(surely=20)
    findings = Findings(found)
    assert findings.leaks
    assert findings.shown_by_certificate
    words = " ".join(AuditPage(found).words)
    assert "no better than guessing" not in words
    assert "What shows the leak for certain is where attacks are surest" in words
