"""Whether a leak is found at all is one statement, whatever could have shown it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tapas.cli._outputs import verdict_values
from tapas.errors import TapasWarning
from tapas.report import AuditPage
from tapas.report._page_banner import banner, verdict_words
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Claim,
    Findings,
    Gate,
    MIAttackSummary,
    decide,
    gates_words,
    holds_together,
    summary_facts,
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
    assert words.startswith("Not settled: The AUC by itself excludes guessing with 95%")
    assert "more trials would settle whether anything leaks" in words
    assert "No attack did reliably better" not in words
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


def about_people(shifts: list[float], trials: int, seed: int = 0) -> AuditRecord:
    rng, labels = np.random.default_rng(seed), np.tile([1, 0], trials // 2)
    scores = [rng.normal(size=trials) + shift * labels for shift in shifts]
    told = [
        MIAttackSummary(labels, one > 0, one, "G", "A", "D", f"p{n}")
        for n, one in enumerate(scores)
    ]
    return AuditRecord("Audit", {}, "f00", 0, (AuditedSubject("G", "audited", tuple(told)),))


@pytest.mark.parametrize(
    ("shifts", "trials", "words"),
    [
        ([0.7] * 40, 20, "A has a mean AUC of 0.6"),
        ([3.0] + [0.0] * 99, 24, "trials about 1 of 100 people are ranked too well"),
    ],
)
def test_a_leak_that_only_many_people_together_show_is_a_leak(
    shifts: list[float], trials: int, words: str
) -> None:
    for seed in range(40):
        found = about_people(shifts, trials, seed)
        findings = Findings(found)
        if findings.shown_of_people and not findings.shown_by_scores:
            break
    assert findings.ways == 4  # scores, a certificate, the mean over people, their p-values
    assert findings.leaks
    said = " ".join(AuditPage(found).words)
    assert said.startswith("Leak found: Attacks do reliably better than guessing")
    assert words in said
    assert "No attack did" not in said
    assert "not shown to do better" not in said
    together = " ".join(holds_together(findings, decide(found)))
    assert "the certificate or by the mean over people or by the p-values of people" in together


def test_the_mean_over_people_and_its_interval_are_told_once() -> None:
    """Ends were rounded outwards in one sentence, and to the nearest in the other."""
    said = " ".join(AuditPage(about_people([0.7] * 40, 20, 0)).words)
    means = re.findall(r"A has a mean AUC of (\S+ \(.*?\))", said)
    assert len(means) == 2
    assert len(set(means)) == 1


def test_where_nothing_leaks_many_people_together_show_nothing() -> None:
    leaks = sum(Findings(about_people([0.0] * 6, 12, seed)).leaks for seed in range(40))
    assert leaks <= 5  # more in one of 70 at 5 %
    words = " ".join(AuditPage(about_people([0.0] * 6, 10)).words)
    assert words.startswith("No leak shown")
    assert "With so few trials even a complete leak about one person would have been" in words


def test_the_epsilon_of_every_result_holds_with_the_rest() -> None:
    labels = np.tile([1, 0], 20)
    summaries = tuple(
        MIAttackSummary(labels, labels, labels * 1.0, "G", name, "D", "7") for name in "ABC"
    )
    found = AuditRecord("A", {}, "f", 0, (AuditedSubject("G", "audited", summaries),))
    alone, shared = (
        float(summary_facts(summaries[0], confidence=level).epsilon)
        for level in (0.95, 1 - 0.05 / 3)
    )
    assert shared < alone
    told = verdict_values(found, decide(found))["results"]
    assert [one["epsilon_over_all"] for one in told] == [pytest.approx(shared)] * 3
    assert not any("epsilon_at_least" in one for one in told)


def test_a_contradicted_claim_does_not_stand_beside_no_leak() -> None:
    labels = np.tile([1, 0], 200)
    for seed in range(200):
        scores = np.random.default_rng(seed).normal(size=400) + 0.35 * labels
        found = record(scores, labels)
        findings = Findings(found)
        if findings.epsilon > 0 and not findings.found_by_attack:
            break
    claimed = AuditRecord("A", {}, "f", 0, found.subjects, claim=Claim(0.0))
    words = " ".join(AuditPage(claimed).words)
    assert words.startswith("Claim contradicted")
    assert "by itself excludes guessing with 95% confidence" in words
    assert "No attack did reliably better" not in words
    page = AuditPage(claimed).html()
    assert "fails only if the claimed guarantee is contradicted" in page
    assert "all 1 audited" not in page


def test_missing_scores_are_told_by_attack_and_a_gate_gives_one_reason() -> None:
    labels, scores = np.tile([1, 0], 20), np.linspace(0, 1, 40)
    scores[:7] = np.nan
    summary = MIAttackSummary(labels, np.zeros(40, int), scores, "G", "Nans", "D", "7")
    found = AuditRecord("A", {}, "f", 0, (AuditedSubject("G", "audited", (summary,)),))
    words = " ".join(AuditPage(found).words)
    with pytest.warns(TapasWarning, match="AUC of Nans against target 7 is NaN: 7 of its 40"):
        assert np.isnan(summary.auc)
    assert "Warning: Nans gave no score (NaN) in 7 of 40 trials of G" in words
    (outcome,) = decide(found, [Gate("precision", 0.9)]).outcomes
    assert outcome.words == "precision is not defined for Nans on target 7 (no guess was positive)"


def test_a_page_that_contradicts_a_claim_does_not_say_that_nothing_is_settled() -> None:
    """A bound that holds whenever trials end shows the leak, whatever other intervals show."""
    labels = np.tile([1, 0], 200)
    blind = record(np.random.default_rng(0).normal(size=400), labels)
    for found in (blind, nearly_shown()):
        ended = replace(found, claim=Claim(0.5), stopped="A contradicted it", contradicted=True)
        findings = Findings(ended)
        assert findings.leaks
        words = " ".join(AuditPage(ended).words)
        assert words.startswith("Claim contradicted")
        assert "What shows the leak for certain is the bound that contradicts the claim" in words
        assert "No attack did reliably better" not in words
        assert "whether anything leaks" not in words


def test_a_claim_that_only_the_certificate_by_itself_contradicts_is_said_to_be_so() -> None:
    for seed in range(400):
        labels = np.tile([1, 0], 60)
        scores = np.random.default_rng(seed).normal(size=120) + 0.4 * labels
        found = replace(record(scores, labels), claim=Claim(0.0))
        findings = Findings(found)
        if findings.claim.state == "contradicted" and not findings.leaks:
            break
    words = " ".join(AuditPage(found).words)
    assert "by itself excludes guessing with 95% confidence, and contradicts the claim" in words
    assert "would settle whether anything leaks" not in words


def test_how_often_gates_err_is_said_of_each_and_of_any() -> None:
    found = nearly_shown()
    one, several = (
        replace(found, gates=gates)
        for gates in (
            (Gate("auc", 0.9), Gate("dropped_columns", 0)),
            (Gate("auc", 0.9), Gate("advantage", 0.9, confidence=0.9)),
        )
    )
    alone = gates_words(Findings(one), decide(one))
    assert alone == "The gate passes or fails wrongly in at most 5% of audits."
    words = gates_words(Findings(several), decide(several))
    assert "Each gate by itself passes or fails wrongly in at most 5% or 10% of audits" in words
    assert "any of these 2 may do so in up to 15%" in words
    told = verdict_values(several, decide(several))
    assert told["gates_words"] == words
    assert words in told["holds_together"]
    assert words in AuditPage(several).html()
    assert gates_words(Findings(found), decide(found)) == ""


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        (0.6, "A leak is found all the same: attacks do reliably better than guessing."),
        (0.0, "No leak is shown for certain."),
    ],
)
def test_where_limits_are_open_the_verdict_says_whether_something_leaks(
    shift: float, said: str
) -> None:
    labels = np.tile([1, 0], 200)
    scores = np.random.default_rng(3).normal(size=400) + shift * labels
    found = record(scores, labels)
    auc = Findings(found).audited[0].shared.auc
    gated = replace(found, gates=(Gate("auc", (auc.value + auc.high) / 2),))
    assert decide(gated).state == "inconclusive"
    banner = AuditPage(gated).words[0]
    assert banner.startswith("Inconclusive: ")
    assert banner.endswith(said)


def test_a_limit_that_is_kept_hides_no_leak() -> None:
    """An AUC over all records is within the limit where few records are told for certain."""
    scores = np.random.default_rng(5).normal(size=2000)
    scores[:20] += 10
    labels = np.arange(2000) < 1000
    few = MIAttackSummary(labels, scores > 0, scores, "G", "A", "D", "7", dependence="one release")
    found = AuditRecord("Audit", {}, "f00", 0, (AuditedSubject("G", "audited", (few,)),))
    gated = replace(found, gates=(Gate("auc", 0.65),))
    verdict = decide(gated)
    assert verdict.state == "pass"
    said = (
        "Pass: The gate passed. A leak is found all the same: few records stand out beyond chance "
        "by the highest scores of an attack."
    )
    told = verdict_values(gated, verdict)
    assert AuditPage(gated).words[0] == told["sentences"][0] == said
    assert told["leaks"] is True
    assert banner(Findings(gated), verdict).tone == "open"
    assert verdict_words({"state": "pass", "leaks": True}) == "pass; leak found"


def test_a_limit_that_is_kept_is_all_that_is_said_where_nothing_leaks() -> None:
    labels = np.tile([1, 0], 200)
    found = record(np.random.default_rng(3).normal(size=400), labels)
    gated = replace(found, gates=(Gate("auc", 0.65),))
    assert AuditPage(gated).words[0] == "Pass: The gate passed."
    assert verdict_values(gated, decide(gated))["leaks"] is False
    assert verdict_words({"state": "pass", "leaks": False}) == "pass"


def test_what_is_inconclusive_has_the_mark_of_what_is_open_though_something_leaks() -> None:
    labels = np.tile([1, 0], 200)
    found = record(np.random.default_rng(3).normal(size=400) + 0.6 * labels, labels)
    auc = Findings(found).audited[0].shared.auc
    gated = replace(found, gates=(Gate("auc", (auc.value + auc.high) / 2),))
    findings, verdict = Findings(gated), decide(gated)
    assert (findings.leaks, verdict.state) == (True, "inconclusive")
    assert banner(findings, verdict).tone == "open"
