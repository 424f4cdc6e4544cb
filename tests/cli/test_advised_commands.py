"""Commands that a page advises are pasted as they stand, from where the audit was run."""

import json
import re
import shlex
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from tapas.audit import load_audit
from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.game import TableBriefing
from tapas.results import AuditRecord, Findings, given_away


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where commands are typed; tables and audit files are in one below it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audits").mkdir()
    load_sample("clinic", 240).data.to_csv("audits/people.csv", index=False)
    return tmp_path


def audited(name: str, **values: Any) -> list[list[str]]:
    """Run an audit, and return the commands that its page advises, as words."""
    data = {"table": "people.csv", "drop": ["admitted", "ward"], **values.pop("data", {})}
    file = Path("audits", f"{name}.yaml")
    file.write_text(yaml.safe_dump({"data": data, "controls": False, **values}))
    run(["run", str(file), "--quiet", "--n-jobs", "1"])
    return advised(f"audits/{name}-run")


def advised(folder: str) -> list[list[str]]:
    html = unescape(Path(folder, "report.html").read_text())
    blocks = re.findall(r'aria-label="Commands">(.*?)</pre>', html, re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


def pasted(command: list[str]) -> int:
    return run([*command, *(["--quiet", "--n-jobs", "1"] if command[0] == "run" else [])])


def checked(command: list[str]) -> int:
    """Whether what a command would run can be run."""
    assert command[0] == "run"
    return run(["check", *command[1 : command.index("--folder")]])


def test_advice_about_a_generator_works_from_the_folder_above(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = audited(
        "small",
        data={"targets": {"random": 5}},
        generator="Raw",
        attacks=["ClosestDistanceMIA"],
        knowledge={"records": 30},
        trials={"train": 6, "test": 20},
        exposure_map=False,
    )
    load_sample("clinic", 480).data.to_csv("audits/more.csv", index=False)
    played = {words[-1]: words for words in commands if words[0] == "run"}
    compared = {words[-1]: words for words in commands if words[0] == "compare"}
    names = ["private", "fewer", "more"]
    assert list(played) == list(compared) == [f"audits/small-{name}-run" for name in names]
    assert all(checked(words) == 0 for words in played.values())
    for name in ("private", "fewer"):
        folder = f"audits/small-{name}-run"
        assert pasted(played[folder]) == 0
        capsys.readouterr()
        assert pasted(compared[folder]) == 0
        assert "mean AUC 0.99 before" in capsys.readouterr().out
        assert Path("tapas-comparison", f"small-vs-small-{name}", "comparison.html").is_file()
    asked = AuditRecord.load("audits/small-private-run").question
    assert asked["generator"][0]["use"] == "MST"


def test_advice_about_a_model_works_and_compares(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use = "sklearn.tree:DecisionTreeClassifier"
    model = {"use": use, "class_column": "sex", "shadows": 0}
    load_sample("clinic", 480).data.to_csv("audits/people.csv", index=False)
    commands = audited("model", model=model, attacks=["LossMIA"], seed=1)
    load_sample("clinic", 960).data.to_csv("audits/more.csv", index=False)
    played = [words for words in commands if words[0] == "run"]
    assert all(checked(words) == 0 for words in played)
    *_, labels, compare = commands
    assert labels[-1] == "audits/model-labels-run"
    assert pasted(labels) == 0
    capsys.readouterr()
    assert pasted([*compare, "--json", "compared.json"]) == 0
    told = capsys.readouterr().out
    assert "The strongest result of either, which need not be of the same attack: LossMIA" in told
    assert "On records that it was not trained on, DecisionTreeClassifier is right in" in told
    compared = json.loads(Path("compared.json").read_text())
    assert compared["costs"][0]["part"] == "all"
    assert compared["changes"][0]["kind"] == "strongest"
    record = AuditRecord.load("audits/model-labels-run")
    assert record.question["model"]["access"] == "labels"
    assert not [crash for subject in record.subjects for crash in subject.crashes]


def test_advice_about_files_names_them_as_they_were_typed(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = load_sample("clinic", 240).view(exclude_columns=["admitted", "triage time"])
    for name, rows in (("private", range(120)), ("holdout", range(120, 240))):
        data.take(rows).data.to_csv(f"audits/{name}.csv", index=False)
    files = [f"audits/{name}.csv" for name in ("private", "holdout", "private")]
    options = ["--no-controls", "--attack", "ClosestDistanceMIA", "--max-auc", "0.75"]
    assert run(["release", *files, *options]) == 1
    *_, play, compare = advised("audits/private-run")
    assert play[:4] == ["release", *files[:2], "noisy.csv"]
    data.take(range(60, 180)).data.to_csv("noisy.csv", index=False)
    assert pasted([*play, "--attack", "ClosestDistanceMIA", "--no-controls"]) == 0
    capsys.readouterr()
    assert pasted(compare) == 0
    assert "of 2 comparisons, 0 got worse" in capsys.readouterr().out


@pytest.mark.parametrize("redrawn", [True, False], ids=["drawn anew", "taken out"])
@pytest.mark.parametrize(
    "options",
    [[], ["--drop", "name"], ["--read", "index=name"]],
    ids=["free text", "dropped", "labels"],
)
def test_advice_about_private_values_works_and_ends_them(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], redrawn: bool
) -> None:
    data = load_sample("clinic", 360).view(exclude_columns=["admitted", "triage time"]).data
    names = [f"Person {row}" for row in range(360)]
    parts = np.split(np.arange(360), [120, 240])
    private, holdout, released = (
        data.iloc[rows].assign(name=names[rows[0] :][:120]) for rows in parts
    )
    files = {"private": private, "holdout": holdout, "released": released.assign(name=names[:120])}
    for file, table in files.items():
        table.to_csv(f"{file}.csv", index=False)
    asked = ["--no-controls", "--attack", "ClosestDistanceMIA", "--max-dropped", "1", *options]
    assert run(["release", *(f"{file}.csv" for file in files), *asked]) == 0
    assert "Take it out of the release, or draw its values anew" in capsys.readouterr().out
    page = unescape(Path("released-run", "report.html").read_text())
    assert "Take “name” out of the release, or draw its values anew, without the private" in page
    play, compare = advised("released-run")
    assert "redrawn.csv" in play
    (released if redrawn else released.drop(columns="name")).to_csv("redrawn.csv", index=False)
    assert pasted([*play, "--attack", "ClosestDistanceMIA", "--no-controls"]) == 0
    told = capsys.readouterr().out
    assert "private values" not in told
    assert pasted(compare) == 0
    record = AuditRecord.load("released-redrawn-run")
    assert not given_away(Findings(record))
    assert not advised("released-redrawn-run")


# -- --set ---------------------------------------------------------------------------------------


def small(**changes: Any) -> str:
    values = {
        "data": {"sample": "census", "rows": 160, "targets": {"random": 1}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 30},
        **changes,
    }
    Path("small.yaml").write_text(yaml.safe_dump(values))
    return "small.yaml"


def test_a_changed_run_needs_a_folder_of_its_own(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["run", small(), "--set", "seed=2"]) == 4
    assert "--set needs --folder" in capsys.readouterr().err
    assert not Path("small-run").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("seed", "small.yaml: 'seed' changes nothing: write KEY=VALUE"),
        ("sead=3", "small.yaml with sead=3: sead: unknown key; known here: attacks"),
        ("seed=three", "small.yaml with seed=three: seed: Input should be a valid integer"),
        ("data.rows=[1", "small.yaml: data.rows:1: not valid YAML"),
        ("attacks.use=LossMIA", "attacks is a list or a number here"),
    ],
)
def test_a_wrong_change_is_told_by_its_key(
    place: Path, capsys: pytest.CaptureFixture[str], change: str, words: str
) -> None:
    assert run(["check", small(), "--set", change]) == 4
    assert words in capsys.readouterr().err


def test_check_names_every_number_without_bounds_before_any_trial(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"sample": "clinic", "rows": 200, "targets": {"random": 1}}
    file = small(data=data)
    private = ["--set", "generator={use: MST, parameters: {epsilon: 1}}"]
    assert run(["check", file, *private]) == 4
    (line,) = capsys.readouterr().err.splitlines()
    for name in ("admitted", "triage time", "age", "charge", "temperature"):
        assert f"'{name}': [lowest, highest]" in line
    assert "data.bounds" in line
    assert "draw_trial" not in line
    assert run(["check", file, *private, "--set", "data.bounds=table"]) == 0
    assert "guarantee" in (said := capsys.readouterr().err) or "does not cover it" in said
    assert run(["check", file, *private, "--set", "data.bounds={agee: [0, 120]}"]) == 4
    assert "data.bounds: 'agee' are not columns" in capsys.readouterr().err


def test_records_that_are_left_out_keep_the_names_of_the_others(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = load_audit(small(), ["data.leave_out=[0, '1']", "data.targets={rows: [0]}"])
    briefing = audit.subjects[0].threat_model.game.briefing("test")
    assert isinstance(briefing, TableBriefing)
    assert briefing.targets.table.index.tolist() == [2]
    assert run(["check", "small.yaml", "--set", "data.leave_out=[160]"]) == 4
    assert "data.leave_out: there are no records '160'" in capsys.readouterr().err


def test_records_without_a_class_are_named_with_what_leaves_them_out(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use = "sklearn.tree:DecisionTreeClassifier"
    model = {"use": use, "class_column": "ward", "shadows": 0}
    values = {"data": {"table": "people.csv"}, "model": model, "attacks": ["LossMIA"]}
    Path("audits/model.yaml").write_text(yaml.safe_dump(values))
    assert run(["check", "audits/model.yaml"]) == 4
    found = re.search(r"leave them out \(data.leave_out: (.*)\)", capsys.readouterr().err)
    assert found is not None
    assert run(["check", "audits/model.yaml", "--set", f"data.leave_out={found[1]}"]) == 0
    people = pd.read_csv("audits/people.csv")
    people.loc[:44, "ward"] = None
    people.to_csv("audits/people.csv", index=False)
    assert run(["check", "audits/model.yaml"]) == 4
    told = capsys.readouterr().err
    assert re.search(r"leave them out of the table: (\d+, ){7}\d+ and \d+ more$", told)
