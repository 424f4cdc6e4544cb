"""Hostile folders and files: no code runs, and nothing outside is touched."""

import resource
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from hostile import COMMANDS, PICKLE, Hostile, hostile
from malformed import BASE

from tapas.cli._main import run
from tapas.datasets import load_sample
from tapas.errors import TapasError
from tapas.generators import GeneratorFromExecutable
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedMIA,
    ThreatModel,
)

CASES = hostile()
MOST_MEMORY = 1_500_000  # KiB more than before


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("finished")
    (place / "audit.yaml").write_text(yaml.safe_dump(BASE))
    folder = place / "run"
    assert run(["run", str(place / "audit.yaml"), "--folder", str(folder), "--n-jobs", "1"]) == 0
    return place


@pytest.fixture
def place(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "place"
    shutil.copytree(finished, made)
    (made / "outside" / "folder").mkdir(parents=True)
    (made / "outside" / "file").write_text("mine")
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return made


def state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_runs_and_nothing_outside_is_touched(
    case: Hostile, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if case.needs:
        pytest.importorskip(case.needs, reason=f"{case.name} needs {case.needs}")
    case.make(place)
    outside = state(place / "outside")
    assert outside
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in case.commands:
        command = list(COMMANDS[name])
        if name == "init":
            command[1] = next(p.name for p in place.iterdir() if p.name.startswith("hostile."))
        code = run(command)
        said = capsys.readouterr()
        assert code != 3, said.err
        if case.refused:
            assert code == 4 or name == "repair", (name, code, said.err)
    assert not list(place.rglob("ran"))
    assert state(place / "outside") == outside
    assert [path.name for path in (place / "outside" / "folder").iterdir()] == []
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MOST_MEMORY
    pages = [*place.glob("run/report.html"), *place.glob("compared/*.html")]
    written = [page.read_bytes() for page in pages if page.is_file()]
    assert not [page for page in written if b"<script>document.title" in page]


def test_a_saved_threat_model_starts_no_program(place: Path) -> None:
    program = place / "program"
    program.write_text("#!/bin/sh\ncat\n")
    program.chmod(0o755)
    data = load_sample("census", 40)
    knows = AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=8)
    mechanism = BlackBoxKnowledge(GeneratorFromExecutable(str(program)), 8)
    TargetedMIA(knows, data.take([0]), mechanism, seed=1).save(str(place / "saved"))
    for path in (place / "saved").iterdir():
        if path.suffix == ".json":
            text = path.read_text()
            assert str(program) in text
            path.write_text(text.replace(str(program), str(place / "evil")))
    (place / "evil").write_text(f"#!/bin/sh\ntouch {place / 'ran'}\n")
    (place / "evil").chmod(0o755)
    loaded = ThreatModel.load(str(place / "saved"))
    assert loaded is not None
    assert not (place / "ran").exists()


def test_a_saved_threat_model_that_is_no_more_than_a_pickle_is_refused(place: Path) -> None:
    (place / "saved").mkdir()
    for name in ("threat-model.json", "index.sqlite", "threat_model.pkl"):
        (place / "saved" / name).write_bytes(PICKLE)
    with pytest.raises(TapasError):
        ThreatModel.load(str(place / "saved"))
    assert not (place / "ran").exists()


def test_there_are_a_hundred() -> None:
    assert len(CASES) >= 100
    assert len({case.name for case in CASES}) == len(CASES)
