"""Whatever a command is given, it ends, and never in an internal error."""

import contextlib
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
import yaml
from malformed import BASE, Malformed, malformed, spoilt_records, write

from tapas.cli._main import run
from tapas.errors import StoreError
from tapas.results import AuditRecord

CASES = malformed()
SECONDS = 60  # after which it counts as hanging


class Hangs(BaseException):
    """No handler of errors takes it for one."""


@pytest.fixture(autouse=True)
def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def too_long(number: int, frame: FrameType | None) -> None:
        raise Hangs

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_malformed_is_told(
    case: Malformed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if case.needs:
        pytest.importorskip(case.needs, reason=f"{case.name} needs {case.needs}")
    write(tmp_path, case.files)
    code = run(case.command)
    said = capsys.readouterr()
    assert code == case.code, said.err
    words = said.err + said.out
    assert "Traceback" not in words
    if code:
        assert words.strip()
    assert not (tmp_path / "ran").exists()


def test_the_table_is_large() -> None:
    assert len(CASES) >= 250
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize(
    "share", [pytest.param(0.03, id="some"), pytest.param(1.0, id="all", marks=pytest.mark.slow)]
)
def test_records_that_are_not_what_they_seem_are_told(
    share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    signal.alarm(0)
    (tmp_path / "audit.yaml").write_text(yaml.safe_dump(BASE))
    assert run(["run", "audit.yaml", "--n-jobs", "1", "--quiet"]) == 0
    path = tmp_path / "audit-run" / "record.json"
    whole, internal = path.read_text(), []
    chance = random.Random(1)
    for name, text in spoilt_records(whole).items():
        path.write_text(text)
        with contextlib.suppress(StoreError):
            AuditRecord.load(path)
        if chance.random() < share and run(["report", "audit-run", "--output", "page"]) not in (
            0,
            1,
            4,
            5,
            6,
        ):
            internal.append(f"{name}: {capsys.readouterr().err.splitlines()[-1]}")
    assert not internal, "\n".join(internal)
