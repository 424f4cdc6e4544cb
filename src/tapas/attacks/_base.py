"""What an attack is: a map over releases and a reduce over what was observed."""

from abc import ABC
from typing import ClassVar

import numpy as np

from tapas.compat import AttackDoors, earlier_scorer
from tapas.errors import IncompatibleAttackError
from tapas.game import (
    Board,
    Briefing,
    MethodObserver,
    Needs,
    Observer,
    Release,
    Samples,
    Scorer,
)

__all__ = ["Attack", "ScoresAsSeen"]


class Attack(AttackDoors, ABC):
    """Guesses secrets from releases.

    Write either the core or the doors.

    *Core*: `observe` looks at one release and returns a small array for each target; it runs
    where the release is made, in parallel, and its results are remembered. `fit` learns from a
    board of observations with known secrets and returns a scorer, which turns observations into
    scores (higher = likelier) and scores into guesses. Neither changes the attack.

    *Doors*: `train`, `attack` and, if there is a score, `attack_score`, on lists of datasets.
    """

    _is_base_of_attacks: ClassVar[bool] = True
    _label: str | None = None
    # Attributes that what `observe` sees depends on: attacks that agree in them share what was
    # observed. None is all of them.
    observation_depends_on: ClassVar[tuple[str, ...] | None] = None

    @property
    def needs(self) -> Needs:
        """What the attack cannot do without: by default tables, and training if it has a `fit`."""
        return Needs(training=type(self).fit is not Attack.fit)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Look at one release.

        Returns
        -------
        ndarray
            First axis: the targets of the briefing, or length 1 where what is observed does not
            depend on the target.
        """
        raise IncompatibleAttackError(f"{self.label} does not observe releases")

    def observer(self, briefing: Briefing, samples: Samples) -> Observer:
        """The map; an attack whose map must learn something first learns it here."""
        return MethodObserver(self, self._depends_on())

    def _depends_on(self) -> tuple[str, ...] | None:
        """What the class that writes `observe` says of it; one that says nothing means all.

        So does a class of somebody else's below it, which may have rewritten what it uses.
        """
        classes = type(self).__mro__
        owner = next(place for place, cls in enumerate(classes) if "observe" in vars(cls))
        foreign = [cls for cls in classes[:owner] if not cls.__module__.startswith("tapas.")]
        return None if foreign else vars(classes[owner]).get("observation_depends_on")

    def fit(self, board: Board, *, rng: np.random.Generator) -> Scorer:
        """Learn from observations with known secrets; an attack that learns nothing has none."""
        return earlier_scorer(self) or ScoresAsSeen(self.label)

    @property
    def label(self) -> str:
        """Display name: `_label`, unless a subclass gives its own."""
        return self._label or "Unnamed Attack"

    def __str__(self) -> str:
        return self.label


class ScoresAsSeen:
    """A scorer that learnt nothing: what was observed is the score."""

    def __init__(self, label: str) -> None:
        self._label = label

    def score(self, values: np.ndarray) -> np.ndarray:
        """The observations themselves."""
        return values

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """There is no rule to decide by."""
        raise IncompatibleAttackError(f"{self._label} has scores but no rule to decide by")
