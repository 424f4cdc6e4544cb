"""Tasks give the same results wherever they run, and what was finished is never lost."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
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


class Clock:
    """Time that passes only where a task says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, waiting: int = 0) -> None:
        self.now = 0.0
        monkeypatch.setattr("tapas.engine._tasks.PROCESSES.count_waiting", lambda: waiting)
        monkeypatch.setattr("tapas.engine._tasks.time.perf_counter", lambda: self.now)
        monkeypatch.setattr("tapas.engine._tasks.Workers.count", lambda workers: 2)
        monkeypatch.setattr("tapas.engine._tasks._run_in_processes", self._note)
        self.left: list[int] = []

    def _note(self, count: int, task: Any, keys: list[int], *rest: Any) -> None:
        self.left = keys


@pytest.mark.parametrize(
    ("first", "others", "waiting", "here"),
    [
        (2.0, 0.001, 0, 1000),
        (0.001, 0.001, 0, 1000),
        (0.001, 0.02, 0, 9),
        (5.0, 5.0, 0, 2),
        (0.001, 0.001, 1, 1000),
        (0.001, 0.0016, 2, 95),
        (0.001, 0.0004, 2, 1000),
    ],
)
def test_processes_are_started_for_what_is_long_and_not_for_a_slow_start(
    first: float, others: float, waiting: int, here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch, waiting)

    def task(key: int) -> int:
        clock.now += first if key == 0 else others
        return key

    received = collect(task, list(range(1000)), None)
    assert sorted([*received, *clock.left]) == list(range(1000))
    assert len(received) == here


class Postman(Executor):
    """Runs chunks here, and weighs what it is given; each worker has a memory of its own."""

    def __init__(self, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self._max_workers, self.sent, self.patch = workers, [], monkeypatch
        self.memories: list[dict[str, Any]] = [{} for _ in range(workers)]

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        memory = self.memories[len(self.sent) % 3 % len(self.memories)]
        self.sent.append(len(cloudpickle.dumps(args)))
        self.patch.setattr("tapas.engine._tasks._received_tasks", memory)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_task_is_sent_once_to_each_worker(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(0).normal(size=10_000)
    monkeypatch.setattr("tapas.engine._tasks.SECONDS_PER_CHUNK", 0.0)

    def task(key: int) -> float:
        return float(table[key])

    executor = Postman(number, monkeypatch)
    received = collect(task, KEYS, Workers(executor=executor))
    assert received == {key: table[key] for key in KEYS}
    assert len(executor.sent) >= len(KEYS)
    assert sum(size > table.nbytes for size in executor.sent) == number


class Growing(Executor):
    """One worker at first, which holds on to its work until others have joined and begun."""

    def __init__(self, later: int) -> None:
        self._max_workers, self.later = 1, later
        self.held: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self.held.append((future, lambda: fn(*args, **kwargs)))
        self._max_workers = self.later
        if len(self.held) > 2:
            for begun, call in self.held:
                if not begun.done():
                    begun.set_result(call())
        return future


def test_workers_that_join_later_are_given_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tapas.engine._tasks.SECONDS_BETWEEN_COUNTS", 0.01)
    monkeypatch.setattr("tapas.engine._room.SECONDS_BETWEEN_COUNTS", 0.01)
    workers = Workers(executor=Growing(later=50))
    assert collect(lambda key: key + 1, KEYS, workers) == {key: key + 1 for key in KEYS}


def test_a_scheduler_that_is_gone_is_not_asked_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    from tapas.engine._room import Room

    monkeypatch.setattr("tapas.engine._room.SECONDS_BETWEEN_COUNTS", 0.0)
    answers = iter([3, 5])

    def count() -> int:
        for answer in answers:
            return answer
        raise OSError("nobody answers")

    room = Room(count)
    assert [room.now(), room.now()] == [5, 5]


def test_libraries_that_a_task_imports_find_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)

    def task(key: int) -> tuple[str | None, ...]:
        return os.environ.get("OMP_NUM_THREADS"), os.environ.get("MKL_NUM_THREADS")

    assert collect(task, [1], Workers(1)) == {1: ("1", "1")}
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


TORCH_COMES_LATE = """
from tapas.engine import Workers, run_tasks

def task(key):
    import torch
    torch.ones(3).sum()
    return torch.get_num_threads()

import numpy, threadpoolctl
usual = max(one["num_threads"] for one in threadpoolctl.threadpool_info())
found = {}
run_tasks(task, [1, 2], receive=found.__setitem__, workers=Workers(1))
import torch
print(found, torch.get_num_threads() == usual)
"""


@pytest.mark.slow
def test_torch_that_a_task_imports_is_limited_and_set_free_again() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", TORCH_COMES_LATE]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "{1: 1, 2: 1} True"


def test_processes_that_left_for_want_of_work_are_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tapas.engine._process import PROCESSES

    collect(work, KEYS[:4], Workers(2))
    monkeypatch.setattr("tapas.engine._process.OwnProcess.is_alive", True)  # as it seems
    for process in list(PROCESSES._idle):
        process._process.kill()
        process._process.wait()
    assert collect(work, KEYS[:4], Workers(2)) == collect(work, KEYS[:4], Workers(1))


def test_a_key_that_is_lost_has_the_value_that_is_given_for_it() -> None:
    def task(key: int) -> int:
        if key == 1002:
            os._exit(0)
        return key

    received: dict[int, Any] = {}
    run_tasks(
        task,
        KEYS[:5],
        receive=received.__setitem__,
        workers=Workers(1, isolated=True),
        lost=lambda key, error: str(error),
    )
    expected = {key: key for key in KEYS[:5]} | {1002: "its process ended (exit status 0)"}
    assert received == expected


@pytest.mark.parametrize(
    ("number", "says"), [(signal.SIGKILL, True), (signal.SIGABRT, False)], ids=["kill", "abort"]
)
def test_of_a_process_that_is_killed_it_is_said_what_may_have_done_it(
    number: int, says: bool
) -> None:
    received: dict[int, Any] = {}
    run_tasks(
        lambda key: os.kill(os.getpid(), number),
        KEYS[:1],
        receive=received.__setitem__,
        workers=Workers(1, isolated=True),
        lost=lambda key, error: str(error),
    )
    (words,) = received.values()
    assert words.startswith(f"its process ended (signal {int(number)})")
    assert ("killed from outside, or for want of memory" in words) == says
    assert ("the same run tries it again" in words) == says


@pytest.mark.parametrize("jobs", [1, 2])
def test_enough_is_enough_but_leaves_no_gap(jobs: int) -> None:
    received: dict[int, int] = {}
    run_tasks(
        lambda key: key,
        KEYS,
        receive=received.__setitem__,
        workers=Workers(jobs),
        enough=lambda: len(received) >= 3,
    )
    assert 3 <= len(received) < len(KEYS)
    assert sorted(received) == KEYS[: len(received)]


def test_the_simulation_of_many_machines_plays_all_though_some_are_lost() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "bench_many_machines.py"
    command = [sys.executable, str(script), "120", "10"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (again,) = [line for line in done.stdout.splitlines() if "done again" in line]
    assert int(again.split()[-1]) >= 1
