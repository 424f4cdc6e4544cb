"""The verdict for machines holds the claim and every fact that pages show."""

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from misbehaving import write_audit

from tapas.cli._main import run
from tapas.cli._outputs import verdict_values, write_json, write_junit
from tapas.report import AuditPage
from tapas.results import (
    MEASURES,
    AuditedSubject,
    AuditRecord,
    Claim,
    Gate,
    MIAttackSummary,
    decide,
)


def record(strength=3.0, **more):
    labels = np.tile([1, 0], 100)
    scores = strength * labels + np.random.default_rng(0).normal(size=200)
    dependence = more.pop("dependence", None)
    summary = MIAttackSummary(
        labels, scores > strength / 2, scores, "G", "A", "D", "7", dependence=dependence
    )
    subject = AuditedSubject("ours", summaries=more.pop("summaries", (summary,)))
    return AuditRecord("Audit", {}, "f" * 32, 1, (subject,), **more)


def junit(found, folder):
    path = folder / "verdict.xml"
    write_junit(path, found, decide(found))
    return ElementTree.parse(path).getroot()


@pytest.mark.parametrize(
    ("more", "claim", "state", "code", "inside"),
    [
        ({}, 0.5, "contradicted", 1, "failure"),
        ({}, 30.0, "unseen", 0, "skipped"),
        ({"strength": 0.0}, 1.0, "open", 0, "system-out"),
        ({"dependence": "one release"}, 0.5, "untested", 0, "skipped"),
    ],
)
def test_what_became_of_the_claim_is_told(more, claim, state, code, inside, tmp_path) -> None:
    found = record(claim=Claim(claim), **more)
    values = verdict_values(found, decide(found))
    assert (values["claim"]["state"], values["exit_code"]) == (state, code)
    assert values["claim"]["epsilon"] == claim
    suite = junit(found, tmp_path)
    (case,) = suite.iter("testcase")
    assert case.get("name") == f"claimed epsilon {claim:g}"
    assert [child.tag for child in case] == [inside]
    assert suite.get("failures") == str(int(code == 1))


def test_every_fact_is_in_the_json(tmp_path) -> None:
    found = record(gates=(Gate("auc", 0.9),))
    write_json(tmp_path / "verdict.json", found, decide(found))
    values = json.loads((tmp_path / "verdict.json").read_text(encoding="utf-8"))
    (result,) = values["results"]
    assert {measure.fact for measure in MEASURES if measure.fact} <= set(result)
    assert result["dependence"] == "independent"
    assert values["claim"] is None


def test_nothing_that_ran_is_an_error_even_beside_a_claim(tmp_path) -> None:
    suite = junit(record(summaries=(), claim=Claim(1.0)), tmp_path)
    assert suite.get("errors") == "1"


def test_the_json_says_what_page_and_terminal_say() -> None:
    """Without limits its words were "no gates were set", whatever leaked or could be missed."""
    found = record(strength=0.0)
    said = verdict_values(found, decide(found))["sentences"]
    assert said == AuditPage(found).words
    assert said[0].startswith("No leak shown")
    assert any("A smaller one may have been missed" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("gates", "said"),
    [
        ((Gate("auc", 0.999),), "Pass: The gate passed. A leak is found all the same"),
        ((), "Leak found: Attacks do reliably better than guessing"),
    ],
)
def test_the_words_of_the_json_hide_no_leak(gates, said, tmp_path) -> None:
    """They were those of the gates alone, which told of a pass and not of the leak."""
    found = record(gates=gates)
    values = verdict_values(found, decide(found))
    assert values["leaks"]
    assert values["words"].startswith(said)
    assert values["words"] == values["sentences"][0]
    assert values["words"] in [one.text for one in junit(found, tmp_path).iter("system-out")]


def test_junit_without_limits_says_what_was_found(tmp_path) -> None:
    found = record()
    (case,) = junit(found, tmp_path)
    assert case.get("name") == "audit"
    assert case.findtext("system-out") == AuditPage(found).words[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.mark.parametrize("option", ["--json", "--junit"])
@pytest.mark.parametrize("place", ["nowhere/verdict", "audit.yaml/verdict", "."])
def test_a_verdict_that_cannot_be_written_is_refused_before_the_first_trial(
    option: str, place: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_audit(here, "an import fails", generator="Raw")
    assert run(["run", "audit.yaml", option, place, "--quiet"]) == 4
    assert capsys.readouterr().err.startswith(f"Error: {place}: ")
    assert not (here / "audit-run").exists()


def test_a_place_for_a_verdict_is_left_as_it_is_by_a_run_that_fails(here: Path) -> None:
    write_audit(here, "an import fails")
    os.mkfifo("pipe")
    assert run(["run", "audit.yaml", "--json", "pipe", "--junit", "verdict.xml", "--quiet"]) == 4
    assert Path("pipe").is_fifo()
    assert not Path("verdict.xml").exists()


def test_judged_records_that_cannot_be_written_are_refused_before_the_audit(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["judge", "no-audit.yaml", "no-records.csv", "--out", "."]) == 4
    assert capsys.readouterr().err == "Error: .: Is a directory\n"


def test_a_comparison_that_cannot_be_written_is_refused_first(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "no-run", "no-other", "--json", "nowhere/compared"]) == 4
    assert capsys.readouterr().err.startswith("Error: nowhere/compared: ")


def test_a_comparison_that_fails_leaves_none_of_an_earlier_one(here: Path) -> None:
    Path("compared.json").write_text("{}")
    assert run(["compare", "no-run", "no-other", "--json", "compared.json"]) == 4
    assert not Path("compared.json").exists()
