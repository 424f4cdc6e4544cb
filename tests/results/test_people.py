"""Exposure over people: known areas, known p-values, and attacks that say the same of everybody."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from tapas.errors import ConfigError
from tapas.metrics import auc, column_aucs
from tapas.report import AuditPage, _page_people
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Gate,
    MIAttackSummary,
    compare_records,
    constant_scores,
    decide,
    summary_facts,
)
from tapas.results import exposed_people as exposed
from tapas.results._mean_area import difference_of_means, mean_area
from tapas.results._people import mean_over_people
from tapas.stats import mean_auc_influences


def summary(rng: np.random.Generator, shift: float, target: str, **about: Any) -> MIAttackSummary:
    members = np.tile([True, False], 100)
    scores = rng.normal(size=200) + shift * members
    about = {"groups": np.arange(200), "attack_info": "ours", **about}
    return MIAttackSummary(members, scores > 0, scores, target_id=target, **about)


def record(summaries: list[MIAttackSummary]) -> AuditRecord:
    subject = AuditedSubject("gen", summaries=tuple(summaries), trials={"test": 200})
    return AuditRecord("t", {}, "f", 0, (subject,))


def test_areas_of_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(0)
    scores, positive = rng.integers(0, 5, (30, 4)).astype(float), rng.random((30, 4)) < 0.5
    positive[:, 3] = True
    found = column_aucs(scores, positive)
    for column in range(3):
        assert found[column] == pytest.approx(auc(positive[:, column], scores[:, column]))
    assert np.isnan(found[3])


def test_the_exposed_are_told_from_the_others() -> None:
    rng = np.random.default_rng(2)
    shifts = [1.5] * 4 + [0.0] * 16
    (people,) = exposed(record([summary(rng, s, f"p{n}") for n, s in enumerate(shifts)]))
    assert people.num_exposed == 4
    assert set(people.table["target"][:4]) == {"p0", "p1", "p2", "p3"}
    expected = (4 * norm.cdf(1.5 / np.sqrt(2)) + 16 * 0.5) / 20
    assert people.mean.low < expected < people.mean.high
    assert "Of 20 people in gen, 4 are exposed" in people.words()


def test_who_is_ranked_last_for_certain_is_exposed_as_well() -> None:
    found = []
    for shift in (1.5, -1.5):
        rng = np.random.default_rng(2)
        shifts = [shift] * 4 + [0.0] * 16
        (people,) = exposed(record([summary(rng, s, f"p{n}") for n, s in enumerate(shifts)]))
        found.append(people.num_exposed)
        assert set(people.table["target"][:4]) == {"p0", "p1", "p2", "p3"}
    assert found == [4, 4]
    table = people.table
    assert (table["auc"][:4] < 0.2).all()
    assert ((table["low"] <= table["either_way"]) & (table["either_way"] <= table["high"])).all()
    assert "4 have an AUC above 0.5" in people.words()
    assert "each AUC read whichever way round tells more" in people.words()


def test_what_ranks_limits_and_certificates_say_of_people_need_not_agree() -> None:
    rng = np.random.default_rng(2)
    (people,) = exposed(record([summary(rng, 0.0, f"p{n}") for n in range(8)]))
    assert people.num_exposed == 0
    assert "err in up to" not in people.words()
    table = people.table.assign(epsilon=[0.4, *[0.0] * 7])
    words = replace(people, table=table).words()
    assert words.startswith(
        "Of 8 people in gen, 0 are exposed by how attacks rank trials (95% confidence about all "
        "of them), and at least 1 by a certified epsilon above 0 (95% by itself). "
    )
    assert "By limits, at least 1 has an epsilon above 0 (" in words
    assert "These counts name nobody." in words
    assert words.endswith("one of the three may err in up to 15% of audits.")


def test_every_mark_of_the_picture_lies_in_its_band(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, drawn = np.random.default_rng(2), []
    monkeypatch.setattr(_page_people, "inline_svg", lambda figure, *_: drawn.append(figure) or "")
    shifts = np.linspace(-2, 2, 20)
    found = exposed(record([summary(rng, s, f"p{n}") for n, s in enumerate(shifts)]))
    (figure,) = _page_people.people_figures(found)
    (axes,) = drawn[0].axes
    marks = np.concatenate([line.get_xydata() for line in axes.lines[1:]])
    marks = marks[np.argsort(marks[:, 0])]
    (band,) = axes.collections[0].get_paths()
    assert [place for place, _ in marks] == list(range(1, 21))
    assert band.contains_points(marks).all()
    assert (np.diff(marks[:, 1]) >= 0).all()
    assert "whichever way round" in figure.caption


def test_people_share_the_error_with_earlier_looks_and_other_subjects() -> None:
    rng = np.random.default_rng(5)
    shifts = [0.55] * 6 + [0.0] * 4
    once = [summary(rng, s, f"p{n}") for n, s in enumerate(shifts)]
    (first,) = exposed(record(once))
    (later,) = exposed(record([one.sharing(0.05) for one in once]))
    assert later.num_exposed < first.num_exposed
    assert later.mean.low < first.mean.low
    subject = record(once).subjects[0]
    both = exposed(AuditRecord("t", {}, "f", 0, (subject, replace(subject, name="other"))))
    assert (both[0].table["p_value"] >= first.table["p_value"]).all()
    assert both[0].mean.low < first.mean.low


def test_nobody_is_exposed_where_nothing_leaks() -> None:
    wrong = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        (people,) = exposed(record([summary(rng, 0.0, f"p{n}") for n in range(10)]))
        wrong += people.num_exposed > 0
    assert wrong <= 4  # more in one of 1,000 at 5 %


def test_several_attacks_share_the_error() -> None:
    rng = np.random.default_rng(1)
    one = [summary(rng, 0.4, f"p{n}") for n in range(6)]
    other = [summary(rng, 0.0, f"p{n}", attack_info="other") for n in range(6)]
    (alone,), (both,) = exposed(record(one)), exposed(record([*one, *other]))
    assert both.attack == alone.attack == "ours"
    assert (both.table["p_value"] >= alone.table["p_value"]).all()
    assert both.mean.high - both.mean.low > alone.mean.high - alone.mean.low


def test_few_people_or_records_of_one_release_are_not_people() -> None:
    rng = np.random.default_rng(1)
    assert exposed(record([summary(rng, 1.0, "a"), summary(rng, 1.0, "b")])) == []
    together = [summary(rng, 1.0, f"p{n}", dependence="one release") for n in range(6)]
    assert exposed(record(together)) == []


def test_a_score_that_never_changes_is_a_warning_on_the_page() -> None:
    rng = np.random.default_rng(1)
    members = np.tile([True, False], 20)
    mute = MIAttackSummary(
        members, members, np.zeros(40), groups=np.arange(40), attack_info="blind", target_id="p"
    )
    (said,) = constant_scores(record([mute, summary(rng, 1.0, "p")]))
    assert "blind gave all trials of gen the same score for every target" in said
    page = AuditPage(record([mute, summary(rng, 1.0, "p")]))
    assert any("blind gave all trials" in sentence for sentence in page.words)
    assert "blind gave all trials" in page.html()


def test_the_page_has_a_picture_and_a_list_of_people(tmp_path: Any) -> None:
    rng = np.random.default_rng(1)
    page = AuditPage(record([summary(rng, 0.5, f"=p{n}") for n in range(6)]))
    files = {path.name: path for path in page.publish(tmp_path)}
    assert "How exposure is spread over people" in files["report.html"].read_text(encoding="utf-8")
    lines = files["people.csv"].read_text(encoding="utf-8").splitlines()
    assert lines[0] == "subject,attack,target,auc,either_way,low,high,epsilon,p_value"
    assert len(lines) == 7
    assert all("'=p" in line for line in lines[1:])


def test_at_least_so_many_people_are_above_a_level() -> None:
    rng = np.random.default_rng(4)
    shifts = [5.0] * 3 + [1.5] * 3 + [0.0] * 4
    one = record([summary(rng, s, f"p{n}") for n, s in enumerate(shifts)])
    (people,) = exposed(one)
    level = 1 - 0.05 / 10
    lows = sorted(summary_facts(s, confidence=level).auc.low for s in one.subjects[0].summaries)
    assert sorted(people.table["low"]) == pytest.approx([max(low, 0.5) for low in lows])
    counts = {(what, at): count for count, what, at in people.statements}
    assert counts["auc", 0.5] == 6
    assert counts["auc", 0.9] == 3
    assert counts["epsilon", 0.0] >= counts["epsilon", 1.0] >= 3
    assert "6 have an AUC above 0.5" in people.words()


@pytest.mark.parametrize(
    ("at_most", "above", "state"),
    [(0.5, 0.6, "fail"), (0.7, 0.5, "inconclusive"), (0.7, 0.8, "pass"), (0.2, 0.995, "pass")],
)
def test_a_gate_limits_the_share_of_people_who_are_exposed(
    at_most: float, above: float, state: str
) -> None:
    rng = np.random.default_rng(4)
    found = record([summary(rng, 2.0 * (n < 6), f"p{n}") for n in range(10)])
    verdict = decide(found, [Gate("exposed_people", at_most, above=above)])
    assert verdict.outcomes[0].state == state, verdict.outcomes[0].words
    few = record([summary(rng, 2.0, "a")])
    assert decide(few, [Gate("exposed_people", 0.5)]).state == "inconclusive"
    with pytest.raises(ConfigError, match="at most 1"):
        Gate("exposed_people", 2.0)


@pytest.mark.parametrize("silent", [True, False])
def test_people_whose_scores_are_missing_where_they_are_inside_are_exposed(silent: bool) -> None:
    """Ranked below all others the missing ones make up for what the others tell, not above."""
    rng, found = np.random.default_rng(0), []
    members = np.tile([True, False], 100)
    for number in range(6):
        scores = rng.normal(size=200) + 0.45 * members
        scores[members & (np.arange(200) < 40)] = np.nan if silent else -9.0
        about = {"groups": np.arange(200), "attack_info": "ours", "target_id": f"p{number}"}
        found.append(MIAttackSummary(members, scores > 0, scores, **about))
    gate = Gate("exposed_people", 0.5, above=0.64)
    (outcome,) = decide(record(found), [gate]).outcomes
    (people,) = exposed(record(found))
    table = people.table
    assert ((table["low"] <= table["either_way"]) & (table["either_way"] <= table["high"])).all()
    if silent:
        assert outcome.state != "pass"
        assert "120 trials without a score count as ranked below and above" in outcome.words
        assert people.num_exposed > 0
        assert (table["either_way"] > 0.6).all()
    else:
        assert outcome.state == "pass"
        assert "without a score" not in outcome.words
        assert people.num_exposed == 0


@pytest.mark.slow
def test_counts_of_people_are_too_high_no_more_often_than_stated() -> None:
    """Ten people of AUC .62, ten of .5: more than ten above .5, or any above .62, is wrong."""
    area, wrong, audits = norm.cdf(0.43 / np.sqrt(2)), 0, 1000
    for seed in range(audits):
        rng = np.random.default_rng(seed)
        (people,) = exposed(record([summary(rng, 0.43 * (n < 10), f"p{n}") for n in range(20)]))
        wrong += people.at_least("low", 0.5) > 10 or people.at_least("low", area) > 0
    assert wrong / audits <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / audits)


def test_a_control_of_which_nothing_can_be_told_is_no_reason_for_a_warning() -> None:
    members = np.tile([True, False], 10)
    mute = MIAttackSummary(members, members, np.zeros(20), "G", "A", "D", "p")
    control = AuditedSubject("control", "control", (mute,))
    spoken = AuditedSubject("gen", "audited", (summary(np.random.default_rng(0), 1.0, "p"),))
    assert constant_scores(AuditRecord("t", {}, "f", 0, (spoken, control))) == []


def test_the_mean_over_people_covers_its_value_far_out_as_well() -> None:
    """Of many attacks each has a small error; half of what it scores hangs on the release."""
    missed = 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        members, release = rng.random((40, 5)) < 0.5, rng.random((40, 1))
        scores = release + rng.random((40, 5))
        mean = mean_area(*mean_auc_influences(scores, members, np.arange(40)), 0.99)
        missed += not mean.low <= 0.5 <= mean.high
    assert 5 <= missed <= 34  # 20 expected; resampling missed 29


def test_the_mean_over_people_covers_its_value() -> None:
    """People of known exposure, judged from the same releases: how often it misses."""
    shifts = np.linspace(0, 2, 6)
    expected = norm.cdf(shifts / np.sqrt(2)).mean()
    missed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        people = tuple(summary(rng, shift, f"p{n}") for n, shift in enumerate(shifts))
        subject = AuditedSubject("gen", summaries=people)
        found = mean_over_people(subject, people[0].attack, 0.9)
        assert found is not None
        number, mean = found
        assert number == len(shifts)
        missed += not mean.low <= expected <= mean.high
    assert 8 <= missed <= 33  # 20 expected; beyond these less than once in 500


def test_the_mean_over_people_keeps_a_width_where_everybody_is_told_every_time() -> None:
    people = [summary(np.random.default_rng(n), 100.0, f"p{n}") for n in range(6)]
    (found,) = exposed(record(people))
    _, mean = mean_over_people(record(people).subjects[0], "ours", 0.95)
    for one in (found.mean, mean):
        assert (one.value, one.high) == (1, 1)
        assert one.low == pytest.approx(0.025 ** (1 / 100))  # of pairs of releases


@pytest.mark.parametrize("area", [0.9, 0.99])
@pytest.mark.parametrize("releases", [20, 60])
def test_means_over_people_cover_their_value_near_one_and_from_few_releases(area, releases) -> None:
    rng = np.random.default_rng(0)
    shift, missed, games = np.sqrt(2) * norm.ppf(area), 0, 300
    for _ in range(games):
        positive = rng.permuted(np.arange(releases * 5).reshape(releases, 5) % 2 == 0, axis=0)
        scores = rng.normal(size=positive.shape) + shift * positive
        found = mean_area(*mean_auc_influences(scores, positive, np.arange(releases)), 0.95)
        missed += not found.low <= area <= found.high
    assert missed / games <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / games)


@pytest.mark.parametrize("people", [4, 8, 20])
@pytest.mark.parametrize("area", [0.5, 0.85])
def test_means_over_people_cover_their_value_where_a_secret_comes_up_once_or_twice(
    people: int, area: float
) -> None:
    """A value that one in ten has, 40 trials, scores that hang half on the release."""
    shift, games, missed = np.sqrt(2) * norm.ppf(area), 2000, {0.95: 0, 0.999: 0}
    for seed in range(games):
        rng = np.random.default_rng(seed)
        positive = rng.random((40, people)) < 0.1
        scores = rng.normal(size=(40, 1)) + rng.normal(size=(40, people))
        found = mean_auc_influences(scores / np.sqrt(2) + shift * positive, positive, np.arange(40))
        for level in missed:
            mean = mean_area(*found, level)
            missed[level] += not mean.low <= area <= mean.high
    for level, count in missed.items():
        assert count / games <= 1 - level + 3 * np.sqrt(level * (1 - level) / games), level


def test_comparisons_rank_trials_without_a_score_below_and_above() -> None:
    """Ranked below all others, the missing ones make up for what the others tell."""
    rng, members = np.random.default_rng(0), np.tile([True, False], 100)
    records = []
    for silent in (False, True):
        found = []
        for number in range(6):
            scores = rng.normal(size=200) + 0.45 * silent * members
            scores[members & (np.arange(200) < 40)] = np.nan if silent else 0.0
            about = {"groups": np.arange(200), "attack_info": "ours", "target_id": f"p{number}"}
            found.append(MIAttackSummary(members, scores > 0, scores, **about))
        records.append(record(found))
    _, mean = mean_over_people(records[1].subjects[0], "ours", 0.95)
    assert mean.low > 0.5
    changes = compare_records(records).changes
    over_people = [change for change in changes if change.kind == "mean"]
    assert [change.state for change in over_people] == ["worse"]
    assert all(change.after.value > 0.55 for change in changes if change.kind == "same")
    (people,) = exposed(records[1])
    assert max(people.mean.value, 1 - people.mean.value) == pytest.approx(mean.value)


def test_learning_that_adds_nothing_is_seldom_said_to_go_on() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(200):
        positive = rng.random((20, 5)) < 0.5
        before, after = [
            mean_auc_influences(rng.normal(size=(20, 5)), positive, np.arange(20)) for _ in range(2)
        ]
        more, parts = after.mean - before.mean, after.parts - before.parts
        found += difference_of_means(more, parts, after.degrees, 0.95).low > 0
    assert found <= 5 + 3 * np.sqrt(5)
