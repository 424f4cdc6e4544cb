"""Attacks that compare the audited model with reference models on the same records."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._model_attack import MembershipScorer, ModelThresholdAttack
from tapas.attacks.models._score_statistics import TRUE, Clip, checked_clip, chosen_clip
from tapas.attacks.models._several_queries import MOST_QUERIES, SeveralQueries, of_each_query
from tapas.errors import ConfigError, IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Observer, Samples
from tapas.metrics import auc, tpr_at_fpr
from tapas.models import Access

FEWEST = 4
FEW_ALARMS = 0.01
COPY_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)  # that are tried
REHEARSALS = 16  # references attacked in turn to choose a threshold; more change little


class Comparison(Protocol):
    """Compares records on some models with the same records on reference models."""

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        """Score of records observed on some models, (models, records)."""


@dataclass(frozen=True, eq=False)
class OverQueries:
    """The comparison of each record itself, and the mean of those of its copies.

    Attributes
    ----------
    parts : tuple of Comparison
        Of each query; the first is about the record itself.
    weight : float
        Of the copies.
    """

    parts: tuple[Comparison, ...]
    weight: float = 0.0

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        each = zip(self.parts, of_each_query(values), boards_of(references), strict=True)
        return self._together([compare(seen, board) for compare, seen, board in each])

    def weighed(self, references: Board) -> "OverQueries":
        """With the weight that rehearsals favour."""
        each = zip(self.parts, boards_of(references), strict=True)
        scores = [rehearsed(compare, board)[0] for compare, board in each]
        tried = [replace(self, weight=weight) for weight in COPY_WEIGHTS]
        inside = references.secrets[: len(scores[0])]
        return max(tried, key=lambda one: told(one._together(scores), inside))

    def _together(self, scores: list[np.ndarray]) -> np.ndarray:
        return (1 - self.weight) * scores[0] + self.weight * np.mean(scores[1:], axis=0)


def boards_of(board: Board) -> list[Board]:
    """The board of each query."""
    return [replace(board, values=values) for values in of_each_query(board.values)]


@dataclass(frozen=True, eq=False)
class ReferenceScorer(MembershipScorer):
    """Compares records with what they looked like on reference models.

    Attributes
    ----------
    threshold : float
    comparison : Comparison
    references : Board
        The judged records on the reference models; secrets tell who was inside.
    """

    comparison: Comparison
    references: Board

    def score(self, values: np.ndarray) -> np.ndarray:
        """The comparison."""
        return self.comparison(values, self.references)


def confidence_without(scorer: object) -> np.ndarray | None:
    """What reference models that were not trained on a record give its true class, on average.

    NaN where there is none; None for scorers that compare with no reference models.
    """
    if not isinstance(scorer, ReferenceScorer):
        return None
    outside = ~scorer.references.secrets.astype(bool)
    total = np.where(outside, scorer.references.values[..., TRUE], 0.0).sum(axis=0)
    number = outside.sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


class ReferenceAttack(ModelThresholdAttack):
    """Judges a record on the audited model against the same record on reference models.

    A subclass writes `comparison`. The threshold is chosen by rehearsal: reference models are
    attacked in turn by means of the others, the complement of the attacked one left out.

    Parameters
    ----------
    criterion : str or tuple
        As in `ModelThresholdAttack`.
    clip : float or "auto"
        Probabilities are raised to at least this before logarithms; "auto" reads it off the steps
        in which the probabilities move.
    queries : int
        How often a model is asked about each record: once about itself, otherwise about copies
        that are moved by up to two pixels and mirrored (images) or have a little noise (tables).
        How much these count is chosen by rehearsal.
    label : str, optional
    """

    def __init__(
        self,
        criterion: CriterionLike = "accuracy",
        *,
        clip: Clip = "auto",
        queries: int = 1,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        self.clip = checked_clip(clip)
        self.queries = check_count(queries, "queries", minimum=1)
        if queries > MOST_QUERIES:
            raise ConfigError(f"queries must be at most {MOST_QUERIES}, got {queries}")

    @property
    def label(self) -> str:
        """Display name."""
        several = f", {self.queries} queries" if self.queries > 1 else ""
        return self._label or f"{self._default_label()}{several}"

    @property
    def needs(self) -> Needs:
        """Scores, and reference models, whatever fixes the threshold."""
        return Needs(
            "model",
            ("membership",),
            access=Access.SCORES,
            references=FEWEST,
            inside=self._needs_inside(),
            inputs="change" if self.queries > 1 else "",
        )

    def observer(self, briefing: Briefing, samples: Samples) -> Observer:
        """One query per record, as others ask it, or several."""
        if self.queries == 1:
            return super().observer(briefing, samples)
        return SeveralQueries(self.queries)

    def _needs_inside(self) -> bool:
        return False

    @abstractmethod
    def comparison(self, board: Board, clip: float) -> Comparison:
        """How records are compared; whatever it depends on is chosen by rehearsal."""

    def fit(self, board: Board, *, rng: np.random.Generator) -> ReferenceScorer:
        """Keep the judged records on the reference models, and rehearse for the threshold."""
        board = self._checked(board)
        comparison = self._compared(board, chosen_clip(self.clip, board.rehearsal.values))
        threshold = self._fixed_threshold
        if threshold is None:
            threshold = self._chosen_threshold(*self._rehearsed(comparison, board))
        return ReferenceScorer(threshold, comparison, board.references)

    def _compared(self, board: Board, clip: float) -> Comparison:
        """How records are compared, all queries together."""
        if self.queries == 1:
            return self.comparison(board, clip)
        parts = tuple(self.comparison(one, clip) for one in boards_of(board))
        return OverQueries(parts).weighed(board.rehearsal)

    def _rehearsed(self, comparison: Comparison, board: Board) -> tuple[np.ndarray, np.ndarray]:
        """Scores of a rehearsal and who was inside, to choose the threshold by."""
        return rehearsed(comparison, board.rehearsal)

    def _checked(self, board: Board) -> Board:
        if len(board) < FEWEST:
            raise IncompatibleAttackError(
                f"{self.label} needs at least {FEWEST} reference models, got {len(board)}: ask "
                f"for more"
            )
        return replace(board, secrets=board.secrets.astype(bool))


def rehearsed(comparison: Comparison, references: Board) -> tuple[np.ndarray, np.ndarray]:
    """Attack each reference by means of the others; return scores and who was inside."""
    models = range(min(len(references), REHEARSALS))
    scores = [
        comparison(references.values[[model]], without_pair_of(references, model))[0]
        for model in models
    ]
    return np.stack(scores), references.secrets[: len(scores)]


def told(scores: np.ndarray, inside: np.ndarray) -> float:
    """How much scores of rehearsals tell: overall, and at few false alarms."""
    found = [
        auc(members, one) + tpr_at_fpr(members, one, FEW_ALARMS).tpr
        for members, one in zip(inside, scores, strict=True)
        if members.any() and not members.all()
    ]
    return float(np.mean(found)) if found else 0.0


def without_pair_of(references: Board, model: int) -> Board:
    """All but a model and its complement, whose presence would tell who is inside it."""
    return references.of_releases(references.groups != references.groups[model])


def masked_moments(
    values: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, mean and sum of squares about the mean of the chosen models, for each record.

    A record without any has the mean of all records' means.
    """
    number = chosen.sum(axis=0)
    total = np.where(chosen, values, 0.0).sum(axis=0)
    mean = total / np.maximum(number, 1)
    everywhere = mean[number > 0].mean() if (number > 0).any() else 0.0
    mean = np.where(number > 0, mean, everywhere)
    squares = np.where(chosen, (values - mean) ** 2, 0.0).sum(axis=0)
    return number, mean, squares
