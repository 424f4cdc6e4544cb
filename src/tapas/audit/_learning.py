"""Let an attack learn about many targets, each by itself, on as many cores as there are."""

import copy
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from tapas.engine import TaskFailedError, Workers, guarded, run_tasks, told
from tapas.errors import StoreError
from tapas.game import Attack, Board, Scorer

WORTH_PROCESSES = 3.0  # seconds of work left
TIMED = 3  # targets; the first brings imports and caches


@dataclass(frozen=True)
class Crash:
    """What went wrong, and where: an error forgets that on its way from another process."""

    error: Exception
    said: str


@dataclass(frozen=True, eq=False)
class LearningTask:
    """Learns about one part of the targets.

    Attributes
    ----------
    attack : Attack
    board : Board
        What was observed about all targets; empty where the attack needs no training.
    parts : sequence of slice
    rng : Generator
        Every part starts from the same state.
    timeout : float or None
        Seconds for each part.
    """

    attack: Attack
    board: Board
    parts: Sequence[slice]
    rng: np.random.Generator
    timeout: float | None

    def __call__(self, number: int) -> Scorer | Crash:
        """What is learnt about a part, or what went wrong."""
        about = self.board.of_targets(self.parts[number]) if len(self.board) else self.board
        try:
            with guarded(self.timeout):
                return self.attack.fit(about, rng=copy.deepcopy(self.rng))
        except StoreError:
            raise
        except Exception as error:
            return Crash(error, told(error))


def learn_parts(task: LearningTask, n_jobs: int | None) -> list[Scorer | Crash]:
    """What is learnt about every part; the same on any number of processes."""
    learnt: dict[int, Scorer | Crash] = {}
    numbers = range(len(task.parts))
    run_tasks(task, numbers[:1], receive=learnt.__setitem__, workers=Workers(1))
    start = time.perf_counter()
    run_tasks(task, numbers[1:TIMED], receive=learnt.__setitem__, workers=Workers(1))
    left = (time.perf_counter() - start) / (TIMED - 1) * len(numbers[TIMED:])
    if left > WORTH_PROCESSES:
        # What cannot travel is learnt here.
        with suppress(TaskFailedError):
            workers = Workers(n_jobs)
            run_tasks(task, numbers[TIMED:], receive=learnt.__setitem__, workers=workers)
    here = [number for number in numbers if number not in learnt]
    run_tasks(task, here, receive=learnt.__setitem__, workers=Workers(1))
    return [learnt[number] for number in numbers]
