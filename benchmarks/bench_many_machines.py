"""A million one-minute fits on 200 machines, in virtual time.

Run with ``python benchmarks/bench_many_machines.py [TRIALS] [MACHINES]``; half of the trials are
for training. The mechanism is not run: each machine takes a minute (with a spread of a tenth) by a
clock of its own, and hands back what a real trial would. All else is real: the audit hands out
work, receives, learns, judges, and writes its run folder, and the time that this process takes for
it is added to the clock. Half-way through a tenth of the machines is lost, with what they had under
way, which others do again. The shortest time there is: all fits back to back on the machines.
"""

import heapq
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tapas.attacks import ClosestDistanceMIA
from tapas.audit import Audit
from tapas.datasets import load_sample
from tapas.engine import _tasks
from tapas.game._tasks import ProbeTask, TrialTask, Work
from tapas.generators import Bootstrap
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

MINUTE, SPREAD, LOST = 60.0, 0.1, 0.1
FEW = 10_000  # trials of which releases are kept, as by default where they take minutes
REAL = 16  # trials that are played, of which the others are copies


class Machines(Executor):
    """Runs nothing: knows when each piece of work would be done."""

    def __init__(self, count: int, losses_at: float) -> None:
        self._max_workers = count
        self.now, self.busy, self.sent, self.redone = 0.0, 0.0, 0, 0
        self.losses_at, self.lost = losses_at, False
        self.free = list(range(count))
        self.waiting: list[tuple[Future[Any], Any, list[Any]]] = []
        self.under_way: list[tuple[float, int, int, Future[Any], Any, list[Any], float]] = []
        self.rng = np.random.default_rng(0)
        self.number = 0
        self.capacity = 0.0
        self.worked = time.process_time()
        self.made: dict[str, Any] = {}

    def submit(self, run: Callable[..., Any], *given: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        if not given:  # it is asked where it runs
            future.set_result(None)
            return future
        sent, chunk = given
        self.sent += len(sent.payload or b"") + 100 * len(chunk)
        if sent.digest not in self.made:
            before = time.process_time()
            self.made[sent.digest] = _made(_tasks.unpack(sent)[0])
            self.worked += time.process_time() - before
        if not self.made[sent.digest]:  # a probe, for which nobody else waits
            future.set_result(([None] * len(chunk), None, 0.0))
            return future
        self.waiting.append((future, sent, chunk))
        self._begin()
        return future

    def _begin(self) -> None:
        while self.free and self.waiting:
            future, sent, chunk = self.waiting.pop(0)
            machine = self.free.pop()
            took = float(self.rng.normal(MINUTE, SPREAD * MINUTE, len(chunk)).clip(1).sum())
            self.number += 1
            heapq.heappush(
                self.under_way,
                (self.now + took, self.number, machine, future, sent, chunk, took),
            )

    def _tick(self, until: float) -> None:
        self.capacity += (until - self.now) * (len(self.free) + len(self.under_way))
        self.now = until

    def wait(self, running: Any, seconds: float, return_when: str) -> tuple[set[Future[Any]], None]:
        """Let the clock run until something is done."""
        ready = {future for future in running if future.done()}
        if ready:
            return ready, None
        spent = time.process_time() - self.worked
        self._tick(self.now + spent)
        done: set[Future[Any]] = set()
        while not done:
            if not self.lost and self.now > self.losses_at:
                self._lose()
            self._tick(max(self.now, self.under_way[0][0]))
            _, _, machine, future, sent, chunk, took = heapq.heappop(self.under_way)
            made = self.made[sent.digest]
            outcomes = [_copies(made, item) for item in chunk]
            future.set_result((outcomes, None, took))
            self.busy += took
            self.free.append(machine)
            self._begin()
            done.add(future)
        self.worked = time.process_time()
        return done, None

    def _lose(self) -> None:
        self.lost = True
        gone = set(range(int(LOST * self._max_workers)))
        kept = [one for one in self.under_way if one[2] not in gone]
        again = [one for one in self.under_way if one[2] in gone]
        self.redone = len(again)
        self.under_way = kept
        heapq.heapify(self.under_way)
        self.free = [machine for machine in self.free if machine not in gone]
        self.waiting[:0] = [(future, sent, chunk) for *_, future, sent, chunk, _ in again]
        self._begin()


def _made(task: Any) -> dict[str, list[Any]]:
    """Outcomes of the first trials, by phase where one task has several; a probe has none."""
    numbers = range(REAL)
    if isinstance(task, ProbeTask):
        return {}
    if isinstance(task, TrialTask):
        return {"": [task(Work((n,)))[0] for n in numbers]}
    return {phase: [task((phase, Work((n,))))[0] for n in numbers] for phase in task.tasks}


def _copies(made: dict[str, list[Any]], item: Any) -> list[Any]:
    """What an item of work would leave behind."""
    phase, work = ("", item) if isinstance(item, Work) else item
    return [_at(made[phase][index % REAL], index) for index in work.indices]


def _at(outcome: Any, index: int) -> Any:
    return replace(outcome, index=index, trial=replace(outcome.trial, index=index))


def main(trials: int, machines: int) -> None:
    warnings.simplefilter("ignore")
    data = load_sample("census", rows=50_000, seed=1)
    knowledge = AuxiliaryDataKnowledge(data.drop_records([0]), num_training_records=1000, seed=2)
    game = TargetedMIA(knowledge, data.take([0]), BlackBoxKnowledge(Bootstrap(), 1000), seed=3)
    attack = ClosestDistanceMIA()
    pool = Machines(machines, trials * MINUTE / machines / 2)
    _tasks.wait = pool.wait  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as place:
        folder, start = Path(place) / "run", time.process_time()
        half = trials // 2
        audit = Audit(game, [attack], half, trials - half, keep_data=trials <= FEW)
        (subject,) = audit.run(folder, pool).subjects
        if subject.crashes or sum(subject.trials.values()) != trials:
            raise SystemExit(f"not all was played: {subject.trials}, {subject.crashes}")
        spent = time.process_time() - start
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{trials:,} fits of a minute on {machines} machines, a tenth of them lost half-way")
    shortest = pool.busy / (pool.capacity / pool.now)
    print(f"  hours by the clock       {pool.now / 3600:>12,.2f} (at least {shortest / 3600:,.2f})")
    print(f"  utilisation              {pool.busy / pool.capacity:>12.2%} (goal 95%)")
    print(f"  pieces done again        {pool.redone:>12,}")
    print(f"  CPU of this process, s   {spent:>12,.1f} ({1e6 * spent / trials:.0f} us a fit)")
    print(f"  memory of it, MB         {memory:>12,.0f}")
    print(f"  run folder, MB           {size / 1e6:>12,.1f} ({size / trials:.0f} bytes a fit)")
    print(f"  sent, MB                 {pool.sent / 1e6:>12,.1f}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [1_000_000, 200][len(given) :]))
