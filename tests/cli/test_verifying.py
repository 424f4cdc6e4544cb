"""tapas verify and tapas repair."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from misbehaving import write_audit

from tapas.cli._main import run
from tapas.results import PAGE_FILES


def test_a_change_is_noticed_and_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_audit(tmp_path, "an import fails", generator="Raw")
    code = run(["run", "audit.yaml", "--n-jobs", "1"])
    folder = tmp_path / "audit-run"
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
    assert run(["run", "audit.yaml", "--n-jobs", "1"]) == code
    assert run(["verify", str(folder)]) == 0


OWN = """
import os
from tapas.generators import Raw


class Own(Raw):
    def __call__(self, dataset, num_samples=None, random_state=None):
        seed = {seed}
        return super().__call__(dataset, num_samples, seed)
"""
MODEL = {
    "data": {"sample": "census", "rows": 120},
    "model": {"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex", "shadows": 4},
    "attacks": ["LossMIA", "LiRA"],
}


@pytest.mark.parametrize(
    "subject",
    [
        {"generator": "Bootstrap", "exposure_map": True, "trials": {"train": 30, "test": 30}},
        {"model": MODEL["model"], "attacks": ["LossMIA"]},
    ],
    ids=["generator", "model"],
)
def test_all_that_a_run_writes_beside_its_page_belongs_to_it(
    subject: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    values = {"data": {"sample": "census", "rows": 120}, "controls": False, **subject}
    if "generator" in subject:
        values["data"]["targets"] = {"random": 12}
        values["attacks"] = ["SubsetAttack"]
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(values))
    run(["run", "audit.yaml", "--n-jobs", "1"])
    tables = {path.name for path in Path("audit-run").glob("*.csv")}
    assert tables >= (
        {"people.csv", "exposure-map.csv"} if "generator" in subject else {"performance.csv"}
    )
    assert tables < set(PAGE_FILES)
    assert run(["verify", "audit-run"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("kind", ["same", "other", "model"])
def test_trials_are_played_again_and_compared(
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_for_replay", raising=False)
    seed = "int.from_bytes(os.urandom(3))" if kind == "other" else "random_state"
    (tmp_path / "own_for_replay.py").write_text(OWN.format(seed=seed))
    if kind == "model":
        (tmp_path / "audit.yaml").write_text(yaml.safe_dump(MODEL))
    else:
        write_audit(tmp_path, "an import fails", generator="own_for_replay:Own")
    run(["run", "audit.yaml", "--n-jobs", "1", "--folder", "elsewhere"])
    capsys.readouterr()
    assert run(["verify", "elsewhere", "--replay", "4"]) == 4
    assert "--audit FILE" in capsys.readouterr().err
    Path("elsewhere").rename("audit-run")
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


def test_a_record_without_a_digest_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_audit(tmp_path, "an import fails", generator="Raw")
    code = run(["run", "audit.yaml", "--n-jobs", "1"])
    path = tmp_path / "audit-run" / "record.json"
    content = json.loads(path.read_text())
    del content["digest"]
    path.write_text(json.dumps({**content, "version": 2}))
    capsys.readouterr()
    assert run(["report", "audit-run"]) == code
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
