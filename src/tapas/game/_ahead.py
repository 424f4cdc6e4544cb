"""Trials that workers play while this process learns from others and judges."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import overload

import numpy as np

from tapas.engine import Ahead, Elsewhere, LostError, Progress, Workers, open_progress
from tapas.game._address import Phase
from tapas.game._tasks import Outcome, TrialTask, Work
from tapas.game._work_list import WorkList

__all__ = ["PhaseAhead", "TrialsAhead"]

Item = tuple[Phase, Work]


@dataclass(frozen=True, eq=False)
class PhaseAhead:
    """What is to be played of a phase.

    Attributes
    ----------
    task : TrialTask
    work : WorkList
    wanted : array of bool
        Which trials are asked for, of those that the work makes.
    """

    task: TrialTask
    work: WorkList
    wanted: np.ndarray


class TrialsAhead:
    """Trials of several phases under way as one piece of work.

    Parameters
    ----------
    phases : mapping
        In the order in which they are played.
    workers : Workers
        Those that `are_apart`.
    tracker : type, optional
        Shows progress, over all phases; built with ``total=``.

    Attributes
    ----------
    keys : mapping
        Of the observers of each phase.
    """

    def __init__(
        self,
        phases: Mapping[Phase, PhaseAhead],
        workers: Workers,
        tracker: Callable[..., Progress] | None,
    ) -> None:
        self._awaited = {phase: part.wanted.copy() for phase, part in phases.items()}
        self.keys = {
            phase: tuple(observer.key for observer in part.task.observers)
            for phase, part in phases.items()
        }
        task = _PhasesTask({phase: part.task for phase, part in phases.items()})
        items = _InTurn([(phase, part.work) for phase, part in phases.items()])
        self._ahead: Ahead[Item, list[Outcome]] = Ahead(Elsewhere(task, workers, task.lost), items)
        total = sum(int(part.wanted.sum()) for part in phases.values())
        self._progress = open_progress(total, "trials", tracker)

    def awaited(self, phase: Phase, indices: np.ndarray) -> np.ndarray:
        """Which of some trials are under way, or will be."""
        awaited = self._awaited.get(phase, np.zeros(0, dtype=bool))
        known = indices[indices < len(awaited)]
        return known[awaited[known]]

    def until(self, phase: Phase, indices: np.ndarray) -> Iterator[tuple[Phase, Outcome]]:
        """Outcomes of every phase, until those of some trials have come, or no more will."""
        asked = self.awaited(phase, indices)
        if not len(asked):
            return
        left, is_asked = len(asked), np.zeros(1 + asked.max(), dtype=bool)
        is_asked[asked] = True
        for (played, _), outcomes in self._ahead.results():
            for outcome in outcomes:
                if not len(self.awaited(played, np.array([outcome.index]))):
                    continue
                self._awaited[played][outcome.index] = False
                self._progress.update(1)
                if played == phase and outcome.index < len(is_asked):
                    left -= int(is_asked[outcome.index])
                yield played, outcome
            if not left:
                return
        self._awaited = {}

    def end(self) -> None:
        """Begin no more trials; those under way, and all before them, will come."""
        self._ahead.end()

    def close(self) -> None:
        """Give up what is not done."""
        self._progress.close()
        self._ahead.close()


@dataclass(frozen=True, eq=False)
class _PhasesTask:
    """Trials of several phases as one task, of which the game is sent once."""

    tasks: Mapping[Phase, TrialTask]

    def __call__(self, item: Item) -> list[Outcome]:
        phase, work = item
        return self.tasks[phase](work)

    def lost(self, item: Item, error: LostError) -> list[Outcome]:
        """What is left where the process that played a trial ended."""
        phase, work = item
        return self.tasks[phase].lost(work, error)


class _InTurn(Sequence[Item]):
    """The items of all phases, made as their turn comes."""

    def __init__(self, lists: Sequence[tuple[Phase, WorkList]]) -> None:
        self._lists = lists

    def __len__(self) -> int:
        return sum(len(work) for _, work in self._lists)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        start, stop, _ = place.indices(len(self))
        return list(chain.from_iterable(self._between(start, stop)))

    def _between(self, start: int, stop: int) -> Iterator[list[Item]]:
        before = 0
        for phase, work in self._lists:
            first, last = max(0, start - before), max(0, stop - before)
            yield [(phase, item) for item in work[first:last]]
            before += len(work)
