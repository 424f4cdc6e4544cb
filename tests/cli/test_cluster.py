"""The same audit file on a Dask cluster of real processes, one of which is killed."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from dask_cluster import Cluster

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


PLAYED_BY = """\
import os
import pathlib
import time
from tapas.generators import Raw


class Slow(Raw):
    label = "Slow"

    def __call__(self, *arguments, **more):
        time.sleep(0.1)
        if pathlib.Path.cwd().name == "elsewhere":
            pathlib.Path(f"played-by-{os.getpid()}").touch()
        return super().__call__(*arguments, **more)
"""


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


def _under_way(command: list[str], folder: Path) -> "subprocess.Popen[str]":
    """A run that has written some trials."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while _trials(folder / "far") < 10 and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()[1]
    return process


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
    process = _under_way([*command, "--cluster", cluster.address], tmp_path)
    victim.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert run(["run", str(audit), "--folder", str(tmp_path / "near")]) == 0
    far, near = (
        json.loads((tmp_path / name / "record.json").read_text()) for name in ("far", "near")
    )
    assert far["subjects"] == near["subjects"]
    assert far["subjects"][0]["trials"] == {"train": 60, "test": 60}


@pytest.mark.slow
def test_a_killed_scheduler_loses_nothing_and_another_cluster_goes_on(
    cluster: Cluster, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster", "sleeps_for_cluster"))
    (tmp_path / "sleeps_for_cluster.py").write_text(SLOW)
    cluster.add_worker()
    cluster.wait_for_workers(1)
    command = [sys.executable, "-m", "tapas.cli", "run", str(audit), "--folder", "far"]
    process = _under_way([*command, "--cluster", cluster.address], tmp_path)
    cluster.processes[0].send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=180)
    assert process.returncode != 0, "a run without its cluster is no result"
    assert re.fullmatch("Error: .* scheduler of a cluster is gone.* with another\n", err), err
    kept = _trials(tmp_path / "far")
    assert kept >= 10
    other = Cluster(tmp_path / "elsewhere")
    try:
        other.add_worker()
        other.wait_for_workers(1)
        again = [*command, "--cluster", other.address]
        assert subprocess.run(again, cwd=tmp_path, check=False).returncode == 0
    finally:
        other.close()
    assert run(["run", str(audit), "--folder", str(tmp_path / "near")]) == 0
    far, near = (
        json.loads((tmp_path / name / "record.json").read_text()) for name in ("far", "near")
    )
    assert far["subjects"] == near["subjects"]


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


ONLY_THERE = """\
from distributed import get_worker
from tapas.generators import Raw


class Slow(Raw):
    label = "Slow"

    def __call__(self, *arguments, **more):
        try:
            has = get_worker().state.total_resources
        except ValueError:  # in the check that comes before
            has = {"GPU": 1}
        assert has.get("GPU"), has
        return super().__call__(*arguments, **more)
"""


