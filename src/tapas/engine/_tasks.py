"""Run one pure function over many keys, wherever there is room.

The function must depend on its key alone; then the results do not depend on where or in which
order the keys are run. Every result is handed over as soon as it is there, so an interrupted or
failed run keeps what it had finished.
"""

import hashlib
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tapas._random import preserved_globals
from tapas.engine._one_thread import one_thread
from tapas.engine._progress import Progress, Silent
from tapas.errors import ConfigError, ReproducibilityWarning, TapasError

WORTH_STARTING_PROCESSES = 3.0  # seconds of serial work left
WORTH_FORECASTING = 0.15  # seconds of work that such a forecast rests on
SECONDS_PER_CHUNK = 0.5
MAX_LOST_POOLS = 3

Key = TypeVar("Key")
Value = TypeVar("Value")
Task = Callable[[Key], Value]
Receive = Callable[[Key, Value], None]
# values of the keys that went well, the error that stopped the rest, seconds
Chunk = tuple[list[Value], BaseException | None, float]
# sends keys to an executor, with the task itself or without; None comes back if it is missing
Submit = Callable[[Executor, list[Key], bool], Future[Chunk[Value] | None]]


class TaskFailedError(TapasError, RuntimeError):
    """A task raised; the error is its cause, `key` says which one it was."""

    def __init__(self, key: object) -> None:
        super().__init__(f"task {key!r} failed")
        self.key: Any = key


@dataclass(frozen=True)
class Workers:
    """Where tasks run.

    Attributes
    ----------
    n_jobs : int or None
        Number of processes; -1 is one per core. None starts in this process and moves to one
        process per core if the work turns out to be long.
    executor : concurrent.futures.Executor, optional
        Run there instead (a thread pool, a process pool, a cluster).
    """

    n_jobs: int | None = None
    executor: Executor | None = None

    def __post_init__(self) -> None:
        jobs = self.n_jobs
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0):
            raise ConfigError(f"n_jobs must be None, -1 or a positive integer, got {jobs!r}")

    @property
    def are_threads(self) -> bool:
        """Whether tasks share this process' global state."""
        return isinstance(self.executor, ThreadPoolExecutor)

    def count(self) -> int:
        """How many tasks may run at once."""
        own = getattr(self.executor, "_max_workers", None)
        if self.n_jobs is None and isinstance(own, int):
            return own
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        available = cores or os.cpu_count() or 1
        if self.n_jobs is None:
            return available
        return self.n_jobs if self.n_jobs > 0 else max(1, available + 1 + self.n_jobs)


