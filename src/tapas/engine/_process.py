"""A process of our own for code that is not ours: it may die or hang, and only it is lost."""

import atexit
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, TypeVar

from tapas.engine._alike import same_everywhere
from tapas.engine._family import end_family
from tapas.engine._guard import CodeExitError, guarded, tell_limits
from tapas.engine._lost_workers import CANNOT_START
from tapas.engine._telling import before_it_travels, retold
from tapas.errors import WorkersError

GRACE = 2.0  # seconds beyond a time limit for code to stop by itself
IDLE_SECONDS = 60.0
MOST_DEATHS = 2  # of processes that run one key
LONGEST_WAIT = 0.25  # seconds between two looks at whether it lives
KILL = 9
KILLED = (
    ", perhaps killed from outside, or for want of memory, which fewer workers mend: the same run "
    "tries it again"
)
_READY, _LIMIT, _CODE, _DONE = "ready", "limit", "code", "done"

Reply = tuple[Any, BaseException | None]  # a value and no error, or an error


class LostError(CodeExitError):
    """The process that ran a task ended under it, or had to be ended.

    Attributes
    ----------
    overran : bool
        Whether it had to be ended because a time limit was over.
    code_of : str
        Whose code ran in it, as the task said by `code_of`; empty where it said nothing.
    """

    def __init__(self, message: str, overran: bool = False, code_of: str = "") -> None:
        super().__init__(message)
        self.overran, self.code_of = overran, code_of

    def __reduce__(self) -> tuple[object, ...]:
        return LostError, (str(self), self.overran, self.code_of)


@dataclass(frozen=True)
class Sent:
    """A task, packed for other processes."""

    digest: str
    payload: bytes | None


class OwnProcess:
    """Runs tasks one at a time, in a session of its own that is ended whole."""

    def __init__(self) -> None:
        try:
            self._connection, theirs = Pipe()
            with theirs:
                self._process = _serving(theirs.fileno())
        except OSError as error:
            raise _cannot_start(error) from error
        self._holds: str | None = None
        self._code_of = ""
        self.has_begun = False  # to listen
        self.has_waited = False  # for work, as it does after the first

    def replies(self, sent: Sent, keys: Sequence[object]) -> Iterator[Reply]:
        """One per key, up to the first error.

        Raises
        ------
        LostError
            The process ended, or overran a limit and was ended.
        """
        import cloudpickle

        payload = None if self._holds == sent.digest else sent.payload
        self._holds = sent.digest
        try:
            self._connection.send_bytes(cloudpickle.dumps((payload, list(keys))))
            for _ in keys:
                value, error = self._reply()
                yield value, error
                if error is not None:
                    return
        except (EOFError, OSError) as error:
            ended = f"its process ended {self._status()}"
            raise LostError(ended, code_of=self._code_of) from error

    def _reply(self) -> Reply:
        import cloudpickle

        limit: float | None = None
        while True:
            while not self._connection.poll(LONGEST_WAIT):
                if limit is not None and time.monotonic() > limit:
                    late = "it did not stop when its time was over"
                    raise LostError(late, overran=True, code_of=self._code_of)
                # Children of a process that has ended may hold its end of the line.
                if self._process.poll() is not None and not self._connection.poll(0):
                    raise EOFError
            kind, *content = cloudpickle.loads(self._connection.recv_bytes())
            self.has_begun = True
            if kind == _DONE:
                self._code_of = ""
                return content[0], content[1]
            if kind == _CODE:
                self._code_of = content[0]
            if kind != _LIMIT:
                continue
            limit = None if content[0] is None else time.monotonic() + content[0] + GRACE

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked; one that nobody asked for a while has left."""
        return self._process.poll() is None

    def _status(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1)
            said = KILLED if code == -KILL else ""
            return f"(signal {-code}){said}" if code < 0 else f"(exit status {code})"
        return "(without a word)"

    def end(self) -> None:
        """End it, and whatever it started; a second time there is nothing to end."""
        if self._connection.closed:
            return
        end_family(self._process.pid)
        self._process.wait()
        self._connection.close()


def _serving(descriptor: int) -> "subprocess.Popen[bytes]":
    start = (
        f"import sys; sys.path[:] = {sys.path!r}; "
        f"from tapas.engine._process import serve; serve({descriptor})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", start],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=_standard_error(),  # what foreign code prints is no part of a result
        start_new_session=True,
    )


def _cannot_start(error: Exception) -> WorkersError:
    return WorkersError(CANNOT_START.format(error, sys.executable))


Key = TypeVar("Key")
Value = TypeVar("Value")
Lost = Callable[[Key, LostError], Value]  # the value of a key whose process is lost


class Processes:
    """The processes of this one that wait for work, and those that have some."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[OwnProcess] = []
        self._busy: set[OwnProcess] = set()

    def count_waiting(self) -> int:
        """How many wait for work."""
        return len(self._idle)

    def borrow(self) -> OwnProcess:
        """One that nobody uses."""
        with self._lock:
            waiting, self._idle = self._idle, []
            alive = [process for process in waiting if process.is_alive]
            process = alive.pop() if alive else OwnProcess()
            self._idle = alive
            self._busy.add(process)
        for ended in set(waiting) - {process, *alive}:
            ended.end()
        return process

    def give_back(self, process: OwnProcess) -> None:
        """It has answered, and may be used again."""
        with self._lock:
            self._busy.discard(process)
            process.has_waited = True
            self._idle.append(process)

    def end(self, process: OwnProcess) -> None:
        """It is of no more use."""
        with self._lock:
            self._busy.discard(process)
        process.end()

    def end_all(self) -> None:
        """End those that wait and those that work."""
        with self._lock:
            every = [*self._idle, *self._busy]
            self._idle.clear()
            self._busy.clear()
        for process in every:
            process.end()


