"""tapas verify and tapas repair."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from misbehaving import write_audit

from tapas.cli._main import run
from tapas.results import PAGE_FILES

MODEL = {
    "data": {"sample": "census", "rows": 80},
    "model": {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex", "shadows": 4},
    "attacks": ["LossMIA", "LiRA"],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Runs that several tests begin with, by what was audited; all end with 0."""
    places = {name: tmp_path_factory.mktemp(name) for name in ("generator", "model")}
    write_audit(places["generator"], "an import fails", generator="Raw")
    (places["model"] / "audit.yaml").write_text(yaml.safe_dump(MODEL))
    for place in places.values():
        code = run(["run", str(place / "audit.yaml"), "--n-jobs", "1", "--quiet"])
        assert code == 0, place
    return places


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def test_a_change_is_noticed_and_mended(
    finished: dict[str, Path], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished["generator"], here, dirs_exist_ok=True)
    folder = here / "audit-run"
    assert run(["verify", str(folder)]) == 0
    assert "as it was written" in capsys.readouterr().out

    page, question, record = (folder / n for n in ("report.html", "question.json", "record.json"))
    for file in (page, question, record):
        whole = file.read_bytes()
        file.write_bytes(whole.replace(b"1", b"2", 1))
        assert run(["verify", str(folder)]) == 4, file
        assert file.name in capsys.readouterr().out
        file.write_bytes(whole)
    record.write_bytes(record.read_bytes().replace(b"0", b"1", 1))
    assert run(["report", str(folder)]) == 4
    assert "changed after it was written" in capsys.readouterr().err

    index = folder / "index.sqlite"
    index.write_bytes(index.read_bytes()[: index.stat().st_size // 2])
    assert run(["run", "audit.yaml"]) == 4
    assert "tapas repair" in capsys.readouterr().err
    assert run(["repair", str(folder)]) == 0
    assert "are whole and kept" in capsys.readouterr().out
    assert run(["run", "audit.yaml", "--n-jobs", "1"]) == 0
    assert run(["verify", str(folder)]) == 0


def test_a_whole_folder_is_not_repaired(
    finished: dict[str, Path], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished["generator"], here, dirs_exist_ok=True)
    folder = here / "audit-run"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(["repair", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder}: every stored value is whole: nothing to repair\n"
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert run(["verify", str(folder)]) == 0


def test_a_damaged_manifest_leaves_whole_values_where_they_are(
    finished: dict[str, Path], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished["generator"], here, dirs_exist_ok=True)
    folder = here / "audit-run"
    index = (folder / "index.sqlite").read_bytes()
    (folder / "manifest.json").write_text("rubbish")
    assert run(["repair", str(folder)]) == 0
    assert "are whole and kept, 0 were damaged" in capsys.readouterr().out
    assert (folder / "index.sqlite").read_bytes() == index
    assert not (folder / "index-damaged.sqlite").exists()
    assert (folder / "manifest-damaged.json").exists()
    assert run(["run", "audit.yaml", "--n-jobs", "1"]) == 0
    assert run(["verify", str(folder)]) == 0


OWN = """
import os
from tapas.generators import Raw


class Own(Raw):
    def __call__(self, dataset, num_samples=None, random_state=None):
        return super().__call__(dataset, num_samples, int.from_bytes(os.urandom(3)))
"""


def test_all_that_a_run_writes_beside_its_page_belongs_to_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = {
        "data": {"sample": "census", "rows": 60, "targets": {"random": 5}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 10},
        "trials": {"train": 20, "test": 20},
        "controls": False,
        "exposure_map": True,
    }
    (here / "audit.yaml").write_text(yaml.safe_dump(audit))
    assert run(["run", "audit.yaml", "--n-jobs", "1"]) == 0
    tables = {path.name for path in Path("audit-run").glob("*.csv")}
    assert {"people.csv", "exposure-map.csv"} <= tables < set(PAGE_FILES)
    assert run(["verify", "audit-run"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("kind", ["generator", "model", "other"])
def test_trials_are_played_again_and_compared(
    kind: str,
    finished: dict[str, Path],
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if kind == "other":
        monkeypatch.delitem(sys.modules, "own_for_replay", raising=False)
        (here / "own_for_replay.py").write_text(OWN)
        write_audit(here, "an import fails", generator="own_for_replay:Own")
        run(["run", "audit.yaml", "--n-jobs", "1", "--quiet"])
    else:
        shutil.copytree(finished[kind], here, dirs_exist_ok=True)
    capsys.readouterr()
    code = run(["verify", "audit-run", "--replay", "4", "--n-jobs", "1"])
    said = capsys.readouterr().out
    assert "is as it was written" in said
    if kind == "other":
        assert code == 1
        assert "of 4 replayed trials came out otherwise" in said
    else:
        assert code == 0, said
        assert "4 replayed trials came out the same to the bit" in said
        assert "observed" in said
    if kind == "model":
        assert Path("audit-run/performance.csv").is_file()
    Path("audit-run").rename("elsewhere")
    assert run(["verify", "elsewhere", "--replay", "4"]) == 4
    assert "--audit FILE" in capsys.readouterr().err


def test_a_record_without_a_digest_is_told(
    finished: dict[str, Path], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished["generator"], here, dirs_exist_ok=True)
    path = here / "audit-run" / "record.json"
    content = json.loads(path.read_text())
    del content["digest"]
    path.write_text(json.dumps({**content, "version": 2}))
    capsys.readouterr()
    assert run(["report", "audit-run"]) == 0
    assert "without a digest" in capsys.readouterr().err
    assert (
        "none: whether it was changed cannot be told" in Path("audit-run/report.html").read_text()
    )
    assert run(["verify", "audit-run"]) == 4
    assert "format without digest" in capsys.readouterr().out


def test_what_is_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(tmp_path / "nowhere")]) == 4
    assert run(["repair", str(tmp_path / "nowhere")]) == 4
    assert "there is no folder" in capsys.readouterr().err
