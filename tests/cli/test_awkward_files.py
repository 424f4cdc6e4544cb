"""Every file is read right, or refused with a remedy that works where it was refused."""

import re
import shlex
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from tapas.audit._config import read_audit_file
from tapas.cli._main import run
from tapas.datasets import DataDescription, TabularDataset

sys.path.insert(0, str(Path(__file__).parent))
from awkward_files import Awkward, corpus, hopeless, write

REMEDY = re.compile(r"--read ('[^']*'|\S+)")


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Note")]
    assert len(lines) == 1
    return lines[0]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def need(package: str, name: str, ending: str) -> None:
    if name.endswith(ending):
        pytest.importorskip(package, reason=f"{name} needs {package}")


@pytest.mark.parametrize("case", corpus(), ids=lambda case: case.name)
def test_a_file_is_read_right_or_refused_with_a_remedy(
    case: Awkward, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("openpyxl", case.name, "xlsx")
    need("pyarrow", case.name, "parquet")
    write(here, case.name, case.make())
    code = run(["init", case.name])
    if case.refused:
        assert code == 4
        said = refusal(capsys)
        assert case.refused in said
        remedies = [shlex.split(found)[0] for found in REMEDY.findall(said)]
        assert run(["init", case.name, "--read", remedies[0]]) == 0, remedies
    else:
        assert code == 0, refusal(capsys)
    described = DataDescription.from_json("audit.schema.json")
    assert {column.name: column.kind for column in described.parsed} == case.kinds
    # What the audit file says is enough to read the table in the same way again.
    reading = read_audit_file("audit.yaml").data.read.reading()
    data = TabularDataset.read(case.name, description=described, reading=reading)
    values = data.data.iloc[0]
    for name, value in case.first.items():
        assert values[name] == (pd.Timestamp(value) if name == "joined" else value), name


@pytest.mark.parametrize("name", hopeless())
def test_what_is_no_table_is_refused_in_one_line(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, name, hopeless()[name])
    assert run(["init", name]) == 4
    assert name in refusal(capsys)


def test_the_corpus_is_large() -> None:
    assert len(corpus()) >= 30
    assert len({case.name for case in corpus()}) == len(corpus())


def test_an_index_column_labels_records(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"a": [1.5, 2.5]}, index=[17, 4]).to_csv("t.csv")
    data = TabularDataset.read("t.csv")
    assert data.description.columns == ("a",)
    assert list(data.data.index) == [17, 4]
    assert run(["init", "t.csv"]) == 0
    assert "numbers the rows" in capsys.readouterr().out


def test_choices_are_shown_and_written_down(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, "t.csv", b"day;pay\n" + b"01/02/2020;1,50\n03/04/2021;2,25\n" * 5)
    assert run(["init", "t.csv", "--read", "dates=day-first", "--drop", "pay"]) == 0
    said = capsys.readouterr().out
    assert "cells separated by semicolons" in said
    assert "day: dates, day first" in said
    data = yaml.safe_load(Path("audit.yaml").read_text())["data"]
    assert data["read"] == {"dates": "day-first"}
    assert data["drop"] == ["pay"]


WRONG = "colour=red delimiter decimal=x header=maybe encoding=klingon skip_rows=few dates=somehow"


@pytest.mark.parametrize("word", WRONG.split())
def test_a_choice_that_is_none_is_refused(word: str, here: Path) -> None:
    write(here, "t.csv", b"a,b\n1,2\n")
    assert run(["init", "t.csv", "--read", word]) == 4


def test_the_json_verdict_beside_a_table_is_not_its_schema(here: Path) -> None:
    write(here, "t.csv", b"a,b\n1.5,x\n2.5,y\n")
    write(here, "t.json", b'{"verdict": "passed"}')
    assert TabularDataset.read("t.csv").description.columns == ("a", "b")


@pytest.mark.parametrize(
    ("package", "file", "extra"),
    [("openpyxl", "t.xlsx", "tapas-privacy[excel]"), ("pyarrow", "t.parquet", "[parquet]")],
)
def test_a_missing_package_is_named_with_what_installs_it(
    package: str,
    file: str,
    extra: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with zipfile.ZipFile(here / file, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    monkeypatch.setitem(sys.modules, package, None)
    assert run(["init", file]) == 4
    said = refusal(capsys)
    assert package in said
    assert extra in said