@pytest.mark.dask
@pytest.mark.slow
def test_trials_are_played_where_the_resources_are(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster", "only_there_for_cluster"))
    (tmp_path / "only_there_for_cluster.py").write_text(ONLY_THERE)
    cluster.add_worker()
    cluster.add_worker(resources="GPU=1")
    cluster.wait_for_workers(2)
    there = ["run", str(audit), "--folder", str(tmp_path / "far"), "--cluster", cluster.address]
    assert run([*there, "--resources", "TPU=1"]) == 4
    assert "has TPU=1: start those that do with dask worker" in capsys.readouterr().err
    assert run([*there, "--resources", "GPU=1"]) == 0
    assert run(["run", str(audit), "--folder", str(tmp_path / "near")]) == 0
    assert _subjects(str(tmp_path / "far")) == _subjects(str(tmp_path / "near"))


@pytest.mark.dask
@pytest.mark.slow
def test_the_executor_of_a_cluster_has_room_for_each_of_its_workers(cluster: Cluster) -> None:
    from distributed import Client

    from tapas.engine import Workers

    with Client(cluster.address, timeout=60, set_as_default=False) as client:
        anywhere = Workers(executor=client.get_executor())
        there = Workers(executor=client.get_executor(resources={"GPU": 1}))
        assert anywhere.count() == there.count() == 1, "work waits for the first"
        for resources in ("GPU=1", "", "GPU=2"):
            cluster.add_worker(threads=2, resources=resources)
        cluster.wait_for_workers(3)
        assert anywhere.count() == 3
        assert there.count() == 2


@pytest.mark.dask
@pytest.mark.slow
def test_a_run_begins_before_its_workers_and_uses_those_that_join(
    cluster: Cluster, tmp_path: Path
) -> None:
    from distributed import Client

    from tapas.audit import load_audit

    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster", "late_for_cluster"))
    (tmp_path / "late_for_cluster.py").write_text(PLAYED_BY)
    with Client(cluster.address, timeout=60, set_as_default=False) as client:
        late = threading.Timer(1, cluster.add_worker)
        later = threading.Timer(6, cluster.add_worker)
        late.start()
        later.start()
        load_audit(audit).run(tmp_path / "far", client.get_executor())
    assert len({file.name for file in (tmp_path / "elsewhere").glob("played-by-*")}) == 2
    load_audit(audit).run(tmp_path / "near", n_jobs=1)
    assert _subjects(str(tmp_path / "far")) == _subjects(str(tmp_path / "near"))


@pytest.mark.parametrize("word", ["GPU", "GPU=", "GPU=0", "=1", "GPU=few"])
def test_resources_are_names_with_numbers(
    word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster:Slow", "Raw"))
    command = ["run", str(audit), "--resources", word]
    assert run([*command, "--cluster", "tcp://127.0.0.1:9"]) == 4
    assert "such as GPU=1" in capsys.readouterr().err
    assert run(command) == 4
    assert "name it (--cluster)" in capsys.readouterr().err


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


def _openssl(folder: Path, *arguments: str) -> None:
    command = ["openssl", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def _certificates(folder: Path) -> None:
    """One authority, and certificates by it for the cluster and for whoever uses it."""
    key = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    name = ("-subj", "/CN=audit")
    _openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", *name)
    for who in ("node", "you"):
        request = ("-keyout", f"{who}.key", "-out", f"{who}.csr", "-subj", f"/CN={who}")
        _openssl(folder, "req", *key[:3], *request)
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
        _openssl(folder, "x509", "-req", "-in", f"{who}.csr", *signed, "-out", f"{who}.pem")


@pytest.mark.dask
@pytest.mark.slow
def test_the_recipe_for_tls_works_and_strangers_are_not_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificates, and is missing")
    import dask

    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text(encoding="utf-8")
    (recipe,) = [block for block in re.findall(r"```\n(.*?)```", page, re.S) if "tls" in block]
    # The words of the page, with the files of this test.
    options = re.search(r"dask scheduler (.*) --protocol tls", recipe)
    assert options is not None
    variables = dict(re.findall(r"(DASK_\w+)=(\S+)", recipe))
    assert len(variables) == 3
    _certificates(tmp_path)
    place = {name: str(tmp_path / name) for name in os.listdir(tmp_path)}
    tls = tuple(place.get(word, word) for word in options[1].split())
    audit = tmp_path / "audit.yaml"
    audit.write_text(AUDIT.replace("slow_for_cluster:Slow", "Raw").replace("60", "10"))
    cluster = Cluster(tmp_path, tls=tls)
    command = ["run", str(audit), "--cluster", cluster.address]
    try:
        cluster.add_worker()
        monkeypatch.setattr("tapas.cli._cluster.SECONDS_TO_CONNECT", 20)
        given = {name: place[file] for name, file in variables.items()}
        with monkeypatch.context() as changed:
            for name, file in given.items():
                changed.setenv(name, file)
            dask.config.refresh()
            assert run([*command, "--folder", str(tmp_path / "far")]) == 0
            assert "in the clear" not in capsys.readouterr().err
        dask.config.refresh()
        monkeypatch.setattr("tapas.cli._cluster.SECONDS_TO_CONNECT", 2)
        assert run([*command, "--folder", str(tmp_path / "stranger")]) == 4
    finally:
        cluster.close()
    assert run(["run", str(audit), "--folder", str(tmp_path / "near")]) == 0
    assert _subjects(str(tmp_path / "far")) == _subjects(str(tmp_path / "near"))
