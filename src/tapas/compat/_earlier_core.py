"""Attacks written for the core of earlier versions: a `fit` that learns into the attack itself."""

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np

from tapas.game import Board

__all__ = ["adapt_earlier_fit", "earlier_scorer"]


class EarlierAttack(Protocol):
    """An attack with ``fit(observations, secrets, *, rng)``, `score` and `decide`."""

    def score(self, observations: np.ndarray) -> np.ndarray:
        """Score per trial and target."""

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Guess per trial and target."""


@dataclass(frozen=True, eq=False)
class EarlierScorer:
    """A copy of the attack that has learnt."""

    learnt: EarlierAttack

    def score(self, values: np.ndarray) -> np.ndarray:
        """By the attack's own score, if it writes one."""
        own = inspect.getattr_static(self.learnt, "score", None)
        return values if own is None else self.learnt.score(values)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """By the attack's own rule."""
        return self.learnt.decide(scores)


def earlier_scorer(attack: object) -> EarlierScorer | None:
    """The attack itself as a scorer, if it writes `decide`; None otherwise."""
    writes = inspect.getattr_static(attack, "decide", None) is not None
    return EarlierScorer(cast(EarlierAttack, attack)) if writes else None


def adapt_earlier_fit(cls: type) -> None:
    """Let a class that writes ``fit(observations, secrets, *, rng)`` be fitted to boards."""
    own = vars(cls).get("fit")
    if inspect.isfunction(own) and "secrets" in inspect.signature(own).parameters:
        cls.fit = _fitting_a_copy(own)  # type: ignore[attr-defined]


def _fitting_a_copy(fit: Callable[..., object]) -> Callable[..., EarlierScorer]:
    def fit_to_board(
        self: EarlierAttack, board: Board, *, rng: np.random.Generator
    ) -> EarlierScorer:
        learnt = copy.copy(self)
        fit(learnt, board.values, board.secrets, rng=rng)
        return EarlierScorer(learnt)

    return fit_to_board
