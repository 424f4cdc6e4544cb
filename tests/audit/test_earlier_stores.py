"""Run folders that earlier versions wrote: gone on with, or refused and left as they are."""

import shutil
import tarfile
from pathlib import Path

import pytest

from tapas.audit import replay_run, verify_run
from tapas.audit._build import load_audit
from tapas.cli._main import run
from tapas.engine import Snapshot
from tapas.results import AuditRecord

HERE = Path(__file__).parent / "earlier"
OTHER_FORMATS = ("format-1", "format-2")
SAME_FORMAT = ("format-3", "format-3-later")


def unpacked(name: str, place: Path) -> Path:
    folder = place / "audit-run"
    folder.mkdir(mode=0o700)
    with tarfile.open(HERE / f"{name}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    shutil.copy(HERE / "audit.yaml", place)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def scores(folder: Path) -> list[list[float]]:
    record = AuditRecord.load(folder)
    return [one.scores.tolist() for subject in record.subjects for one in subject.summaries]  # type: ignore[attr-defined]


def test_every_kept_folder_is_tested() -> None:
    kept = {path.name.removesuffix(".tar.gz") for path in HERE.glob("*.tar.gz")}
    assert kept == {*OTHER_FORMATS, *SAME_FORMAT}


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_another_format_is_told_and_left_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked(name, tmp_path)
    before = content(folder)
    for command in (["run", str(tmp_path / "audit.yaml")], ["repair", str(folder)]):
        assert run(command) == 4
        assert "this version of tapas reads format 3" in capsys.readouterr().err
    assert content(folder) == before
    assert run(["verify", str(folder)]) == 4
    said = capsys.readouterr().out
    assert "says format" in said
    assert "without digest" in said
    # What it found can still be read, with a word of caution.
    assert run(["report", str(folder), "--output", str(tmp_path / "page")]) == 0
    assert "without a digest" in capsys.readouterr().err
    assert content(folder) == before


@pytest.mark.parametrize("name", SAME_FORMAT)
def test_a_folder_of_this_format_goes_on(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked(name, tmp_path)
    old = scores(folder)
    assert run(["report", str(folder), "--output", str(tmp_path / "page")]) == 0
    with Snapshot(folder) as store:
        keys = set(store.keys("games/"))
    assert keys
    assert any("seal.json is missing" in line for line in verify_run(folder))
    assert run(["run", str(tmp_path / "audit.yaml"), "--n-jobs", "1"]) == 0
    assert scores(folder) == old
    with Snapshot(folder) as store:
        assert keys <= set(store.keys("games/"))
    assert verify_run(folder) == []
    audit = load_audit(tmp_path / "audit.yaml")
    assert not [one for one in replay_run(folder, audit, 99, n_jobs=1) if one.differing]
