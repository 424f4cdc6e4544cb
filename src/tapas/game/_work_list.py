"""All that is to be done of a phase, made item by item as its turn comes."""

import copy
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np

from tapas.game._release import Trial
from tapas.game._tasks import Work


class WorkList(Sequence[Work]):
    """Items of work in the order of their trials.

    Parameters
    ----------
    trial : callable
        What is remembered of a trial.
    held : array of int
        Trials that were played, of which the release is remembered: items of their own.
    stacks : array of int
        Which stacks of trials are to be played.
    at_once : int
        How many trials are a stack.
    rounds : int or None
        How many trials there are at all.
    """

    def __init__(
        self,
        trial: Callable[[int], Trial],
        held: np.ndarray,
        stacks: np.ndarray,
        at_once: int,
        rounds: int | None,
    ) -> None:
        self._trial, self._at_once, self._rounds = trial, at_once, rounds
        starts = np.concatenate([held, stacks * at_once])
        order = np.argsort(starts, kind="stable")
        self._starts = starts[order]
        self._is_held = order < len(held)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, place: int) -> Work: ...
    @overload
    def __getitem__(self, place: slice) -> "WorkList": ...
    def __getitem__(self, place: int | slice) -> "Work | WorkList":
        if isinstance(place, slice):
            part = copy.copy(self)
            part._starts, part._is_held = self._starts[place], self._is_held[place]
            return part
        start = int(self._starts[place])
        if self._is_held[place]:
            trial = self._trial(start)
            if trial.release.data is not None:  # what was kept is whole
                return Work((start,), (trial,))
        return Work(tuple(self._stack_of(start)))

    def _stack_of(self, index: int) -> range:
        start = index - index % self._at_once
        stop = start + self._at_once
        return range(start, min(stop, self._rounds) if self._rounds else stop)
