"""Where the trials of a game are played, so that they come out there as anywhere."""

import os
import warnings
from dataclasses import dataclass, replace
from functools import cached_property

from tapas.engine import Workers, size_sent
from tapas.errors import ReproducibilityWarning, ThreatModelError
from tapas.game._protocols import Game, PlaysConcurrently

__all__ = ["Place"]


@dataclass(frozen=True, eq=False)
class Place:
    """What plays the trials of a game.

    Attributes
    ----------
    given : Game
    asked : Workers
        Those that somebody asked for.
    timeout, attack_timeout : float or None
        Seconds that audited code may take.
    num_concurrent : int
        How many trials of a mechanism that waits are under way at once.
    """

    given: Game
    asked: Workers
    timeout: float | None
    attack_timeout: float | None
    num_concurrent: int

    @cached_property
    def game(self) -> Game:
        """The game as trials see it there."""
        game = self.given.within(self.timeout)
        return game.for_threads() if self.asked.are_threads and not self._is_apart else game

    @cached_property
    def workers(self) -> Workers:
        """Those that play."""
        return replace(self.asked, isolated=True) if self._is_apart else self.asked

    @property
    def _is_apart(self) -> bool:
        """Whether trials run in processes of their own, whoever looks after them.

        Only from outside can everything be stopped when its time is over; and threads would share
        the global random generators.
        """
        limited = (self.timeout, self.attack_timeout) != (None, None)
        return limited or (self._threads_share_globals and self.num_concurrent == 1)

    @property
    def _threads_share_globals(self) -> bool:
        return self.asked.are_threads and self.given.draws_from_globals

    @cached_property
    def _can_be_sent(self) -> bool:
        return os.name == "posix" and size_sent(self.given) > 0

    def refuse_what_makes_no_sense(self) -> None:
        """Refuse that, and threads where they would not be reproducible."""
        game = self.given
        if self.num_concurrent > 1:
            if not isinstance(game, PlaysConcurrently) or not game.waits:
                raise ThreatModelError(
                    f"num_concurrent={self.num_concurrent} is for mechanisms whose __call__ is a "
                    f"coroutine; {game.label!r} is not one. Use n_jobs for processes."
                )
        elif self._threads_share_globals and not self._can_be_sent:
            raise ThreatModelError(
                f"{game.label!r} may draw from the global random generators, which threads share, "
                f"so results would not be reproducible, and it cannot be sent to processes of its "
                f"own: use n_jobs=1, or give it a random_state parameter"
            )

    def warn_of_shared_globals(self) -> None:
        """Trials that are under way at once on one core take turns with the global generators."""
        if self.num_concurrent > 1 and self.given.draws_from_globals:
            warnings.warn(
                f"{self.given.label!r} takes no seed, so concurrent runs are not reproducible: "
                f"give it a random_state parameter, or use num_concurrent=1",
                ReproducibilityWarning,
                stacklevel=6,
            )
