"""Whatever the audited code does, a command never leaves with 0, and never hangs."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from dask_cluster import Cluster
from misbehaving import ATTACKS, GENERATORS, HANGS, IMPORTS, write_audit

from tapas.cli import _supervise
from tapas.cli._carry_out import foreign_code
from tapas.cli._main import run

EVERYTHING = [*GENERATORS, *ATTACKS, *IMPORTS]
# One of each kind that needs a process of its own; the rest is slow.
FEW = [
    "leaves at once with 0",
    "sleeps and catches everything",
    "an import leaves",
]
HERE = [
    "exits with 0",
    "raises KeyboardInterrupt",
    "raises GeneratorExit",
    "raises without words",
    "raises what cannot travel",
    "releases nothing at all",
    "releases half",
    "releases three times as many",
    "releases a number",
    "releases fewer columns",
    "an attack exits as it learns",
    "an attack exits as it begins",
    "an attack sleeps as it begins",
    "an attack sleeps as it is tested",
    "an import exits",
]


def tapas(place: Path, *arguments: str, seconds: float = 240) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tapas.cli", *arguments],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def outcome(folder: Path) -> object:
    """What a run left, but for times."""
    record = json.loads((folder / "record.json").read_text())
    return record["subjects"], record["stopped"], record["complete"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose modules are imported anew; what is supervised is a fork of this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(_supervise, "isolated", False)
    for module in ("zoo", "odd_import"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path


@pytest.mark.parametrize("name", HERE)
def test_code_that_misbehaves_here_never_passes(name: str, here: Path) -> None:
    audit, verdict = write_audit(here, name), here / "verdict.json"
    code = run(["run", str(audit), "--n-jobs", "1", "--json", str(verdict)])
    assert code in (4, 5, 6), name
    if code != 4:
        assert json.loads(verdict.read_text())["exit_code"] == code


@pytest.mark.parametrize("name", FEW)
def test_code_that_ends_its_process_never_passes(
    name: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_audit(here, name, trials={"train": 2, "test": 12, "timeout": 1})
    command = ["run", "audit.yaml", "--n-jobs", "1", "--quiet"]
    code = _supervise.supervised(lambda: run(command), goes_on=True)
    assert code in (5, 6)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", ["leaves at once with 0", "sleeps and catches everything"])
def test_code_that_ends_its_process_or_hangs_as_it_is_probed_costs_no_run(
    name: str, here: Path
) -> None:
    """With this seed one trial of ten misbehaves, and so does the first run of the probe."""
    trials = {"train": 2, "test": 10, "max_failures": 12}
    if name in HANGS:
        trials["timeout"] = 1
    write_audit(here, name, seed=0, trials=trials)
    command = ["run", "audit.yaml", "--n-jobs", "1", "--quiet"]
    code = _supervise.supervised(lambda: run(command), goes_on=True)
    assert code != 5
    assert Path("audit-run", "seal.json").exists()


def test_who_asks_a_command_to_end_is_told_from_code_that_ends_itself() -> None:
    def work(sends: bool) -> int:
        with foreign_code():
            if sends:
                os.kill(os.getpid(), signal.SIGTERM)
            try:
                time.sleep(60)
            except KeyboardInterrupt:
                return 2
        return 0

    assert _supervise.supervised(lambda: work(sends=True), goes_on=False) == 5
    asks = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM))
    asks.start()
    assert _supervise.supervised(lambda: work(sends=False), goes_on=False) == 2
    asks.join()


def swallows_every_request(started: Path) -> int:
    """Code of an audit that starts a program, and does not end for anybody while the test waits."""
    with foreign_code():
        program = subprocess.Popen(["sleep", "60"], start_new_session=True)
        (started.with_suffix(".new")).write_text(str(program.pid))
        started.with_suffix(".new").rename(started)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with suppress(BaseException):
                time.sleep(60)
    return 0


def is_running(process: int) -> bool:
    try:
        words = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return words.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("requests", [1, 2])
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")
def test_code_that_swallows_requests_to_end_is_ended_with_all_it_started(
    requests: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(_supervise, "SECONDS_TO_LEAVE", 0.5 if requests == 1 else 3600)
    monkeypatch.setattr(_supervise, "SECONDS_TO_LEAVE_IF_ASKED_AGAIN", 0.5)
    monkeypatch.setattr(_supervise, "SECONDS_BETWEEN_REQUESTS", 0.1)
    started = tmp_path / "started"

    def ask() -> None:
        while not started.exists():
            time.sleep(0.01)
        for _ in range(requests):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.3)

    asks = threading.Thread(target=ask)
    asks.start()
    code = _supervise.supervised(
        lambda: swallows_every_request(started), goes_on=True, interrupted="To go on, do."
    )
    asks.join()
    assert code == 2
    assert capfd.readouterr().err == "To go on, do.\n"
    assert not is_running(int(started.read_text()))


def test_a_request_to_end_says_how_to_go_on_where_code_swallows_it(here: Path) -> None:
    (here / "deaf.py").write_text(DEAF)
    write_audit(here, "exits with 0", generator="deaf:Deaf", trials={"test": 20})
    command = [sys.executable, "-c", LEAVES_SOON, "run", "audit.yaml", "--n-jobs", "1"]
    with subprocess.Popen(command, cwd=here, stderr=subprocess.PIPE, text=True) as process:
        while not (here / "began").exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "To go on, type: tapas run audit.yaml --n-jobs 1" in said


DEAF = """
import time
from pathlib import Path
from tapas.generators import Raw


