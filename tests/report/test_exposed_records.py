"""Audits of one release or model tell which records are exposed, on the page and as a file."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tapas.cli._outputs import verdict_values
from tapas.errors import ConfigError, TapasWarning
from tapas.report import AuditPage
from tapas.report._page_numbers import between
from tapas.report._page_records import records_tables
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Estimate,
    Findings,
    MIAttackSummary,
    decide,
    exposed_records,
    exposure_table,
    slice_metrics,
)
from tapas.stats import clopper_pearson

HOSTILE = "=cmd|'/C calc'!A0 <script>alert(1)</script>"


def judged(strength=2.0, size=300, attack="LiRA", **more):
    rng = np.random.default_rng(3)
    members = np.arange(size) % 2 == 0
    scores = strength * members + rng.normal(size=size)
    more = {"dependence": "one release"} | more
    return MIAttackSummary(members, scores > 1, scores, "M", attack, "D", "all", **more)


def columns(size=300):
    return {
        "source": np.where(np.arange(size) % 2 == 0, "members", "non_members"),
        "row": np.arange(size) // 2,
        "class": np.where(np.arange(size) % 3 == 0, HOSTILE, "b"),
        "correct": np.arange(size) % 5 > 0,
        "remark": [float("nan"), None, 1.5] * (size // 3),
    }


def record(*summaries, records=None):
    subject = AuditedSubject("Model", summaries=summaries, records=records)
    return AuditRecord("Audit", {}, "f" * 32, 1, (subject,))


def test_columns_about_records_survive_the_disk(tmp_path) -> None:
    found = record(judged(), records=columns())
    found.save(tmp_path)
    (again,) = AuditRecord.load(tmp_path).subjects
    assert again.records["row"] == [i // 2 for i in range(300)]
    assert again.records["correct"][:2] == [False, True]
    assert again.records["remark"][:3] == [None, None, 1.5]
    assert AuditRecord.load(tmp_path).to_json() == found.to_json()


def test_earlier_records_without_columns_still_load() -> None:
    content = json.loads(record(judged()).to_json())
    content["version"] = 1
    for subject in content["subjects"]:
        del subject["records"]
    with pytest.warns(TapasWarning, match="of an earlier format"):
        (subject,) = AuditRecord.from_json(json.dumps(content)).subjects
    assert subject.records is None


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ConfigError, match="one value per record"):
        AuditedSubject("Model", records={"a": [1, 2], "b": [1]})


def test_the_strongest_attack_orders_the_records() -> None:
    found = record(judged(0.1, attack="weak"), judged(), records=columns())
    (exposed,) = exposed_records(Findings(found))
    assert exposed.attack == "LiRA"
    assert (np.diff(exposed.table["score"]) <= 0).all()
    assert exposed.table["row"].tolist()[0] == exposed.table["record"][0] // 2
    assert exposed.slices["slice"].tolist() == ["all", "class", "class", "correct", "correct"]
    assert (exposed.slices["auc_low"] < exposed.slices["auc"]).all()


def test_records_that_do_not_fit_any_summary_are_left_out() -> None:
    assert exposed_records(Findings(record(judged()))) == []
    assert exposed_records(Findings(record(judged(), records=columns(30)))) == []
    by_target = judged(dependence="independent")
    assert exposed_records(Findings(record(by_target, records=columns()))) == []


def test_the_page_lists_exposed_records_and_a_file_lists_all(tmp_path) -> None:
    files = AuditPage(record(judged(), records=columns())).publish(tmp_path)
    names = ["report.html", "results.csv", "slices.csv", "exposure.csv"]
    assert [file.name for file in files] == names
    page, table = files[0], files[-1]
    text = page.read_text(encoding="utf-8")
    assert "The most exposed records" in text
    assert "<script>alert(1)" not in text
    assert "The 20 highest scores of 300 records" in text
    rows = pd.read_csv(table)
    assert len(rows) == 300
    assert rows.columns[:3].tolist() == ["subject", "attack", "read_reversed"]
    for safe in files[1:]:
        with safe.open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith("=") for cell in cells)


def test_results_and_slices_stand_in_files_beside_the_page(tmp_path) -> None:
    strong, weak = judged(), judged(0.1, attack="=weak")
    found = record(strong, weak, records=columns())
    AuditPage(found).publish(tmp_path)
    rows = pd.read_csv(tmp_path / "results.csv")
    assert rows["attack"].tolist() == ["LiRA", "'=weak"]
    told = verdict_values(found, decide(found))
    for row, result in zip(rows.to_dict("records"), told["results"], strict=True):
        for name in ("accuracy", "advantage", "auc", "precision", "recall", "tpr_at_low_fpr"):
            ends = (row[name], row[f"{name}_low"], row[f"{name}_high"])
            assert ends == pytest.approx(tuple(result[name].values()))
    assert rows["precision"].tolist() == [strong.precision, weak.precision]
    slices = pd.read_csv(tmp_path / "slices.csv")
    assert slices["slice"].tolist() == ["all", "class", "class", "correct", "correct"]
    of_class = strong.drawn(np.flatnonzero(np.arange(300) % 3 > 0))
    (row,) = slices[slices["value"] == "b"].to_dict("records")
    assert (row["subject"], row["attack"]) == ("Model", "LiRA")
    assert (row["precision"], row["recall"]) == (of_class.precision, of_class.recall)
    shown = AuditPage(found).html().partition("<h4>Slices</h4>")[2].partition("</table>")[0]
    assert f"{100 * of_class.precision:.1f}%" in shown
    low, high = clopper_pearson(round(100 * of_class.recall), 100, 1 - 0.05 / 5 / 2)
    assert (row["recall_low"], row["recall_high"]) == pytest.approx((low, high))


def test_the_most_exposed_of_each_class_are_told_to_machines_too(tmp_path) -> None:
    summary = judged()
    found = record(summary, records=columns())
    AuditPage(found).publish(tmp_path)
    (told,) = verdict_values(found, decide(found))["records"]
    members = [n for n in np.argsort(-summary.scores) if summary.labels[n]]
    first = [next(n for n in members if (n % 3 == 0) == hostile) for hostile in (True, False)]
    rows = told["most_exposed_of_class"]
    assert [row["class"] for row in rows] == [HOSTILE] * 3 + ["b"] * 3
    assert [rows[0]["record"], rows[3]["record"]] == first
    table = pd.read_csv(tmp_path / "exposure.csv")
    for _, part in table.groupby("class"):
        assert part["rank_in_class"].tolist() == list(range(1, len(part) + 1))
        assert part["rank"].is_monotonic_increasing


def test_a_page_without_records_has_no_list_of_them(tmp_path) -> None:
    files = AuditPage(record(judged())).publish(tmp_path)
    assert [file.name for file in files] == ["report.html", "results.csv"]


def test_the_axes_of_histograms_are_named_inside_the_picture() -> None:
    html = AuditPage(record(judged(), records=columns())).html()
    for name in ("privacy risk (%)", "place in the order of the attack, 100: most exposed"):
        (picture,) = (p for p in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if name in p)
        height = re.search(r'viewBox="0 0 \S+ (\S+)"', picture)
        place = re.search(rf'<text x="\S+" y="(\S+)"[^>]*>{re.escape(name)}<', picture)
        assert height is not None
        assert place is not None
        assert float(place[1]) < float(height[1]) - 5


def test_misses_are_counted_only_among_many_intervals() -> None:
    few, many = (AuditPage(record(*[judged(attack=f"A{i}") for i in range(n)])) for n in (2, 20))
    assert "one in twenty misses" not in few.html()
    assert "of 20 intervals, about one in twenty misses" in many.html()


@pytest.mark.parametrize(("strength", "turned"), [(2.0, False), (-2.0, True)])
def test_where_members_have_the_lower_scores_for_certain_these_come_first(
    strength, turned, tmp_path
) -> None:
    found = record(judged(strength), records=columns())
    (exposed,) = exposed_records(Findings(found))
    assert exposed.read_reversed is turned
    assert exposed.table["member"].head(50).mean() > 0.9
    assert exposed.table["privacy_risk"].iloc[0] > 0.8
    assert exposed.table["privacy_risk"].is_monotonic_decreasing
    assert exposed.table["false_positive_rate"].is_monotonic_increasing
    page = AuditPage(found)
    page.publish(tmp_path)
    told = pd.read_csv(tmp_path / "exposure.csv")
    assert told["member"].head(50).mean() > 0.9
    assert (told["read_reversed"] == turned).all()
    (said,) = verdict_values(found, decide(found))["records"]
    assert said["read_reversed"] is turned
    assert [row["row"] for row in said["most_exposed"]] == told["row"].head(20).tolist()
    assert sum(said["privacy_risk"]["members"][7:]) > sum(said["privacy_risk"]["others"][7:])
    assert ("The 20 lowest scores of 300 records" in page.html()) is turned
    assert ("Others as low" in page.html()) is turned
    assert "stand at the other end" not in page.html()


def test_a_score_that_may_rank_either_way_is_read_as_it_is() -> None:
    (exposed,) = exposed_records(Findings(record(judged(-0.1), records=columns())))
    assert not exposed.read_reversed
    assert (np.diff(exposed.table["score"]) <= 0).all()


def test_both_halves_are_read_the_same_way_round() -> None:
    known = AuditedSubject("Model", summaries=(judged(-2.0),), records=columns())
    whole = replace(known, other_half=known)
    (exposed,) = exposed_records(Findings(AuditRecord("A", {}, "f" * 32, 1, (whole,))))
    assert set(exposed.table["told"].head(50)) == {True, False}
    assert exposed.table["member"].head(100).mean() > 0.9
    assert (np.diff(exposed.table["false_positive_rate"]) >= 0).all()


def guesses(strength, attack="RuleBasedMIA"):
    """An attack that says yes or no, and nothing else."""
    found = judged(strength, attack=attack)
    decided = (found.scores > 1).astype(float)
    return MIAttackSummary(
        found.labels, decided > 0, decided, "M", attack, "D", "all", dependence="one release"
    )


def test_where_no_leak_is_shown_the_list_is_of_an_attack_that_tells_records_apart() -> None:
    rng = np.random.default_rng(1)
    members = np.arange(300) % 2 == 0
    blind = rng.normal(size=300)
    nothing = MIAttackSummary(
        members, blind > 0, blind, "M", "LossMIA", "D", "all", dependence="one release"
    )
    found = Findings(record(guesses(0.1), nothing, records=columns()))
    assert not found.leaks
    assert found.best.own.attack == "RuleBasedMIA"
    (exposed,) = exposed_records(found)
    assert exposed.attack == "LossMIA"
    assert set(exposed.slices["attack"]) == {"RuleBasedMIA"}


def test_what_shows_a_leak_is_not_given_up_for_scores_that_show_none() -> None:
    found = Findings(record(guesses(2.0), judged(0.0, attack="LossMIA"), records=columns()))
    assert found.leaks
    (exposed,) = exposed_records(found)
    assert exposed.attack == "RuleBasedMIA"
    tied = int((exposed.table["score"] == 1).sum())
    assert exposed.table["same_score"].iloc[0] == tied
    page = AuditPage(found.record).html()
    assert "Same score" in page
    assert "Same score" not in AuditPage(record(judged(), records=columns())).html()
    both = Findings(record(guesses(2.0), judged(1.0, attack="LossMIA"), records=columns()))
    assert both.best.own.attack == "RuleBasedMIA"
    (exposed,) = exposed_records(both)
    assert exposed.attack == "LossMIA"


def test_many_copies_at_one_score_do_not_make_an_attack_unable_to_rank() -> None:
    members = np.arange(300) % 2 == 0
    rng = np.random.default_rng(2)
    scores = np.where(members & (np.arange(300) < 120), 0.0, -1 - rng.random(300))
    near = MIAttackSummary(
        members, scores > -1, scores, "M", "Near", "D", "all", dependence="one release"
    )
    both = Findings(record(near, judged(0.5, attack="weaker"), records=columns()))
    (exposed,) = exposed_records(both)
    assert exposed.attack == "Near"


def test_the_risk_of_a_record_stands_with_its_interval() -> None:
    found = record(judged(), records=columns())
    (one,) = records_tables(exposed_records(Findings(found)))
    cell = one.rows[0][one.columns.index("Risk")]
    (exposed,) = exposed_records(Findings(found))
    low, high = exposed.table.iloc[0][["privacy_risk_low", "privacy_risk_high"]]
    assert cell.note == between(Estimate(0.9, low, high), share=True)[1]
    assert not any("privacy risk" in name for name in one.columns)


def test_what_is_told_of_the_strongest_attack_allows_for_having_picked_it() -> None:
    """Of six attacks that see nothing one looks good; its slices excluded guessing in 15 %."""
    rng = np.random.default_rng(0)
    members = np.arange(200) % 2 == 0
    draws = [rng.normal(size=200) for _ in range(6)]
    blind = [
        MIAttackSummary(members, one > 0, one, "M", f"A{n}", "D", "all", dependence="one release")
        for n, one in enumerate(draws)
    ]
    classes = np.where(np.arange(200) % 3 == 0, "a", "b")
    (one,) = exposed_records(Findings(record(*blind, records={"class": classes})))
    picked = next(summary for summary in blind if summary.attack == one.attack)
    alone = exposure_table(picked, confidence=1 - 0.05 / 6)
    for end in ("false_positive_rate_high", "privacy_risk_low", "privacy_risk_high"):
        assert one.table[end].tolist() == pytest.approx(alone[end].tolist())
    expected = slice_metrics(picked, {"class": classes}, confidence=1 - 0.05 / 6 / 3)
    assert one.slices["auc_low"].tolist() == pytest.approx(expected["auc_low"].tolist())
