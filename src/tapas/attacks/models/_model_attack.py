"""What attacks on trained models have in common: they ask the model about records."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion, CriterionLike
from tapas.attacks.models._score_statistics import score_statistics
from tapas.errors import IncompatibleAttackError
from tapas.game import Briefing, ModelBriefing, Needs, Release
from tapas.models import Access


class ModelAttack(Attack):
    """An attack on a trained model.

    A subclass writes `needs`, `observe` (asks the model; one row per record) and `fit`.

    Parameters
    ----------
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(self, label: str | None = None) -> None:
        self._label = label

    @property
    def label(self) -> str:
        """Display name."""
        return self._label or self._default_label()

    def _default_label(self) -> str:
        return type(self).__name__


@dataclass(frozen=True, eq=False)
class MembershipScorer(ABC):
    """Guesses "member" wherever a score reaches a threshold.

    Attributes
    ----------
    threshold : float
    """

    threshold: float

    @abstractmethod
    def score(self, values: np.ndarray) -> np.ndarray:
        """Score of each observed record, (models, records); higher means likelier a member."""

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Member where the score reaches the threshold."""
        return scores >= self.threshold


class ModelThresholdAttack(ModelAttack):
    """Guesses "member" where a score of the record reaches a threshold.

    A subclass writes `fit`, and `observe` where the statistics of the model's probabilities are
    not what it looks at.

    Parameters
    ----------
    criterion : str or tuple
        How the threshold is chosen: "accuracy", ("tp", rate), ("fp", rate), or
        ("threshold", value), which needs no training.
    label : str, optional
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    def __init__(self, criterion: CriterionLike = "accuracy", *, label: str | None = None) -> None:
        super().__init__(label)
        self.criterion = Criterion.parse(criterion)

    def _default_label(self) -> str:
        return f"{type(self).__name__}({self.criterion})"

    @property
    def needs(self) -> Needs:
        """Scores, and known records or shadow models unless the threshold is given."""
        return Needs(
            "model", ("membership",), training=self._fixed_threshold is None, access=Access.SCORES
        )

    @property
    def _fixed_threshold(self) -> float | None:
        return self.criterion.value if self.criterion.kind == "threshold" else None

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Ask the model for the probabilities of every record once."""
        return score_statistics(release.model, model_briefing(briefing).targets)

    def _chosen_threshold(self, scores: np.ndarray, members: np.ndarray) -> float:
        if self._fixed_threshold is not None:
            return self._fixed_threshold
        self._refuse_one_kind(members)
        return self.criterion.threshold(scores.ravel(), members.ravel().astype(bool))

    def _refuse_one_kind(self, members: np.ndarray) -> None:
        if members.all() or not members.any():
            raise IncompatibleAttackError(
                f"{self.label} needs both members and non-members to learn from, got "
                f"{members.size} records of one kind"
            )


def model_briefing(briefing: Briefing) -> ModelBriefing:
    """The briefing as one about a model."""
    if not isinstance(briefing, ModelBriefing):
        raise IncompatibleAttackError(
            f"the attack asks a model about records, but was given a {type(briefing).__name__}"
        )
    return briefing
