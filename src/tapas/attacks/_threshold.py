"""Attacks that compare a score with a threshold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas._validate import listing
from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion, CriterionLike
from tapas.compat import ThreatModel
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.game import Board, Kind, Needs, Value, as_array

__all__ = ["ThresholdScorer", "TrainableThresholdAttack"]


@dataclass(frozen=True, eq=False)
class ThresholdScorer:
    """Guesses the positive secret wherever a score reaches a threshold.

    Attributes
    ----------
    threshold : float or None
    positive, negative : object
        The two secrets; None where there are more.
    values : tuple
        All secrets, in the order of the last axis of scores, where there are more than two.
    label : str
    missing : str
        Why there is no threshold, although there were trials; scores need none.
    """

    threshold: float | None
    positive: Value | None
    negative: Value | None
    values: tuple[Value, ...]
    label: str
    missing: str = ""

    def score(self, values: np.ndarray) -> np.ndarray:
        """What was observed is the score."""
        return values

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The positive secret where the score reaches the threshold, or the likeliest value."""
        if scores.ndim == 3:
            return np.array(self.values)[np.argmax(scores, axis=-1)]
        if self.missing:
            raise IncompatibleAttackError(self.missing)
        if self.threshold is None or self.positive is None:
            raise NotTrainedError(f"{self.label} has no threshold yet: call train() first")
        return as_array((self.negative, self.positive))[(scores >= self.threshold).astype(int)]


@dataclass(frozen=True, eq=False)
class ThresholdOfEach:
    """The same with a threshold for each target.

    Attributes
    ----------
    thresholds : ndarray, (targets,)
    positive, negative : object
        The two secrets.
    """

    thresholds: np.ndarray
    positive: Value | None
    negative: Value | None

    def score(self, values: np.ndarray) -> np.ndarray:
        """What was observed is the score."""
        return values

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The positive secret where the score of a target reaches its threshold."""
        return as_array((self.negative, self.positive))[(scores >= self.thresholds).astype(int)]


class TrainableThresholdAttack(Attack):
    """Guesses the positive secret wherever a score reaches a threshold.

    A subclass writes the score: either `observe` (one number per target) or the door
    `attack_score`. Where a secret has more than two values, the score has one entry per value
    and the guess is the value with the highest.

    Parameters
    ----------
    criterion : str or tuple
        "accuracy"; ("tp", rate) or ("fp", rate) for a true or false positive rate near a value;
        ("threshold", value), which needs no training. A third entry names the positive label,
        the secret that high scores stand for.
    """

    # What an attack can infer; empty means anything. Scores of an attack that says so stand for
    # membership, or for the last value of the attribute.
    goals: ClassVar[tuple[Kind, ...]] = ()
    # Whether it compares with data that the attacker holds.
    needs_auxiliary: ClassVar[bool] = False

    def __init__(self, criterion: CriterionLike = "accuracy") -> None:
        self.criterion = Criterion.parse(criterion)
        self.target_criterion = self.criterion.kind
        self.target_value = self.criterion.value

    @property
    def needs(self) -> Needs:
        """Tables, and training unless the threshold is given."""
        return Needs(
            goals=self.goals,
            training=self.criterion.kind != "threshold",
            auxiliary=self.needs_auxiliary,
        )

    def fit(self, board: Board, *, rng: np.random.Generator) -> ThresholdScorer:
        """Choose the threshold from scored trials with known secrets."""
        possible = list(board.goal.values) or sorted(set(board.secrets.ravel().tolist()))
        positive, negative = self._named_secrets(possible or [False, True])
        threshold, missing = self._fixed_threshold(), ""
        if threshold is None and board.values.ndim == 2:
            threshold = self._chosen_threshold(board, positive)
            missing = "" if threshold is not None else self._one_secret(board.secrets.size)
        return ThresholdScorer(threshold, positive, negative, tuple(possible), self.label, missing)

    def fit_each(self, board: Board, *, rng: np.random.Generator) -> ThresholdOfEach | None:
        """What `fit` learns about each target by itself, in one go; None where it might differ."""
        usual = type(self).fit is TrainableThresholdAttack.fit and len(board.goal.values) == 2
        if not usual or not len(board) or board.values.ndim != 2:
            return None
        positive, negative = self._named_secrets(list(board.goal.values))
        told = board.secrets == positive
        if told.all(axis=0).any() or not told.any(axis=0).all():
            return None
        values = np.broadcast_to(board.values, told.shape)
        return ThresholdOfEach(self.criterion.thresholds(values, told), positive, negative)

    def _one_secret(self, trials: int) -> str:
        return (
            f"{self.label} needs training trials with both secrets, got {trials} trials with only "
            f"one of them: ask for more trials"
        )

    def _chosen_threshold(self, board: Board, positive_secret: Value | None) -> float | None:
        """Where guesses are best; None where trials have one secret only."""
        positive = board.secrets == positive_secret
        if positive.all() or not positive.any():
            return None
        values = np.broadcast_to(board.values, positive.shape)
        return self.criterion.threshold(values.ravel(), positive.ravel())

    def _named_secrets(self, possible: list[Value]) -> tuple[Value | None, Value | None]:
        """The positive secret is the one asked for, else the last; the other is negative."""
        wanted = self.criterion.positive_label
        if len(possible) > 2:
            return wanted, None
        if len(possible) < 2:
            raise IncompatibleAttackError(
                f"{self.label} needs training trials with both secrets, got only "
                f"{listing(possible)}: ask for more trials"
            )
        positive = possible[-1] if wanted is None else wanted
        others = [secret for secret in possible if secret != positive]
        if len(others) != 1:
            raise IncompatibleAttackError(
                f"the positive label {positive!r} of criterion {self.criterion} is not one of "
                f"{listing(possible)}"
            )
        if self.goals and positive != possible[-1]:
            raise IncompatibleAttackError(
                f"high scores of {self.label} stand for {possible[-1]!r}, so the positive label "
                f"of criterion {self.criterion} cannot be {positive!r}: leave it out or, for an "
                f"attribute, put it last in attribute_values"
            )
        return positive, others[0]

    def _fixed_threshold(self) -> float | None:
        return self.criterion.value if self.criterion.kind == "threshold" else None

    # -- doors -------------------------------------------------------------------------------

    def train(
        self, threat_model: ThreatModel, num_samples: int | None = None, **kwargs: object
    ) -> None:
        """Choose the threshold on trials that the attacker can simulate.

        What was learnt before is forgotten. With criterion "threshold" no trial is needed.
        """
        self._prepare(threat_model)
        self._train_attack_score(threat_model, num_samples, **kwargs)
        super().train(threat_model, num_samples)
        if self._learnt is not None and self._learnt.missing:
            raise IncompatibleAttackError(self._learnt.missing)

    def _train_attack_score(
        self, threat_model: ThreatModel, num_samples: int | None, **kwargs: object
    ) -> None:
        """For subclasses whose score itself is trained."""

    @property
    def _learnt(self) -> ThresholdScorer | None:
        scorer = None if self._trained is None else self._trained.scorer
        return scorer if isinstance(scorer, ThresholdScorer) else None

    @property
    def _threshold(self) -> float | None:
        return self._fixed_threshold() if self._learnt is None else self._learnt.threshold

    @property
    def positive_label(self) -> Value | None:
        """The secret that high scores stand for."""
        learnt = self._learnt
        return self.criterion.positive_label if learnt is None else learnt.positive

    @property
    def negative_label(self) -> Value | None:
        """The other secret."""
        return None if self._learnt is None else self._learnt.negative
