"""Tasks give the same results wherever they run, and what was finished is never lost."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapas.engine import Silent, TaskFailedError, Workers, open_progress, run_tasks
from tapas.errors import ConfigError, ReproducibilityWarning, TapasError

KEYS = list(range(1000, 1040))


def work(key: int) -> float:
    matrix = np.random.default_rng(key).normal(size=(30, 30))
    return float(np.linalg.inv(matrix).sum())


def collect(task: Any, keys: list[Any], workers: Workers | None, **options: Any) -> dict[Any, Any]:
    received: dict[Any, Any] = {}
    run_tasks(task, keys, receive=received.__setitem__, workers=workers, **options)
    return received


def test_results_do_not_depend_on_where_tasks_run() -> None:
    def task(key: int) -> float:
        return work(key)

    serial = collect(task, KEYS, Workers(n_jobs=1))
    assert list(serial) == KEYS
    assert collect(task, KEYS, Workers(n_jobs=2)) == serial
    assert collect(task, KEYS, None) == serial
    with ThreadPoolExecutor(3) as threads:
        workers = Workers(executor=threads)
        assert workers.are_threads
        assert collect(task, KEYS, workers) == serial


def test_a_foreign_executor_is_used() -> None:
    from concurrent.futures import Executor, Future

    class Recording(Executor):
        calls = 0

        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
            self.calls += 1
            future: Future[Any] = Future()
            future.set_result(fn(*args, **kwargs))
            return future

    executor = Recording()
    workers = Workers(executor=executor)
    assert collect(lambda key: key + 1, [1, 2, 3], workers) == {1: 2, 2: 3, 3: 4}
    assert not workers.are_threads
    assert executor.calls >= 1


@pytest.mark.parametrize("where", ["serial", "processes", "threads"])
def test_a_failure_keeps_finished_results_and_names_the_first_key(where: str) -> None:
    def task(key: int) -> int:
        if key in (1005, 1007, 1030):
            raise ValueError(f"bad key {key}")
        return key

    received: dict[int, int] = {}
    with ThreadPoolExecutor(2) as threads:
        workers = {
            "serial": Workers(1),
            "processes": Workers(2),
            "threads": Workers(executor=threads),
        }[where]
        with pytest.raises(TaskFailedError, match="1005") as caught:
            run_tasks(task, KEYS, receive=received.__setitem__, workers=workers)
    assert caught.value.key == 1005
    assert isinstance(caught.value, TapasError)
    assert str(caught.value.__cause__) == "bad key 1005"
    assert set(range(1000, 1005)) <= set(received)
    assert all(received[key] == key for key in received)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_keeps_what_was_received(jobs: int) -> None:
    received: dict[int, int] = {}

    def receive(key: int, value: int) -> None:
        if len(received) == 5:
            raise KeyboardInterrupt
        received[key] = value

    with pytest.raises(KeyboardInterrupt):
        run_tasks(lambda key: 2 * key, KEYS, receive=receive, workers=Workers(jobs))
    assert len(received) == 5
    rest = [key for key in KEYS if key not in received]
    run_tasks(lambda key: 2 * key, rest, receive=received.__setitem__, workers=Workers(jobs))
    assert received == {key: 2 * key for key in KEYS}


def test_a_killed_worker_is_survived(tmp_path: Path) -> None:
    marker = str(tmp_path / "killed")

    def task(key: int) -> int:
        if key == 1010 and not os.path.exists(marker):
            with open(marker, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return 3 * key

    counts: dict[int, int] = {}

    def receive(key: int, value: int) -> None:
        assert value == 3 * key
        counts[key] = counts.get(key, 0) + 1

    run_tasks(task, KEYS, receive=receive, workers=Workers(2))
    assert os.path.exists(marker)
    assert counts == dict.fromkeys(KEYS, 1)


def test_work_that_cannot_travel_runs_here_with_a_warning() -> None:
    import threading

    lock = threading.Lock()

    def task(key: int) -> int:
        with lock:
            return key

    with pytest.warns(ReproducibilityWarning, match="one core"):
        received = collect(task, [1, 2, 3], Workers(2))
    assert received == {1: 1, 2: 2, 3: 3}


def test_nothing_to_do_is_nothing_done() -> None:
    assert collect(work, [], Workers(2)) == {}


def test_progress_counts_every_delivered_result() -> None:
    class Counter:
        def __init__(self, total: int) -> None:
            self.total, self.count, self.closed = total, 0, False

        def update(self, n: int = 1) -> None:
            self.count += n

        def close(self) -> None:
            self.closed = True

    counter = open_progress(3, "work", Counter)
    assert isinstance(counter, Counter)
    collect(str, [1, 2, 3], Workers(1), progress=counter)
    assert (counter.total, counter.count) == (3, 3)
    assert isinstance(open_progress(3, "work"), Silent)


def test_global_randomness_is_put_back() -> None:
    def task(key: int) -> float:
        np.random.seed(key)  # noqa: NPY002
        return float(np.random.random())  # noqa: NPY002

    np.random.seed(1)  # noqa: NPY002
    expected = np.random.random(2).tolist()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    first = np.random.random()  # noqa: NPY002
    collect(task, [5, 6], Workers(1))
    assert [first, np.random.random()] == expected  # noqa: NPY002


@pytest.mark.parametrize("jobs", [0, 1.5, True, "2"])
def test_wrong_numbers_of_jobs_are_refused(jobs: Any) -> None:
    with pytest.raises(ConfigError, match="n_jobs"):
        Workers(jobs)


def test_jobs_are_counted_from_the_cores() -> None:
    assert Workers(3).count() == 3
    assert Workers(-1).count() == Workers().count() >= 1
