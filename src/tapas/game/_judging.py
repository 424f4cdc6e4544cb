"""The reduce: learn from a board, score and decide another."""

from dataclasses import dataclass

import numpy as np

from tapas.game._board import Board
from tapas.game._protocols import Attack, Game, Scorer, TargetedScorer

__all__ = ["Judgement", "fit_scorer", "judge", "learning_parts", "scorer_about"]


@dataclass(frozen=True, eq=False)
class Judgement:
    """What an attack said about a board.

    Attributes
    ----------
    board : Board
    scores : ndarray or None, (releases, targets) or (releases, targets, values)
    decisions : ndarray, (releases, targets)
    """

    board: Board
    scores: np.ndarray | None
    decisions: np.ndarray


def learning_parts(attack: Attack, game: Game) -> list[slice]:
    """Which targets are learnt and judged together: each by itself, or all.

    Each target of several releases is a question of its own, unless the attack shares what it
    learns or the game judges them together. Records of one release always are.
    """
    setting = game.setting
    if attack.pools_targets or setting.coins or setting.test == 1:
        return [slice(None)]
    return [slice(target, target + 1) for target in range(game.briefing("test").num_targets)]


def fit_scorer(attack: Attack, board: Board, game: Game) -> Scorer:
    """What an attack learns from a board; an empty one where it needs no training."""
    return attack.fit(board, rng=game.fitting_rng())


def scorer_about(scorer: Scorer, targets: slice) -> Scorer:
    """What a scorer of all targets says of some of them."""
    return scorer.of_targets(targets) if isinstance(scorer, TargetedScorer) else scorer


def judge(scorer: Scorer, board: Board) -> Judgement:
    """Score and decide every cell of a board; secrets are not looked at."""
    scores = np.asarray(scorer.score(board.values))
    # What is the same for all targets is said of each of them.
    scores = np.broadcast_to(scores, (*board.secrets.shape, *scores.shape[2:]))
    return Judgement(board, scores, np.asarray(scorer.decide(scores)))
