"""Run one pure function over many keys, wherever there is room.

The function must depend on its key alone; then the results do not depend on where or in which
order the keys are run. Every result is handed over as soon as it is there, so an interrupted or
failed run keeps what it had finished.
"""

import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from tapas.engine._alike import same_everywhere
from tapas.engine._guard import guarded
from tapas.engine._lost_workers import work_refused, workers_lost
from tapas.engine._process import (
    PROCESSES,
    Crew,
    Lost,
    LostError,
    Sent,
    pack,
    run_in_own_process,
    that_travels,
    unpack,
)
from tapas.engine._progress import Progress, Silent
from tapas.engine._room import SECONDS_BETWEEN_COUNTS, Room, is_elsewhere, room_of
from tapas.errors import ConfigError, ReproducibilityWarning, TapasError

WORTH_STARTING_PROCESSES = 3.0  # seconds of serial work left
WORTH_SENDING = 0.5  # the same where processes wait for work
WORTH_FORECASTING = 0.15  # seconds of work that such a forecast rests on
SECONDS_PER_CHUNK = 0.5

Key = TypeVar("Key")
Value = TypeVar("Value")
Task = Callable[[Key], Value]
Receive = Callable[[Key, Value], None]
# values of the keys that went well, the error that stopped the rest, seconds
Chunk = tuple[list[Value], BaseException | None, float]
# sends keys away, with the task itself or without; None comes back if it is missing
Submit = Callable[[list[Key], bool], Future[Chunk[Value] | None]]


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
        process per core if the work turns out to be long. Of an executor, how many tasks it is
        given at once; None asks it.
    executor : concurrent.futures.Executor, optional
        Run there instead (a thread pool, a process pool, a cluster).
    isolated : bool
        Tasks never run in this process: one that dies, or will not stop, is lost alone.
    """

    n_jobs: int | None = None
    executor: Executor | None = None
    isolated: bool = False

    def __post_init__(self) -> None:
        jobs = self.n_jobs
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0):
            raise ConfigError(f"n_jobs must be None, -1 or a positive integer, got {jobs!r}")

    @property
    def are_threads(self) -> bool:
        """Whether tasks share this process' global state."""
        return isinstance(self.executor, ThreadPoolExecutor)

    def are_apart(self, seconds: float = 0.0) -> bool:
        """Whether work that would take so many `seconds` here runs in other processes."""
        if self.executor is not None:
            return not self.are_threads and is_elsewhere(self.executor)
        if os.name != "posix" or self.count() == 1:
            return False
        return self.n_jobs is not None or seconds > (_patience(self.count()) or 0.0)

    def count(self) -> int:
        """How many tasks may run at once; of a cluster, by the workers that it has now."""
        own = room_of(self.executor) if self.n_jobs is None else None
        if own is not None:
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
    lost: Lost[Key, Value] | None = None,
    enough: Callable[[], bool] = lambda: False,
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
    lost : callable, optional
        The value of a key whose process ended again and again, or would not stop; by default this
        is a failure of the task.
    enough : callable
        No more keys are begun once it returns True; those under way, and all before them, are
        received.

    Raises
    ------
    TaskFailedError
        After the tasks that were under way have been received. Of several failures, the one
        whose key comes first.
    WorkersError
        Where tasks run is gone, or cannot be started.
    """
    workers = workers or Workers()
    bar = progress or Silent()

    def deliver(key: Key, value: Value) -> None:
        receive(key, value)
        bar.update(1)

    remaining, options = keys, _Options(lost, enough)
    if workers.executor is not None:
        crew = Crew()
        with same_everywhere():
            submit = _submitter(workers.executor, workers, task, options, crew)
            try:
                _run_on(submit, workers.count, remaining, deliver, options)
            except BaseException:
                crew.end_all()
                raise
        return
    if not workers.isolated and (workers.n_jobs is None or workers.count() == 1):
        remaining = _run_here(task, remaining, deliver, _patience(workers.count()), options)
    if not remaining:
        return
    sent = _packed(task, options) if os.name == "posix" else None
    if sent is None:
        _run_here(task, remaining, deliver, None, options)
    else:
        _run_in_processes(workers.count(), sent, remaining, deliver, options, Crew())


class Elsewhere(Generic[Key, Value]):
    """Runs keys in other processes, from any thread, and leaves this one alone.

    Parameters
    ----------
    task : callable
        A pure function of its key that can be sent.
    workers : Workers
        Those that `are_apart`.
    lost : callable, optional
        As of `run_tasks`.
    """

    def __init__(
        self,
        task: Task[Key, Value],
        workers: Workers,
        lost: Lost[Key, Value] | None = None,
    ) -> None:
        self._sent, self._workers, self._lost = pack(task, lost), workers, lost
        self._crew = Crew()

    def count(self) -> int:
        """How many keys may run at once."""
        return self._workers.count()

    def run(
        self,
        keys: Sequence[Key],
        receive: Receive[Key, Value],
        enough: Callable[[], bool],
    ) -> None:
        """Call ``receive(key, task(key))`` for every key, as `run_tasks` does."""
        options, executor = _Options(self._lost, enough), self._workers.executor
        if executor is None:
            count = self._workers.count()
            _run_in_processes(count, self._sent, keys, receive, options, self._crew)
        else:
            submit: Submit[Key, Value] = _sender(executor, self._workers.isolated, self._sent)
            _run_on(submit, self._workers.count, keys, receive, options)

    def end(self) -> None:
        """Local processes stop in the midst of their work."""
        self._crew.end_all()


def _patience(count: int) -> float | None:
    """How many seconds of work this process does by itself."""
    if count == 1:
        return None
    return WORTH_SENDING if PROCESSES.count_waiting() >= count else WORTH_STARTING_PROCESSES


def _run_here(
    task: Task[Key, Value],
    keys: Sequence[Key],
    deliver: Receive[Key, Value],
    patience: float | None,
    options: "_Options[Key, Value]",
) -> Sequence[Key]:
    """Run keys in order; return the rest if more than `patience` seconds would be left.

    The first key does not count: with it come imports and caches.
    """
    with same_everywhere():
        for done, key in enumerate(keys):
            if options.enough():
                return []
            try:
                with guarded():
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
    count: int,
    sent: Sent,
    keys: Sequence[Key],
    deliver: Receive[Key, Value],
    options: "_Options[Key, Value]",
    crew: Crew,
) -> None:
    """Run on local processes of our own, each looked after by a thread."""
    threads = ThreadPoolExecutor(min(count, len(keys)), thread_name_prefix="tapas")
    try:
        run = partial(run_in_own_process, sent, crew=crew, lost=options.lost)
        _run_on(
            lambda chunk, whole: threads.submit(run, chunk), lambda: count, keys, deliver, options
        )
    except BaseException:
        crew.end_all()
        raise
    finally:
        threads.shutdown()


def _packed(task: Task[Key, Value], options: "_Options[Key, Value]") -> Sent | None:
    try:
        return pack(task, options.lost)
    except Exception as error:
        warnings.warn(
            f"the work runs on one core because part of it cannot be sent to another process "
            f"({error})",
            ReproducibilityWarning,
            stacklevel=2,
        )
        return None


@dataclass(frozen=True)
class _Options(Generic[Key, Value]):
    """What to do besides: on a lost process, and when enough is known."""

    lost: Lost[Key, Value] | None
    enough: Callable[[], bool]


def _run_on(
    submit: Submit[Key, Value],
    count: Callable[[], int],
    keys: Sequence[Key],
    deliver: Receive[Key, Value],
    options: _Options[Key, Value],
) -> None:
    """Hand out chunks in order, each sized to take about half a second.

    Workers that join later get their share. The first chunk of each brings the task; one that
    has not got it, because another got two, says so and is sent the chunk again with the task.
    """
    running: dict[Future[Chunk[Value] | None], tuple[int, list[Key]]] = {}
    failures: list[tuple[int, Key, BaseException]] = []
    has_answered = False
    start, size, equipped, room = 0, 1, 0, Room(count)

    def go_on() -> bool:
        return start < len(keys) and not failures and not options.enough()

    def send(first: int, chunk: list[Key], whole: bool) -> None:
        try:
            running[submit(chunk, whole)] = first, chunk
        except (RuntimeError, OSError) as refusal:
            raise work_refused(refusal, has_answered) from refusal

    try:
        while running or go_on():
            while go_on() and len(running) < 2 * room.now():
                chunk = list(keys[start : start + size])
                send(start, chunk, equipped < room.now())
                start, equipped = start + len(chunk), equipped + 1
            finished, _ = wait(running, SECONDS_BETWEEN_COUNTS, FIRST_COMPLETED)
            for future in finished:
                first, chunk = running.pop(future)
                try:
                    done = future.result()
                except Exception as loss:
                    told = workers_lost(loss, has_answered)
                    raise told from (loss.__cause__ if told is loss else loss)
                has_answered = True
                if done is None:
                    send(first, chunk, True)
                    continue
                values, error, seconds = done
                for key, value in zip(chunk, values, strict=False):
                    deliver(key, value)
                if error is not None:
                    failures.append((first + len(values), chunk[len(values)], error))
                elif seconds > 0:
                    size = max(1, min(2 * size, int(SECONDS_PER_CHUNK * len(values) / seconds)))
    except BaseException:
        for future in running:
            future.cancel()
        raise
    if failures:
        _, key, error = min(failures, key=lambda failure: failure[0])
        raise TaskFailedError(key) from error


def _submitter(
    executor: Executor,
    workers: Workers,
    task: Task[Key, Value],
    options: _Options[Key, Value],
    crew: Crew,
) -> Submit[Key, Value]:
    """For threads, which share the task, or look after a process each where tasks are isolated."""
    if not workers.are_threads:
        return _sender(executor, workers.isolated, pack(task, options.lost))
    apart = workers.isolated and os.name == "posix"
    own = _packed(task, options) if apart else None
    if own is None:
        return lambda chunk, whole: executor.submit(_run_chunk, task, chunk)
    look_after = partial(run_in_own_process, own, crew=crew, lost=options.lost)
    return lambda chunk, whole: executor.submit(look_after, chunk)


def _sender(executor: Executor, isolated: bool, sent: Sent) -> Submit[Key, Value]:
    """For workers elsewhere: the task itself where `whole`, or its digest."""
    run = _run_chunk_isolated if isolated else _run_sent_chunk

    def submit(chunk: list[Key], whole: bool) -> "Future[Chunk[Value] | None]":
        return executor.submit(run, sent if whole else replace(sent, payload=None), chunk)

    return submit


def _run_chunk(task: Task[Key, Value], keys: list[Key]) -> Chunk[Value]:
    values: list[Value] = []
    start = time.perf_counter()
    for key in keys:
        try:
            with guarded():
                values.append(task(key))
        except Exception as error:
            return values, error, 0.0
    return values, None, time.perf_counter() - start


_received_tasks: dict[str, Any] = {}
# Threads of one worker share its global random state and its numerical libraries: they take turns.
_one_at_a_time = threading.Lock()


def _run_sent_chunk(sent: Sent, keys: list[Any]) -> Chunk[Any] | None:
    """Runs in a worker: unpack the task once, keep it; None if it is not here yet."""
    with _one_at_a_time, same_everywhere():
        if sent.digest not in _received_tasks:
            if sent.payload is None:
                return None
            _received_tasks.clear()
            _received_tasks[sent.digest] = unpack(sent)
        values, error, seconds = _run_chunk(_received_tasks[sent.digest][0], keys)
    return values, None if error is None else that_travels(error), seconds


def _run_chunk_isolated(sent: Sent, keys: list[Any]) -> Chunk[Any] | None:
    """Runs in a worker, which waits for a process of its own; None if the task is not here yet."""
    with _one_at_a_time:
        if sent.payload is not None:
            _received_tasks.clear()
            _received_tasks[sent.digest] = sent
        held = _received_tasks.get(sent.digest)
        if held is None:
            return None
        values, error, seconds = run_in_own_process(
            held, keys, crew=Crew(), lost=partial(_lost, held)
        )
    return values, None if error is None else that_travels(error), seconds


def _lost(sent: Sent, key: object, error: LostError) -> object:
    lost = unpack(sent)[1]
    if lost is None:
        raise error
    return lost(key, error)
