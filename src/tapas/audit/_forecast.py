"""What an audit will take, and how exact it will be, before it begins."""

import math
from dataclasses import dataclass

from tapas.audit._check import CheckReport
from tapas.game import Address, Game, TellsSecrets
from tapas.results import CONFIDENCE
from tapas.stats import shared_confidence, smallest_area

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Forecast:
    """What an audit will take, and how exact it will be.

    Attributes
    ----------
    fits : int
        Runs of the mechanism, or shadow models, controls included.
    cpu_hours : float or None
        Of the fits and of what attacks see in them, on one core; None where nothing is fitted.
        What is learnt comes on top.
    scores : int
        What each result rests on: test trials of a target, or records that are judged.
    results : int
        How many share the error: attacks times targets of everything that is audited.
    auc_error : float or None
        Half of the interval around an AUC of one half, where those of all results hold together
        with 95 % confidence; None where the secret has more than two values, infinite where so few
        are judged that no AUC is told from one half.
    smallest_auc : float or None
        The AUC that such an interval tells from one half nine times in ten.
    paired : bool
        Whether test trials are played in pairs on a background that is drawn: it takes more of
        them to certify as much, and of few of them to know an AUC as well.
    learning_hours : float or None
        Of attacks that learn from training trials, on one core; None where that is not timed.
    untimed : tuple of str
        Attacks that learn for longer than that by a time that nobody knows.
    """

    fits: int
    cpu_hours: float | None
    scores: int
    results: int
    auc_error: float | None
    smallest_auc: float | None
    paired: bool
    learning_hours: float | None = None
    untimed: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        fits: int,
        checked: CheckReport,
        game: Game,
        scores: int,
        results: int,
        share: float,
    ) -> "Forecast":
        """Where half of the scores are those of members, as nearly everywhere.

        Results have this share of the error between them.
        """
        fit, learning = checked.seconds_per_trial, checked.seconds_to_learn
        half, paired = scores // 2, scores > 1 and _plays_pairs(game)
        level = shared_confidence(CONFIDENCE, results, share)
        error = smallest_area(half, half, confidence=level, power=0.5, paired=paired) - 0.5
        found = smallest_area(half, half, confidence=level, paired=paired)
        return cls(
            fits,
            fits * fit / SECONDS_PER_HOUR if fits and fit else None,
            scores,
            results,
            error if game.goal.is_binary else None,
            found if game.goal.is_binary and math.isfinite(found) else None,
            paired,
            learning / SECONDS_PER_HOUR if fits and learning is not None else None,
            checked.untimed,
        )


def _plays_pairs(game: Game) -> bool:
    """Whether the first two test trials share what was drawn."""
    if game.rounds("test") is not None or not isinstance(game, TellsSecrets):
        return False
    first = Address(game.seed, "test", 0)
    groups = [game.secrets_at(first.at(index))[1] for index in (0, 1)]
    return groups[0] == groups[1]
