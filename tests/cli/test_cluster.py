"""The same audit file on a Dask cluster of real processes, one of which is killed."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapas.cli._main import run

AUDIT = """\
data: {sample: census, rows: 160, targets: {random: 2}}
generator: slow_for_cluster:Slow
attacks: [ClosestDistanceMIA]
knowledge: {records: 40}
trials: {train: 60, test: 60}
controls: false
"""
SLOW = """\
import time
from tapas.generators import Raw


class Slow(Raw):
    label = "Slow"

    def __call__(self, *arguments, **more):
        time.sleep(0.05)
        return super().__call__(*arguments, **more)
"""


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self.processes = [self._start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port))]

    def add_worker(self, threads: int = 1) -> "subprocess.Popen[bytes]":
        options = ("--nthreads", str(threads), "--no-nanny", "--memory-limit", "0")
        self.processes.append(self._start("dask_worker", self.address, *options))
        return self.processes[-1]

    def _start(self, what: str, *arguments: str) -> "subprocess.Popen[bytes]":
        environment = {k: v for k, v in os.environ.items() if k != "MALLOC_TRIM_THRESHOLD_"}
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{what}", *arguments, "--no-dashboard"],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait_for_workers(self, number: int) -> None:
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=60)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is not installed")
    # Workers run elsewhere: they do not see the folder of the audit file.
    (tmp_path / "elsewhere").mkdir()
    made = Cluster(tmp_path / "elsewhere")
    yield made
    made.close()


def _trials(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'index.sqlite'}?mode=ro", uri=True) as index:
            return int(index.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.dask
@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_results(
    cluster: Cluster, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT)
    (tmp_path / "slow_for_cluster.py").write_text(SLOW)
    victim = cluster.add_worker()
    cluster.add_worker()
    cluster.wait_for_workers(2)
    command = [sys.executable, "-m", "tapas.cli", "run", str(audit), "--folder", "far"]
    process = subprocess.Popen(
        [*command, "--cluster", cluster.address],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while _trials(tmp_path / "far") < 10 and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()[1]
    victim.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert run(["run", str(audit), "--folder", str(tmp_path / "near")]) == 0
    far, near = (
        json.loads((tmp_path / name / "record.json").read_text()) for name in ("far", "near")
    )
    assert far["subjects"] == near["subjects"]
    assert far["subjects"][0]["trials"] == {"train": 60, "test": 60}


@pytest.mark.dask
@pytest.mark.slow
def test_workers_with_several_threads_are_refused(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster:Slow", "Raw"))
    cluster.add_worker(threads=2)
    cluster.wait_for_workers(1)
    folder = str(tmp_path / "run")
    assert run(["run", str(audit), "--folder", folder, "--cluster", cluster.address]) == 4
    assert "start workers with --nthreads 1" in capsys.readouterr().err


def test_an_address_where_nobody_answers_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("tapas.cli._cluster.SECONDS_TO_CONNECT", 0.2)
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster:Slow", "Raw"))
    assert run(["run", str(audit), "--cluster", "tcp://127.0.0.1:9"]) == 4
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
