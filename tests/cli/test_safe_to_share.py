"""What is shared holds no words of the audited code: they may be private records."""

import stat
import sys
from pathlib import Path

import pytest
from misbehaving import write_audit

from tapas.cli._main import run
from tapas.cli._streams import Forgiving

PRIVATE = "Alice Liddell, HIV positive"
CODE = f"""
from tapas.attacks import ClosestDistanceMIA
from tapas.errors import MechanismError, SchemaError
from tapas.generators import Raw


class Tells(Raw):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def __call__(self, dataset, num_samples=None, random_state=None):
        if random_state % 2:
            if self.kind == "frame":
                return dataset.data.rename(columns=lambda name: {PRIVATE!r})
            errors = {{"value": ValueError, "mechanism": MechanismError, "schema": SchemaError}}
            raise errors.get(self.kind, SystemExit)({PRIVATE!r})
        return super().__call__(dataset, num_samples, random_state)


class TellsToo(ClosestDistanceMIA):
    def fit(self, board, *, rng):
        raise KeyError({PRIVATE!r})
"""


@pytest.mark.parametrize("most", [0, 100])
@pytest.mark.parametrize("kind", ["value", "mechanism", "schema", "exit", "frame", "attack"])
def test_words_of_failing_code_stay_in_a_local_log(
    kind: str,
    most: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "tells_all", raising=False)
    (tmp_path / "tells_all.py").write_text(CODE)
    changes = {"attacks": ["tells_all:TellsToo"], "generator": "Raw"}
    if kind != "attack":
        changes = {"generator": {"use": "tells_all:Tells", "parameters": {"kind": kind}}}
    trials = {"train": 6, "test": 6, "max_failures": most}
    write_audit(tmp_path, "an import fails", **changes, trials=trials)
    run(["run", "audit.yaml", "--n-jobs", "1", "--json", "v.json", "--junit", "v.xml"])
    folder = tmp_path / "audit-run"
    shared = [
        capsys.readouterr().out,
        *(path.read_text() for path in (tmp_path / "v.json", tmp_path / "v.xml")),
        *((folder / name).read_text() for name in ("record.json", "report.html")),
    ]
    assert not [text for text in shared if "Liddell" in text]
    log = folder / "errors.log"
    assert "Liddell" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    if kind == "value":
        assert "ValueError at tells_all.py:17" in (folder / "record.json").read_text()


def test_terminals_are_not_steered(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+", encoding="utf-8") as file:
        Forgiving(file, plain=True).write("a\x1b[2Jb\x07\u202ec\n")
        file.seek(0)
        assert file.read() == "a\ufffd[2Jb\ufffd\ufffdc\n"