class Deaf(Raw):
    def __call__(self, *arguments, **more):
        Path("began").touch()
        while True:
            try:
                time.sleep(60)
            except BaseException: pass
"""
LEAVES_SOON = """
from tapas.cli import _main, _supervise

_supervise.SECONDS_TO_LEAVE = 0.5
_main.main()
"""
SURROUNDINGS = "os.chdir('/'); os.umask(0); sys.stdout = sys.stderr = None; os.fork()"


def test_code_that_changes_its_surroundings_changes_no_result(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for folder, words in {"calm": "pass", "changed": SURROUNDINGS}.items():
        monkeypatch.delitem(sys.modules, "zoo", raising=False)
        own = {"use": "zoo:odd", "parameters": {"words": words}}
        write_audit(here, "exits with 0", generator=own, trials={"train": 4, "test": 10})
        assert run(["run", "audit.yaml", "--n-jobs", "1", "--quiet", "--folder", folder]) == 0
        found[folder] = json.loads(Path(folder, "record.json").read_text())["subjects"]
    assert found["changed"] == found["calm"]
    assert run(["verify", "changed"]) == 0
    assert not [path for path in Path("changed").rglob("*") if path.stat().st_mode & 0o022]


def test_a_run_folder_that_code_takes_away_is_not_passed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "import shutil; shutil.rmtree('audit-run', ignore_errors=True); os.mkdir('audit-run')"
    own = {"use": "zoo:odd", "parameters": {"words": words}}
    write_audit(here, "exits with 0", generator=own, trials={"train": 4, "test": 10})
    assert run(["run", "audit.yaml", "--n-jobs", "1", "--quiet"]) == 4
    assert "was changed by something else" in capsys.readouterr().err
    assert not Path("audit-run", "seal.json").exists()


def test_a_check_holds_code_to_its_time(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "slow.py").write_text(
        "import time\n"
        "from tapas.generators import Raw\n"
        "class Slow(Raw):\n"
        "    def __call__(self, *arguments, **more):\n"
        "        while True:\n"
        "            try:\n"
        "                time.sleep(9)\n"
        "            except BaseException: pass\n"
    )
    write_audit(here, "exits with 0", generator="slow:Slow", trials={"test": 20, "timeout": 1})
    code = _supervise.supervised(lambda: run(["check", "audit.yaml"]), goes_on=False)
    assert code == 5
    assert "did not stop" in capfd.readouterr().err


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster | None]:
    """Two workers; None where Dask is not installed."""
    if importlib.util.find_spec("distributed") is None:
        yield None
        return
    made = Cluster(tmp_path_factory.mktemp("elsewhere"))
    made.add_worker()
    made.add_worker()
    made.wait_for_workers(2)
    yield made
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYTHING)
def test_the_verdict_is_the_same_on_one_process_on_two_and_on_a_cluster(
    name: str, tmp_path: Path, cluster: Cluster | None
) -> None:
    audit = write_audit(tmp_path, name)
    ways = {"one": ("--n-jobs", "1"), "two": ("--n-jobs", "2")}
    if cluster is not None:
        ways["cluster"] = ("--cluster", cluster.address)
    codes, outcomes = {}, {}
    for way, options in ways.items():
        done = tapas(tmp_path, "run", audit.name, *options, "--folder", way)
        codes[way] = done.returncode
        assert done.returncode in (1, 4, 5, 6), (way, done.stderr)
        if (tmp_path / way / "record.json").exists():
            outcomes[way] = outcome(tmp_path / way)
    assert len(set(codes.values())) == 1, codes
    assert len(outcomes) in (0, len(ways))
    assert all(one == outcomes["one"] for one in outcomes.values())
    assert len(EVERYTHING) >= 60


def test_children_of_a_program_that_is_stopped_end_with_it(tmp_path: Path) -> None:
    program, sign = tmp_path / "program", tmp_path / "alive"
    program.write_text(f"#!/bin/sh\n(while :; do date > {sign}; sleep 0.1; done) &\nsleep 3600\n")
    program.chmod(0o755)
    from tapas.datasets import load_sample
    from tapas.errors import MechanismError
    from tapas.generators import GeneratorFromExecutable

    generator = GeneratorFromExecutable(str(program), timeout=0.5)
    generator.fit(load_sample("census", 5))
    with pytest.raises(MechanismError, match="within"):
        generator.generate(5)
    last = sign.stat().st_mtime_ns
    time.sleep(0.3)
    assert sign.stat().st_mtime_ns == last


def test_nobody_listening_does_not_change_the_verdict(tmp_path: Path) -> None:
    audit = write_audit(
        tmp_path, "exits with 0", generator="Raw", gates=[{"metric": "auc", "at_most": 0.4}]
    )
    tapas = f"{sys.executable} -m tapas.cli"
    codes = set()
    for command in (
        f"{tapas} run {audit.name} --quiet >&- 2>&-",
        f"{tapas} report audit-run | true; exit ${{PIPESTATUS[0]}}",
    ):
        codes.add(subprocess.run(["bash", "-c", command], cwd=tmp_path, check=False).returncode)
    assert codes == {1}


def test_a_verdict_of_an_earlier_run_is_not_left_behind(tmp_path: Path) -> None:
    old = tmp_path / "verdict.xml"
    old.write_text("<testsuite failures='0'/>")
    audit = write_audit(tmp_path, "an import fails")
    assert run(["run", str(audit), "--junit", str(old)]) == 4
    assert not old.exists()
