"""tapas verify and tapas repair."""

from pathlib import Path

import pytest
from misbehaving import write_audit

from tapas.cli._main import run


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


def test_what_is_no_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(tmp_path / "nowhere")]) == 4
    assert run(["repair", str(tmp_path / "nowhere")]) == 4
    assert "there is no folder" in capsys.readouterr().err
