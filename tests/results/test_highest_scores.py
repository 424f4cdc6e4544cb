"""A leak of few records: the highest scores are members', and no AUC shows it."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tapas.cli._outputs import verdict_values
from tapas.errors import StatisticsError
from tapas.report import AuditPage
from tapas.report._page_tiles import tiles
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Findings,
    MIAttackSummary,
    decide,
    exposed_records,
)
from tapas.stats import auc_interval, excess_p_value, top_scores


def _record(leaking: int, attacks: int = 3, size: int = 1000, **about: Any) -> AuditRecord:
    rng = np.random.default_rng(5)
    members = np.arange(2 * size) < size
    found = []
    for number in range(attacks):
        scores = rng.normal(size=2 * size)
        if number == 1:
            scores[:leaking] += 10
        about = {"dependence": "one release", **about}
        found.append(
            MIAttackSummary(members, scores > 0, scores, "G", f"A{number}", "D", "all", **about)
        )
    subject = AuditedSubject("released", "audited", tuple(found))
    return AuditRecord("title", {}, "f00", 3, (subject,))


def test_p_values_are_those_of_all_ways_to_choose_members() -> None:
    scores = np.arange(14.0)
    every = []
    for chosen in itertools.combinations(range(14), 6):
        member = np.isin(np.arange(14), chosen)
        every.append(top_scores(scores[member], scores[~member]).p_value)
    for level in (0.01, 0.05, 0.2, 0.5):
        assert np.mean(np.array(every) <= level) <= level
    # All of the five highest are members': 9 of 3,003 choices, times four sizes and two sides.
    assert min(every) == pytest.approx(8 * 9 / 3003)


def test_equal_scores_count_as_those_of_non_members() -> None:
    found = top_scores([2.0] * 10 + [0.0] * 90, [2.0] * 3 + [0.0] * 97)
    assert (found.members, found.expected) == (found.size - 3, found.size / 2)
    one, other = [2.0] * 30 + [0.0] * 70, [2.0] * 3 + [0.0] * 97
    found, turned = top_scores(one, other), top_scores(other, one)
    assert (found.members, turned.members, found.size, turned.size) == (22, 3, 25, 25)
    assert turned.p_value == found.p_value < 0.01
    assert found.are_members
    assert not turned.are_members
    assert top_scores(np.ones(50), np.ones(50)).p_value == 1
    with pytest.raises(StatisticsError, match="both kinds"):
        top_scores([], [1.0])


def test_ten_records_of_a_thousand_are_found_and_told() -> None:
    record = _record(10)
    findings = Findings(record)
    assert findings.best.shared.auc.low < 0.5 < findings.best.shared.auc.high
    assert findings.surest.own.attack == "A1"
    assert findings.leaks
    page = " ".join(AuditPage(record).words)
    assert "of the 10 highest scores of A1 10 are those of private records, where 5" in page
    assert "No attack did" not in page
    shown = verdict_values(record, decide(record))["results"][1]["highest_scores"]
    assert shown["size"] == shown["members"] == 10
    assert shown["p_value"] < 0.01


def test_one_attack_is_meant_throughout_a_verdict() -> None:
    """That whose highest scores show the leak, though the AUC of another is further from 0.5."""
    record = replace(_record(10), question={"release": {}})
    (subject,) = record.subjects
    about = {"row": list(range(2000))}
    record = replace(record, subjects=(replace(subject, records=about),))
    findings = Findings(record)
    assert findings.farthest.own.attack != "A1"
    assert findings.best.own.attack == "A1"
    page = AuditPage(record)
    said = " ".join(page.words)
    assert "The one whose highest scores show a leak, A1, was right in" in said
    assert "nearest to showing" not in said
    numbers = {one["name"]: one["value"] for one in tiles(findings)}
    assert "Accuracy of A1" in numbers
    found = f"{100 * findings.surest.shared.tpr_at_low_fpr.value:.1f}%"
    assert numbers["Found at 1% false alarms"] == found != "0.0%"
    (exposed,) = exposed_records(findings)
    assert exposed.attack == "A1"
    html = page.html()
    assert "the result whose highest scores chance explains least" in html
    assert "furthest from guessing for certain" not in html


def test_ten_of_a_thousand_are_found_every_time_and_by_the_auc_hardly_ever() -> None:
    by_top, by_area = [], []
    for seed in range(40):
        members, others = np.random.default_rng(seed).normal(size=(2, 1000))
        members[:10] += 10
        by_top.append(top_scores(members, others).p_value <= 0.05)
        by_area.append(auc_interval(members, others).low > 0.5)
    assert np.mean(by_top) == 1
    assert np.mean(by_area) < 0.1


def test_nothing_is_said_where_chance_explains_it_or_inputs_may() -> None:
    assert Findings(_record(0)).surest is None
    assert "No attack did" in " ".join(AuditPage(_record(0)).words)
    told = np.where(np.arange(2000) < 1000, 1.0, 0.0)
    assert Findings(_record(40, inputs_alone=told)).surest is None
    assert Findings(_record(10, dependence="unknown")).surest is None


def test_of_a_model_more_is_asked_than_sides_that_differ_a_little_would_show() -> None:
    """Ten of ten may be of a kind that one side has more of, forty of forty hardly."""
    untold = np.full(2000, 0.5)
    assert Findings(_record(10, inputs_alone=untold)).surest is None
    record = _record(40, inputs_alone=untold)
    findings = Findings(record)
    assert findings.leaks
    assert not findings.shown_by_scores
    said = " ".join(AuditPage(record).words)
    assert "of the 25 highest scores of A1 25 are those of members, where 12.5 are expected" in said
    assert "even where such inputs are twice as likely on one side" in said
    assert "which no test can prove" in said


@pytest.mark.parametrize("odds", [1.0, 2.0, 3.5])
def test_odds_that_sides_may_have_are_allowed_for(odds: float) -> None:
    """Whoever is high is a member at those odds, and nobody leaks."""
    called = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=600)
        high = scores > np.quantile(scores, 0.9)
        members = rng.random(600) < np.where(high, odds / (1 + odds), 0.5)
        called += top_scores(scores[members], scores[~members], odds=odds).p_value <= 0.05
    assert called <= 400 * 0.05
    assert top_scores(scores[members], scores[~members], odds=1.0) == top_scores(
        scores[members], scores[~members]
    )


def test_p_values_with_odds_are_those_of_weighted_choices() -> None:
    """Each of all choices of members, by the product of the odds of the highest."""
    odds = 2.0
    chances, values = [], []
    for chosen in itertools.combinations(range(9), 4):
        member = np.isin(np.arange(9), chosen)
        chances.append(odds ** member[-5:].sum())
        values.append(int(member[-5:].sum()))
    found = np.average(np.array(values) >= 4, weights=chances)
    assert excess_p_value(4, 4, 1, 5, odds=odds) == pytest.approx(found)


def test_highest_scores_pay_for_earlier_looks() -> None:
    assert Findings(_record(10)).surest is not None
    later = _record(10, error_share=0.01)
    assert Findings(later).surest is None
    (first,), (again,) = (
        [one.own.surest for one in Findings(each).audited if one.own.attack == "A1"]
        for each in (_record(10), later)
    )
    assert again.p_value == pytest.approx(min(1.0, 100 * first.p_value))


def test_records_that_are_missing_among_the_highest_scores_are_a_leak_too() -> None:
    """As where released rows near private ones were taken out."""
    rng, members = np.random.default_rng(0), np.arange(2000) < 1000
    scores = rng.normal(size=2000)
    high = members & (scores > 1.7)
    scores[high] = rng.uniform(1.0, 1.7, high.sum())
    summary = MIAttackSummary(
        members, scores > 0, scores, "G", "A", "D", "all", dependence="one release"
    )
    subject = AuditedSubject("released", "audited", (summary,))
    record = AuditRecord("title", {}, "f00", 3, (subject,))
    findings = Findings(record)
    assert not findings.shown_by_scores
    top = findings.surest.own.surest
    assert (top.size, top.members, top.expected) == (50, 3, 25)
    page = " ".join(AuditPage(record).words)
    assert page.startswith("Leak found: Few records stand out beyond chance by the highest scores")
    assert "of the 50 highest scores of A 3 are those of private records, where 25" in page
    assert "Private records are missing where scores are highest" in page


@pytest.mark.slow
def test_highest_scores_are_called_as_rarely_as_stated() -> None:
    called = 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        members = rng.permutation(200) < 60
        summaries = tuple(
            MIAttackSummary(
                members, scores > 0, scores.round(1), "G", str(k), "D", dependence="one release"
            )
            for k, scores in enumerate(rng.normal(size=(4, 200)))
        )
        record = AuditRecord("n", {}, "f", 0, (AuditedSubject("r", "audited", summaries),))
        called += Findings(record).surest is not None
    print(f"highest scores: called in {called} of 2000 nulls")  # noqa: T201
    assert called <= 2000 * (0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000))