def run_tasks(
    task: Task[Key, Value],
    keys: Sequence[Key],
    *,
    receive: Receive[Key, Value],
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> None:
    """Call ``receive(key, task(key))`` for every key.

    Parameters
    ----------
    task : callable
        A pure function of its key.
    keys : sequence
    receive : callable
        Called in this process, once per finished key, in order of completion.
    workers : Workers
    progress : Progress, optional

    Raises
    ------
    TaskFailedError
        After the tasks that were under way have been received. Of several failures, the one
        whose key comes first.
    """
    workers = workers or Workers()
    bar = progress or Silent()

    def deliver(key: Key, value: Value) -> None:
        receive(key, value)
        bar.update(1)

    remaining = list(keys)
    if workers.executor is not None:
        with _same_everywhere():
            submit = _hand_over(task) if workers.are_threads else _sender(task)
            _run_on(workers.executor, workers.count(), submit, remaining, deliver)
        return
    if workers.n_jobs is None or workers.count() == 1:
        patience = WORTH_STARTING_PROCESSES if workers.count() > 1 else None
        remaining = _run_here(task, remaining, deliver, patience)
    if remaining:
        _run_in_processes(workers.count(), task, remaining, deliver)


@contextmanager
def _same_everywhere() -> Iterator[None]:
    """Numerical libraries on one thread; globals put back."""
    with one_thread(), preserved_globals():
        yield


def _run_here(
    task: Task[Key, Value],
    keys: list[Key],
    deliver: Receive[Key, Value],
    patience: float | None,
) -> list[Key]:
    """Run keys in order; return the rest if more than `patience` seconds would be left.

    The first key does not count: with it come imports and caches.
    """
    with _same_everywhere():
        for done, key in enumerate(keys):
            try:
                value = task(key)
            except Exception as error:
                raise TaskFailedError(key) from error
            deliver(key, value)
            if done == 0:
                start = time.perf_counter()
                continue
            left, spent = len(keys) - done - 1, time.perf_counter() - start
            is_long = patience is not None and spent * left / done > patience
            if is_long and left > 1 and spent > WORTH_FORECASTING:
                return keys[done + 1 :]
    return []


def _run_in_processes(
    count: int, task: Task[Key, Value], keys: list[Key], deliver: Receive[Key, Value]
) -> None:
    """Run on local processes; a pool that loses a worker is replaced, its lost keys run again."""
    from loky import get_reusable_executor

    done: set[int] = set()
    positions = {id(key): position for position, key in enumerate(keys)}

    def deliver_once(key: Key, value: Value) -> None:
        done.add(positions[id(key)])
        deliver(key, value)

    try:
        submit = _sender(task)
    except Exception as error:
        warnings.warn(
            f"the work runs on one core because part of it cannot be sent to another process "
            f"({error})",
            ReproducibilityWarning,
            stacklevel=2,
        )
        _run_here(task, keys, deliver, None)
        return
    for attempt in range(MAX_LOST_POOLS):
        left = [key for position, key in enumerate(keys) if position not in done]
        try:
            pool = get_reusable_executor(max_workers=count, initializer=_end_with_parent)
            _run_on(pool, count, submit, left, deliver_once)
            return
        except BrokenProcessPool as error:
            if attempt == MAX_LOST_POOLS - 1:
                first = next(key for position, key in enumerate(keys) if position not in done)
                raise TaskFailedError(first) from error


def _end_with_parent() -> None:
    """Runs in a worker: leave when the process that started it is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run_on(
    executor: Executor,
    count: int,
    submit: Submit[Key, Value],
    keys: list[Key],
    deliver: Receive[Key, Value],
) -> None:
    """Feed an executor chunk by chunk, each sized to take about half a second.

    The first chunk of each worker brings the task; a worker that has not got it, because it came
    later or another got two, says so and is sent the chunk again with the task.
    """
    order = {id(key): rank for rank, key in enumerate(keys)}
    queue = deque(keys)
    running: dict[Future[Chunk[Value] | None], list[Key]] = {}
    failures: list[tuple[Key, BaseException]] = []
    size, to_equip = 1, count
    try:
        while running or (queue and not failures):
            while queue and not failures and len(running) < 2 * count:
                chunk = [queue.popleft() for _ in range(min(size, len(queue)))]
                running[submit(executor, chunk, to_equip > 0)] = chunk
                to_equip -= 1
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                chunk = running.pop(future)
                done = future.result()
                if done is None:
                    running[submit(executor, chunk, True)] = chunk
                    continue
                values, error, seconds = done
                for key, value in zip(chunk, values, strict=False):
                    deliver(key, value)
                if error is not None:
                    failures.append((chunk[len(values)], error))
                elif seconds > 0:
                    size = max(1, min(2 * size, int(SECONDS_PER_CHUNK * len(values) / seconds)))
    except BaseException:
        for future in running:
            future.cancel()
        raise
    if failures:
        key, error = min(failures, key=lambda failure: order[id(failure[0])])
        raise TaskFailedError(key) from error


def _hand_over(task: Task[Key, Value]) -> Submit[Key, Value]:
    """For threads, which share the task."""
    return lambda executor, chunk, whole: executor.submit(_run_chunk, task, chunk)


def _sender(task: Task[Key, Value]) -> Submit[Key, Value]:
    """For processes: the task itself where `whole`, else its digest."""
    import cloudpickle

    payload = cloudpickle.dumps(task)
    digest = hashlib.blake2b(payload).hexdigest()

    def submit(executor: Executor, chunk: list[Key], whole: bool) -> "Future[Chunk[Value] | None]":
        return executor.submit(_run_sent_chunk, digest, payload if whole else None, chunk)

    return submit


def _run_chunk(task: Task[Key, Value], keys: list[Key]) -> Chunk[Value]:
    values: list[Value] = []
    start = time.perf_counter()
    for key in keys:
        try:
            values.append(task(key))
        except Exception as error:
            return values, error, 0.0
    return values, None, time.perf_counter() - start


_received_tasks: dict[str, Callable[[Any], Any]] = {}
# Threads of one worker share its global random state and its numerical libraries: they take turns.
_one_at_a_time = threading.Lock()


def _run_sent_chunk(digest: str, payload: bytes | None, keys: list[Any]) -> Chunk[Any] | None:
    """Runs in a worker: unpack the task once, keep it; None if it is not here yet."""
    import cloudpickle

    with _one_at_a_time, _same_everywhere():
        if digest not in _received_tasks:
            if payload is None:
                return None
            _received_tasks.clear()
            _received_tasks[digest] = cloudpickle.loads(payload)
        values, error, seconds = _run_chunk(_received_tasks[digest], keys)
    return values, None if error is None else _that_travels(error), seconds


def _that_travels(error: BaseException) -> BaseException:
    """The error itself if another process can rebuild it, else one that tells of it."""
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
