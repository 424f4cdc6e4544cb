"""What attacks take to learn, timed on boards that are made up of a few observations."""

import copy
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from tapas._random import preserved_globals, stream
from tapas.compat import AttackDoors
from tapas.engine import guarded
from tapas.game import Board, Game, LearnsEach, TableBriefing, as_array, learning_parts

FEW = 16  # releases that are learnt from first
GROWTH = 4
MOST_SECONDS = 1.0  # of learning from few releases, for more to be tried
MOST_SECONDS_OF_MANY = 0.2  # that learning from still more may be expected to take
MOST_BYTES = 1 << 28  # of a board
WORTH_WARMING = 5.0  # seconds of the first time, of which imports may be a part
NOISE = 1e-3  # of a number: without it, trees would find nothing but ties


class TimesToLearn:
    """How long attacks learn about the targets of several subjects.

    Boards of one form take as long whomever they are about: each form is learnt from once.

    Parameters
    ----------
    limit : float or None
        Seconds for an attack to learn once.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._known: dict[object, float] = {}  # seconds for each target

    def of(self, attack: AttackDoors, game: Game, seen: Sequence[np.ndarray], count: int) -> float:
        """Seconds in which an attack learns from so many training releases, on one core.

        Whatever goes wrong is raised.

        Parameters
        ----------
        attack : Attack
        game : Game
        seen : sequence of ndarray
            What the attack observed in some of them.
        count : int
        """
        values = np.stack(seen)
        width = values.shape[2:] if values.dtype.names is None else None
        form = (attack, game.setting.release, values.shape[1] == 1, width, count)
        if form not in self._known:
            self._known[form] = self._for_each_target(attack, game, values, count)
        return self._known[form] * len(game.judged("train"))

    def _for_each_target(
        self, attack: AttackDoors, game: Game, values: np.ndarray, count: int
    ) -> float:
        few = min(count, max(FEW, 2 * len(game.goal.values)))
        parts, learn = learning_parts(attack, game), _learn
        if len(parts) > 1 and self._learns_each(attack, _made_up(game, values, few)):
            parts, learn = [slice(None)], _learn_each
        largest = max(few, min(count, MOST_BYTES // max(1, values[0].nbytes)))
        number = _made_up(game, values, few).of_targets(parts[0]).num_targets

        def timed(size: int) -> float:
            board = _made_up(game, values, size).of_targets(parts[0])
            return self._timed(attack, board, learn)

        return seconds_for(count, few, largest, timed) / number

    def _learns_each(self, attack: AttackDoors, board: Board) -> bool:
        found: list[object] = []
        if isinstance(attack, LearnsEach):
            with suppress(Exception):
                self._timed(attack, board, lambda *told: found.append(_learn_each(*told)))
        return found != [] and found[0] is not None

    def _timed(
        self, attack: AttackDoors, board: Board, learn: Callable[[AttackDoors, Board], object]
    ) -> float:
        """Seconds of learning, which leaves no traces."""
        with preserved_globals(), warnings.catch_warnings(), guarded(self._limit):
            warnings.simplefilter("ignore")
            learner = copy.deepcopy(attack)
            start = time.perf_counter()
            learn(learner, board)
            return time.perf_counter() - start


def _learn(attack: AttackDoors, board: Board) -> object:
    return attack.fit(board, rng=stream(0))


def _learn_each(attack: AttackDoors, board: Board) -> object:
    return attack.fit_each(board, rng=stream(0)) if isinstance(attack, LearnsEach) else None


def seconds_for(count: int, few: int, largest: int, timed: Callable[[int], float]) -> float:
    """Seconds of learning from `count` releases, of which as many are tried as are soon learnt.

    Beyond these, time grows by the power that was measured last, and in proportion at least.

    Parameters
    ----------
    count : int
    few, largest : int
        Releases that are learnt from first, and at most.
    timed : callable
        Learns from a number of releases and returns its seconds.
    """
    size, power, seconds = few, 1.0, timed(few)
    if few == largest or seconds > MOST_SECONDS:
        seconds = timed(few) if seconds <= WORTH_WARMING else seconds
    while size < largest:
        first, whole = size == few, seconds * count / size <= MOST_SECONDS_OF_MANY
        larger = min(largest, count if whole and not first else GROWTH * size)
        if first and seconds > MOST_SECONDS:
            break
        if not first and seconds * larger / size > MOST_SECONDS_OF_MANY:
            break
        taken = timed(larger)
        if taken > seconds > 0:
            power = max(1.0, float(np.log(taken / seconds) / np.log(larger / size)))
        size, seconds = larger, taken
    return seconds * (count / size) ** power


def _made_up(game: Game, values: np.ndarray, size: int) -> Board:
    """Releases like those that were seen, with secrets by turns; it tells nothing."""
    rng, told = stream(0), game.briefing("train")
    judged, secrets = game.judged("train"), as_array(game.goal.values)
    turns = np.arange(size) % len(secrets)
    return Board(
        values=_noisy(values[np.arange(size) % len(values)], rng),
        secrets=secrets[np.stack([rng.permutation(turns) for _ in judged], axis=1)],
        groups=np.arange(size),
        goal=game.goal,
        judged=judged,
        briefing=told if isinstance(told, TableBriefing) else None,
    )


def _noisy(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Numbers with fractions, off by a little; others as they are."""
    if values.dtype.names is not None:
        found = values.copy()
        for name in values.dtype.names:
            found[name] = _noisy(values[name], rng)
        return found
    if values.dtype.kind != "f":
        return values
    return values * (1 + NOISE * rng.standard_normal(values.shape)).astype(values.dtype)