PROCESSES = Processes()
end_workers = PROCESSES.end_all
atexit.register(end_workers)


def _standard_error() -> int:
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2


def pack(task: Callable[..., object], lost: Lost[Any, Any] | None = None) -> Sent:
    """A task, and what stands for a lost value of it, as other processes take them."""
    import cloudpickle

    payload = cloudpickle.dumps((task, lost))
    return Sent(hashlib.blake2b(payload).hexdigest(), payload)


def size_sent(thing: object) -> int:
    """Bytes that something takes on its way to another process; 0 where it cannot go."""
    import cloudpickle

    try:
        return len(cloudpickle.dumps(thing))
    except Exception:
        return 0


def unpack(sent: Sent) -> tuple[Callable[[Any], Any], Lost[Any, Any] | None]:
    """What was packed."""
    import cloudpickle

    return cloudpickle.loads(sent.payload)


class Crew:
    """The processes that one piece of work has borrowed, to be ended together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[OwnProcess] = set()
        self._is_over = False

    def borrow(self) -> OwnProcess:
        """One that nobody uses; none where the work is over."""
        process = PROCESSES.borrow()
        with self._lock:
            if not self._is_over:
                self._busy.add(process)
                return process
        PROCESSES.give_back(process)
        raise LostError("the work was given up")

    def give_back(self, process: OwnProcess) -> None:
        """It has answered, and may be used again."""
        with self._lock:
            self._busy.discard(process)
        PROCESSES.give_back(process)

    def end(self, process: OwnProcess) -> bool:
        """It is of no more use; returns whether the others still are."""
        with self._lock:
            self._busy.discard(process)
        PROCESSES.end(process)
        return not self._is_over

    def end_all(self) -> None:
        """The work is over: no process does any more of it."""
        with self._lock:
            self._is_over, every = True, list(self._busy)
            self._busy.clear()
        for process in every:
            PROCESSES.end(process)


def run_in_own_process(
    sent: Sent,
    keys: Sequence[Any],
    *,
    crew: Crew,
    lost: Lost[Any, Any] | None = None,
) -> tuple[list[Any], BaseException | None, float]:
    """Values of the keys that went well, the error that stopped the rest, seconds.

    A key whose process dies is tried again, as others may have killed it; one that overruns its
    time is not.
    """
    values: list[Any] = []
    start, deaths = time.perf_counter(), 0
    while len(values) < len(keys):
        try:
            process, known = crew.borrow(), len(values)
        except LostError as over:
            return values, over, 0.0
        try:
            for value, error in process.replies(sent, keys[len(values) :]):
                if error is not None:
                    crew.give_back(process)
                    return values, error, 0.0
                values.append(value)
                deaths = 0
            crew.give_back(process)
        except LostError as error:
            if not crew.end(process):
                return values, error, 0.0
            if process.has_waited and len(values) == known and not error.overran:
                continue  # it may have left for want of work just as it was asked
            deaths += 1
            if not error.overran and deaths < MOST_DEATHS:
                continue
            if not process.has_begun:
                raise _cannot_start(error) from error
            try:
                values.append((lost or _give_up)(keys[len(values)], error))
                deaths = 0
            except Exception as failure:
                return values, failure, 0.0
        except BaseException:
            crew.end(process)
            raise
    return values, None, time.perf_counter() - start


def _give_up(key: object, error: LostError) -> Any:
    raise error


# -- in the other process ----------------------------------------------------------------------


def serve(descriptor: int) -> None:
    """Runs in the process itself: answer until nobody asks."""
    import cloudpickle

    _end_with_parent()
    connection = Connection(descriptor)
    connection.send_bytes(cloudpickle.dumps((_READY,)))
    tell_limits(
        lambda seconds: connection.send_bytes(cloudpickle.dumps((_LIMIT, seconds))),
        lambda whom: connection.send_bytes(cloudpickle.dumps((_CODE, whom))),
    )
    task: Callable[[Any], Any] = _no_task
    with suppress(EOFError, OSError):
        while connection.poll(IDLE_SECONDS):
            payload, keys = cloudpickle.loads(connection.recv_bytes())
            if payload is not None:
                task = partial(_first_unpacking, Sent("", payload), {})
            with same_everywhere():
                for key in keys:
                    went_well, reply = _answer(task, key)
                    connection.send_bytes(reply)
                    if not went_well:
                        break


def _no_task(key: object) -> object:
    raise RuntimeError(f"no task was sent for {key!r}")


def _first_unpacking(sent: Sent, held: dict[str, Callable[[Any], Any]], key: object) -> object:
    """Run a task; what goes wrong in unpacking it is a failure of the code in it."""
    if not held:
        held["task"] = unpack(sent)[0]
    return held["task"](key)


def _answer(task: Callable[[Any], Any], key: object) -> tuple[bool, bytes]:
    """Whether it went well, and what there is to say."""
    import cloudpickle

    try:
        with guarded():
            return True, cloudpickle.dumps((_DONE, task(key), None))
    except Exception as error:
        return False, cloudpickle.dumps((_DONE, None, that_travels(error)))


def that_travels(error: BaseException) -> BaseException:
    """The error itself if another process can rebuild it, else one that tells of it."""
    import cloudpickle

    try:
        cloudpickle.loads(cloudpickle.dumps(before_it_travels(error)))
    except Exception:
        return retold(error, RuntimeError(f"{type(error).__name__}: {error}"))
    return error


def _end_with_parent() -> None:
    """Leave, with all that was started here, when the process that started this one is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        end_family(os.getpid())

    threading.Thread(target=watch, daemon=True).start()
