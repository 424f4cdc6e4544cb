"""Audits of one release or model tell which records are exposed, on the page and as a file."""

import csv
import json
import re

import numpy as np
import pandas as pd
import pytest

from tapas.errors import ConfigError, TapasWarning
from tapas.report import AuditPage
from tapas.results import AuditedSubject, AuditRecord, Findings, MIAttackSummary, exposed_records

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
    page, table = AuditPage(record(judged(), records=columns())).publish(tmp_path)
    assert (page.name, table.name) == ("report.html", "exposure.csv")
    text = page.read_text(encoding="utf-8")
    assert "The most exposed records" in text
    assert "<script>alert(1)" not in text
    assert "The 20 highest scores of 300 records" in text
    rows = pd.read_csv(table)
    assert len(rows) == 300
    assert rows.columns[:2].tolist() == ["subject", "attack"]
    with table.open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith("=") for cell in cells)


def test_a_page_without_records_is_one_file(tmp_path) -> None:
    assert len(AuditPage(record(judged())).publish(tmp_path)) == 1


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
