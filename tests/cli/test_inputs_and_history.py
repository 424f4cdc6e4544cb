"""What was audited stands beside the verdict, and no verdict or limit is forgotten."""

import json
from pathlib import Path

import pytest
import yaml

from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.errors import ConfigError, StoreError
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Gate,
    append_verdict,
    loosened_limits,
    read_history,
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = load_sample("clinic", 130).data
    frame.assign(note=[f"note {n}" for n in range(130)]).to_csv("people.csv", index=False)
    return tmp_path


def audit_file(limit: float, metric: str = "auc", **data: object) -> str:
    values = {
        "data": {"table": "people.csv", "drop": ["note"], "targets": {"random": 2}, **data},
        "generator": "Bootstrap",
        "attacks": ["ClosestDistanceMIA"],
        "controls": False,
        "trials": {"train": 6, "test": 6},
        "gates": [{"metric": metric, "at_most": limit}],
    }
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    return "audit.yaml"


@pytest.mark.parametrize(
    ("metric", "limit"),
    [("auc", 60), ("auc", 75.0), ("accuracy", -0.1), ("tpr_at_fpr", 1.5), ("epsilon", -1.0),
     ("auc", float("nan")), ("epsilon", float("inf")), ("advantage", 2.0)],
)  # fmt: skip
def test_limits_have_the_range_of_their_measure(
    metric: str, limit: float, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigError, match="at_most of a gate"):
        Gate(metric, limit)
    assert run(["check", audit_file(float(limit), metric)]) == 4
    assert "audit.yaml:" in capsys.readouterr().err
    files = ["people.csv", "people.csv", "people.csv"]
    if metric == "auc":
        assert run(["release", *files, "--drop", "note", "--max-auc", str(limit)]) == 4


@pytest.mark.parametrize("command", ["check", "run", "plan"])
def test_a_limit_that_nothing_can_exceed_is_refused_before_any_work(
    command: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, audit_file(1.0)]) == 4
    said = capsys.readouterr().err
    assert "gates[0]" in said
    assert "a gate on auc of at most 1 cannot fail" in said
    assert not Path("audit-run").exists()


def test_what_was_left_out_and_simulated_stands_beside_the_verdict(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["run", audit_file(0.9), "--quiet", "--n-jobs", "1", "--json", "verdict.json"])
    said = capsys.readouterr().out
    assert "Not audited, because left out: “note”." in said
    assert "Private datasets of 32 records were simulated; the table has 130." in said
    page = (place / "audit-run/report.html").read_text()
    about = json.loads(Path("verdict.json").read_text())["inputs"]["data.table"]
    assert about["sha256"] in page
    assert about["rows"] == 130
    assert about["dropped"] == {"note": "named in data.drop"}
    assert "The attacker holds 50% of the table" in page


def test_a_gate_can_require_that_nothing_is_dropped(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", audit_file(0, "dropped_columns"), "--quiet", "--n-jobs", "1"]) == 1
    assert "1 columns were left out of the audit (note), limit 0" in capsys.readouterr().out


def test_a_raised_limit_leaves_a_trace(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", audit_file(0.0, "dropped_columns"), "--quiet", "--n-jobs", "1"]
    assert run(command) == 1
    audit_file(1.0, "dropped_columns")
    assert run(command) == 0
    first, second = read_history("audit-run")
    assert (first["state"], second["state"]) == ("fail", "pass")
    said = capsys.readouterr().out
    assert "The limit on Dropped columns is 1 now and was 0 on" in said
    page = (place / "audit-run/report.html").read_text()
    assert "The limit on Dropped columns is 1 now and was 0 on" in page
    assert "Verdicts in this folder" in page


def test_a_line_taken_out_of_the_history_is_noticed(place: Path) -> None:
    command = ["run", audit_file(1.0, "dropped_columns"), "--quiet", "--n-jobs", "1"]
    run(command)
    run(command)
    path = place / "audit-run/history.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    with pytest.raises(StoreError, match="line 1 was changed or one before it is missing"):
        read_history("audit-run")
    assert run(["repair", "audit-run"]) == 0
    assert read_history("audit-run") == ()
    assert run(command) == 0
    path.write_text(path.read_text().replace('"state": "pass"', '"state": "fail"', 1))
    with pytest.raises(StoreError, match="line 1 was changed"):
        read_history("audit-run")


def test_comparing_a_run_with_itself_lists_no_change_and_worse_can_fail(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["run", audit_file(0.9), "--quiet", "--n-jobs", "1", "--folder", "a"])
    run(["run", audit_file(0.9), "--quiet", "--n-jobs", "1", "--folder", "b"])
    assert run(["compare", "a", "b", "--fail-on-worse"]) == 0
    assert "0 got worse" in capsys.readouterr().out
    page = (place / "tapas-comparison/a-vs-b/comparison.html").read_text()
    assert "The questions are the same." in page


def test_a_release_that_got_worse_fails_the_comparison(place: Path) -> None:
    data = load_sample("clinic", 600)
    parts = {"private": range(200), "holdout": range(200, 400), "other": range(400, 600)}
    for name, rows in parts.items():
        data.take(rows).data.to_csv(f"{name}.csv", index=False)
    files = ["private.csv", "holdout.csv"]
    options = ["--no-controls", "--attack", "ClosestDistanceMIA"]
    assert run(["release", *files, "other.csv", *options, "--folder", "safe"]) == 0
    assert run(["release", *files, "private.csv", *options, "--folder", "leaky"]) == 0
    assert run(["compare", "safe", "leaky", "--fail-on-worse"]) == 1
    assert run(["compare", "leaky", "safe", "--fail-on-worse"]) == 0
    html = Path("tapas-comparison/leaky-vs-safe/comparison.html").read_text()
    assert "data.digest" not in html
    assert "inputs.release.file.sha256" in html


def test_several_limits_on_one_measure_are_not_taken_for_relaxed_ones(tmp_path: Path) -> None:
    def limited(*gates: Gate) -> AuditRecord:
        return AuditRecord("T", {}, "f", 0, (AuditedSubject("G"),), gates=gates)

    def people(limit: float, above: float = 0.6) -> Gate:
        return Gate("exposed_people", limit, above=above)

    first = limited(people(0.05), people(0.1), people(0.5), people(0.01, 0.9), Gate("auc", 0.6))
    append_verdict(tmp_path, first)
    assert loosened_limits(first, read_history(tmp_path)) == []
    found = loosened_limits(limited(people(0.1), people(0.5, 0.9)), read_history(tmp_path))
    assert [line.partition(" on 2")[0].partition(" on None")[0] for line in found] == [
        "The limit on Share of people exposed (AUC above 0.6) is 0.1 now and was 0.05",
        "The limit on Share of people exposed (AUC above 0.9) is 0.5 now and was 0.01",
        "The limit of 0.6 on AUC, set",
    ]
