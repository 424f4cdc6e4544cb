"""Pages call records by a column that names them: init proposes it, and a wrong one is refused."""

from pathlib import Path

import pytest
import yaml

from tapas.audit import load_audit
from tapas.cli._main import run
from tapas.datasets import Reading, TabularDataset, load_sample
from tapas.errors import ConfigError, SchemaError
from tapas.game import TableBriefing
from tapas.results import AuditRecord


@pytest.fixture(autouse=True)
def _people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("people", range(120)), ("others", range(120, 240))):
        data = load_sample("clinic", 240).view(columns=["age", "sex", "charge"]).take(rows).data
        data.insert(0, "patient", [f"P{row:03d}" for row in rows])
        data.to_csv(f"{name}.csv", index=False)
    data.drop(columns="patient").to_csv("released.csv", index=False)


def test_init_proposes_the_column_that_names_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "people.csv"]) == 0
    out = capsys.readouterr().out
    assert "'patient' is different in every record" in out
    assert "read: {index: patient} below data in audit.yaml" in out
    assert "max_categories" not in out
    # The proposal is a line of the file that need only be uncommented.
    text = Path("audit.yaml").read_text()
    assert "# read: {index: patient}" in text
    Path("audit.yaml").write_text(text.replace("# read: {index", "read: {index"))
    assert run(["check", "audit.yaml"]) == 0
    assert "records are labelled by 'patient'" in capsys.readouterr().out


def test_pages_call_records_of_files_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--read", "index=patient", "--no-controls", "--attack", "ClosestDistanceMIA"]
    assert run(["release", "people.csv", "others.csv", "released.csv", *options]) == 0
    out = capsys.readouterr().out
    assert (
        "no limit was set, so the exit code is 0 whatever was found; limits are set by --max-auc"
        in out
    )
    page = Path("released-run", "report.html").read_text()
    assert "Most exposed targets" not in page
    assert 'data-name="Record"' in page
    assert 'data-name="row"' not in page
    question = AuditRecord.load("released-run").question
    assert not {"train", "test"} & set(question["trials"])  # there are none


@pytest.mark.parametrize("command", ["init", "release"])
def test_a_column_that_is_not_there_cannot_name_records(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["people.csv"] if command == "init" else ["people.csv", "others.csv", "released.csv"]
    assert run([command, *files, "--read", "index=nosuch"]) == 4
    assert "no column 'nosuch' to label records with" in (said := capsys.readouterr().err)
    assert "'patient', 'age', 'sex', 'charge'" in said
    assert run([command, *files, "--read", "index=true"]) == 4
    assert "index names the column" in capsys.readouterr().err


def test_the_same_holds_in_python_and_in_audit_files(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SchemaError, match=r"people\.csv: there is no column 'id'"):
        TabularDataset.read("people.csv", reading=Reading(index="id"))
    with pytest.raises(ConfigError, match="index names the column"):
        Reading(index=True)
    values = {"data": {"table": "people.csv", "read": {"index": "id"}}, "generator": "Raw"}
    Path("audit.yaml").write_text(yaml.safe_dump(values))
    assert run(["check", "audit.yaml"]) == 4
    assert "audit.yaml: there is no column 'id'" in capsys.readouterr().err


@pytest.mark.parametrize("read", [{}, {"index": "patient"}])
def test_records_of_a_drawn_part_keep_the_names_that_they_have_in_the_file(
    read: dict[str, str],
) -> None:
    data = {"table": "people.csv", "read": read, "rows": 60, "targets": {"random": 3}}
    data |= {} if read else {"drop": ["patient"]}
    Path("audit.yaml").write_text(yaml.safe_dump({"data": data, "generator": "Raw"}))
    briefing = load_audit("audit.yaml").subjects[0].threat_model.game.briefing("test")
    assert isinstance(briefing, TableBriefing)
    table = TabularDataset.read("people.csv", reading=Reading(**read)).data  # type: ignore[arg-type]
    for name, record in briefing.targets.data.iterrows():
        assert table.loc[name, "charge"] == record["charge"]
    assert max(table.index.get_indexer(briefing.targets.data.index)) >= 60
