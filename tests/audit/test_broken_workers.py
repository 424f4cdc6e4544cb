"""Workers that end or cannot be started end a run: that is no failure of an attack or a trial."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit
from tapas.datasets import load_sample
from tapas.engine import end_workers
from tapas.errors import WorkersError
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA


class EndsItsProcess(Raw):
    def __call__(self, *arguments: Any, **more: Any) -> Any:
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        return super().__call__(*arguments, **more)


class KilledWorkerError(Exception):
    """As Dask says it; it has no class in common with those of other executors."""

    __module__ = "distributed.scheduler"


class Breaks(Executor):
    """Does the first pieces of work, and fails at the next."""

    _max_workers = 1

    def __init__(self, error: Exception, good: int = 3) -> None:
        self.error, self.good = error, good

    def submit(self, run: Callable[..., Any], *arguments: Any) -> Future[Any]:  # type: ignore[override]
        self.good -= 1
        done: Future[Any] = Future()
        if self.good < 0:
            done.set_exception(self.error)
        else:
            done.set_result(run(*arguments))
        return done


@pytest.fixture
def own_processes() -> Iterator[None]:
    end_workers()
    yield
    end_workers()


def audit(generator: Raw | None = None, **more: Any) -> Audit:
    people = load_sample("census", 200)
    knows = AuxiliaryDataKnowledge(people.drop_records([0]), num_training_records=40)
    game = TargetedMIA(knows, people.take([0]), BlackBoxKnowledge(generator or Raw(), 40))
    return Audit(game, [ClosestDistanceMIA()], 20, 20, max_failures=100, **more)


@pytest.mark.parametrize(
    "error",
    [KilledWorkerError("task", 3), CancelledError(), BrokenExecutor("gone")],
    ids=["dask", "cancelled", "broken"],
)
def test_a_worker_that_is_lost_ends_the_run_and_the_next_goes_on(
    error: Exception, tmp_path: Path
) -> None:
    with pytest.raises(WorkersError, match="same run goes on") as raised:
        audit().run(tmp_path / "run", Breaks(error))
    assert isinstance(raised.value, BrokenExecutor)
    assert ("scheduler" in str(raised.value)) == isinstance(error, CancelledError)
    assert raised.value.__cause__ is error
    assert not (tmp_path / "run" / "record.json").exists()
    subject = audit().run(tmp_path / "run").subjects[0]
    assert not subject.crashes
    assert not subject.failures
    assert subject.trials == {"train": 20, "test": 20}


def test_code_that_ends_the_worker_of_a_pool_is_told_to_run_apart(tmp_path: Path) -> None:
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool,
        pytest.raises(WorkersError, match="timeout"),
    ):
        audit(EndsItsProcess()).run(tmp_path / "run", pool)


def test_a_pool_that_was_shut_down_is_told_as_that(tmp_path: Path) -> None:
    pool = ProcessPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(WorkersError, match="shutdown"):
        audit().run(tmp_path / "run", pool)


UNGUARDED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from tapas.engine import Workers, run_tasks

pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
run_tasks(abs, range(9), receive=print, workers=Workers(executor=pool))
"""


def test_a_script_that_its_workers_cannot_import_is_told_how_to_begin(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("tapas.errors.WorkersError")
    assert 'if __name__ == "__main__":' in last


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
@pytest.mark.parametrize("limit", [None, 30.0], ids=["processes", "limits"])
def test_processes_that_cannot_be_started_are_told_as_that(
    program: str,
    limit: float | None,
    own_processes: None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    asked = audit(timeout=limit)
    with pytest.raises(WorkersError, match="cannot be started"):
        asked.run(tmp_path / "run", n_jobs=2)
    monkeypatch.undo()
    subject = audit().run(tmp_path / "run").subjects[0]
    assert not subject.crashes
    assert not subject.failures
