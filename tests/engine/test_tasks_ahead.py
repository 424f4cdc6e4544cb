"""Tasks that run elsewhere give what they give anywhere, and can be given up."""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tapas.engine import Ahead, Elsewhere, Workers, run_tasks
from tapas.engine._process import PROCESSES
from tapas.errors import WorkersError

KEYS = list(range(40))
PATIENCE = 60.0  # seconds for what must happen at all


def started(task: Any, keys: Sequence[int], where: Workers) -> Ahead[int, Any]:
    return Ahead(Elsewhere(task, where), keys)


@contextmanager
def workers(kind: str) -> Iterator[Workers]:
    if kind == "own processes":
        yield Workers(2)
        return
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield Workers(executor=pool)


@pytest.mark.parametrize("kind", ["own processes", "executor"])
def test_all_results_come_from_elsewhere(kind: str) -> None:
    here = os.getpid()
    with (
        workers(kind) as where,
        closing(started(lambda n: (n * n, os.getpid()), KEYS, where)) as on,
    ):
        found = dict(on.results())
    assert {key: value for key, (value, _) in found.items()} == {key: key * key for key in KEYS}
    assert here not in {process for _, process in found.values()}


def test_results_may_be_left_and_taken_up_again() -> None:
    with closing(started(lambda n: -n, KEYS, Workers(2))) as ahead:
        first = list(islice(ahead.results(), 5))
        rest = list(ahead.results())
    assert len(first) == 5
    assert sorted(first + rest) == [(key, -key) for key in KEYS]


def test_what_follows_a_failure_is_left_to_the_caller() -> None:
    def fails(key: int) -> int:
        if key == 25:
            raise ValueError("bad key")
        return key

    with closing(started(fails, KEYS, Workers(2))) as ahead:
        found = dict(ahead.results())
    assert set(range(25)) <= set(found)
    assert 25 not in found


def test_the_end_leaves_no_gap(tmp_path: Path) -> None:
    def waits(key: int) -> int:
        while key >= 10 and not (tmp_path / "go").exists():
            time.sleep(0.01)
        return key

    many = range(1000)  # more than are begun before one of them waits
    with closing(started(waits, many, Workers(2))) as ahead:
        ahead.end()
        (tmp_path / "go").touch()
        found = sorted(key for key, _ in ahead.results())
    assert found == list(range(len(found)))
    assert len(found) < len(many)


def test_what_is_given_up_stops_at_once_and_disturbs_no_other_work(tmp_path: Path) -> None:
    def hangs(key: int) -> int:
        (tmp_path / f"{key}-{os.getpid()}").touch()
        time.sleep(10 * PATIENCE)
        return key

    def steady(key: int) -> int:
        time.sleep(0.05)
        return os.getpid()

    own: dict[int, int] = {}
    ahead, other = (
        started(hangs, KEYS, Workers(2)),
        started(steady, KEYS, Workers(1, isolated=True)),
    )
    with closing(other):
        begun: list[Path] = []
        until = time.monotonic() + PATIENCE
        while len(begun) < 2 and time.monotonic() < until:
            begun = list(tmp_path.iterdir())
        assert len(begun) == 2
        ahead.close()
        run_tasks(steady, KEYS[:4], receive=own.__setitem__, workers=Workers(2))
        found = dict(other.results())
    for file in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.name.partition("-")[2]), 0)
    assert set(found) == set(KEYS)
    assert len(set(found.values())) == 1  # the one process that it began with lived on
    assert set(own) == set(KEYS[:4])
    assert not ahead._thread.is_alive()


def test_results_that_nobody_takes_hold_the_work_up_and_not_the_end() -> None:
    with closing(started(lambda n: n, list(range(100_000)), Workers(2))) as ahead:
        until = time.monotonic() + PATIENCE
        while not ahead._done.full() and time.monotonic() < until:
            time.sleep(0.01)
        assert ahead._done.full()
    assert not ahead._thread.is_alive()


class EndsAfter(Executor):
    """Somewhere else, by its own words, until it breaks."""

    _max_workers = 1

    def __init__(self, good: int) -> None:
        self.good = good

    def submit(self, run: Any, *given: Any) -> "Future[Any]":  # type: ignore[override]
        done: Future[Any] = Future()
        self.good -= 1
        if self.good < 0:
            raise RuntimeError("cannot schedule new futures after shutdown")
        done.set_result(run(*given))
        return done


def test_an_executor_that_is_gone_is_told() -> None:
    with closing(started(lambda n: n, KEYS, Workers(executor=EndsAfter(2)))) as ahead:
        found = []
        with pytest.raises(WorkersError, match="takes no more work"):
            found.extend(ahead.results())


def test_where_work_is_apart() -> None:
    assert not Workers(1).are_apart(1e9)
    assert Workers(2).are_apart()
    assert not Workers(executor=EndsAfter(100)).are_apart()
    assert not Workers(executor=EndsAfter(0)).are_apart()
    with ThreadPoolExecutor(2) as threads:
        assert not Workers(executor=threads).are_apart()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert Workers(executor=pool).are_apart()
    several = Workers(None)
    assert several.are_apart(1e9) == (several.count() > 1)
    assert not several.are_apart(0.0)


@pytest.fixture(autouse=True)
def no_process_is_left_at_work() -> Iterator[None]:
    yield
    until = time.monotonic() + PATIENCE
    while PROCESSES._busy and time.monotonic() < until:
        time.sleep(0.01)
    assert not PROCESSES._busy
