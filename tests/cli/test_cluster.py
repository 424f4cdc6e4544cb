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
from contextlib import closing
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


GLOBALS = """\
import time
import numpy as np
from tapas.generators import Raw


class Slow(Raw):
    label = "Slow"

    def __call__(self, dataset, num_samples=None):
        time.sleep(0.005)
        return dataset.sample(num_samples, random_state=np.random.randint(2**31))
"""
MODEL = """\
data: {sample: census, rows: 200}
model:
  use: tree_for_cluster:Tree
  parameters: {max_depth: 4}
  class_column: Sex
  shadows: 6
attacks: [LossMIA, {use: LiRA}]
"""
TREE = """\
import os
from sklearn.tree import DecisionTreeClassifier


class Tree(DecisionTreeClassifier):
    def fit(self, X, y):
        with open({log!r}, "a") as file:
            file.write(str(os.getpid()) + "\\n")
        return super().fit(X, y)
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
        place = f"file:{folder / 'index.sqlite'}?mode=ro"
        with closing(sqlite3.connect(place, uri=True)) as index:
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
def test_workers_with_several_threads_give_the_same_results(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster", "globals_for_cluster"))
    (tmp_path / "globals_for_cluster.py").write_text(GLOBALS)
    cluster.add_worker(threads=3)
    cluster.wait_for_workers(1)
    far, near = str(tmp_path / "far"), str(tmp_path / "near")
    assert run(["run", str(audit), "--folder", far, "--cluster", cluster.address]) == 0
    assert "play one trial at a time" in capsys.readouterr().err
    assert run(["run", str(audit), "--folder", near]) == 0
    assert _subjects(far) == _subjects(near)


@pytest.mark.dask
@pytest.mark.slow
def test_shadow_models_are_trained_on_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(MODEL)
    log = tmp_path / "fits.txt"
    (tmp_path / "tree_for_cluster.py").write_text(TREE.format(log=str(log)))
    for _ in range(2):
        cluster.add_worker()
    cluster.wait_for_workers(2)
    far, near = str(tmp_path / "far"), str(tmp_path / "near")
    assert run(["run", str(audit), "--folder", far, "--cluster", cluster.address]) == 0
    fitted_by = log.read_text().split()
    assert fitted_by.count(str(os.getpid())) == 1, "the audited model alone is trained here"
    assert len(fitted_by) == 1 + 6
    assert run(["run", str(audit), "--folder", near]) == 0
    assert _subjects(far) == _subjects(near)


def _subjects(folder: str) -> object:
    return json.loads((Path(folder) / "record.json").read_text())["subjects"]


def test_an_address_where_nobody_answers_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("tapas.cli._cluster.SECONDS_TO_CONNECT", 0.2)
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster:Slow", "Raw"))
    assert run(["run", str(audit), "--cluster", "tcp://127.0.0.1:9"]) == 4
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
