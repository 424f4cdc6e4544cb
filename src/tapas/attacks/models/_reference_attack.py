"""Attacks that compare the audited model with reference models on the same records."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from tapas.attacks.models._model_attack import ModelThresholdAttack
from tapas.attacks.models._score_statistics import chosen_clip
from tapas.errors import ConfigError, NotTrainedError
from tapas.models import Access
from tapas.threat_models._model_game import ModelNeeds

FEWEST = 4
REHEARSALS = 16  # references attacked in turn to choose a threshold; more change little


@dataclass(frozen=True, eq=False)
class References:
    """Observations of the same records on several models.

    Attributes
    ----------
    values : ndarray, (models, records, ...)
    inside : ndarray of bool, (models, records)
        Whether each model was trained on each record.
    pairs : ndarray of int, (models,)
        Equal for two models that were trained on complementary halves.
    """

    values: np.ndarray
    inside: np.ndarray
    pairs: np.ndarray

    def without_pair_of(self, model: int) -> "References":
        """All but a model and its complement, whose presence would tell who is inside it."""
        kept = self.pairs != self.pairs[model]
        return References(self.values[kept], self.inside[kept], self.pairs[kept])


class ReferenceAttack(ModelThresholdAttack):
    """Judges a record on the audited model against the same record on reference models.

    A subclass writes `compared`. The threshold is chosen by rehearsal: reference models are
    attacked in turn by means of the others, the complement of the attacked one left out.

    Parameters
    ----------
    criterion : str or tuple
        As in `ModelThresholdAttack`.
    clip : float or "auto"
        Probabilities are raised to at least this before logarithms; "auto" reads it off the steps
        in which the probabilities move.
    label : str, optional
    """

    needs = ModelNeeds(Access.SCORES, references=FEWEST)

    def __init__(
        self, criterion: Any = "accuracy", *, clip: float | str = "auto", label: str | None = None
    ) -> None:
        super().__init__(criterion, label=label)
        if clip != "auto" and (isinstance(clip, str) or not 0 < clip < 0.5):
            raise ConfigError(f"clip must be 'auto' or strictly between 0 and 0.5, got {clip!r}")
        self.clip = clip
        # Reference models are observed in training, whatever fixes the threshold.
        self.needs = ModelNeeds(Access.SCORES, references=FEWEST, inside=self._needs_inside())
        self._references: References | None = None
        self._clip = 0.0

    def _needs_inside(self) -> bool:
        return False

    @abstractmethod
    def compared(self, observations: np.ndarray, references: References) -> np.ndarray:
        """Score of records observed on some models (n, records, ...) given the references."""

    def train(self, threat_model: Any, num_samples: int | None = None) -> None:
        """Observe the judged records on the reference models, and rehearse."""
        self._brief(threat_model)
        rehearsed = threat_model.observe(self, num_samples, training=True)
        judged = threat_model.observe_references(self, num_samples)
        self._learn(
            References(rehearsed.values, rehearsed.secrets, rehearsed.groups),
            References(judged.values, judged.secrets, judged.groups),
        )

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Learn from the judged records on reference models that come in complementary pairs."""
        references = References(observations, secrets, np.arange(len(observations)) // 2)
        self._learn(references, references)
        return self

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """The comparison with the references that were observed in training."""
        if self._references is None:
            raise NotTrainedError(f"{self.label} knows no reference models yet: call train() first")
        return self.compared(observations, self._references)

    def _learn(self, rehearsed: References, judged: References) -> None:
        self._clip = chosen_clip(self.clip, rehearsed.values)
        self._references = judged
        self._tune(rehearsed)
        scores, inside = self._rehearse(rehearsed)
        self._choose_threshold(scores, inside)

    def _tune(self, rehearsed: References) -> None:
        """For subclasses with something to choose before the threshold."""

    def _rehearse(self, references: References) -> tuple[np.ndarray, np.ndarray]:
        """Attack each reference by means of the others; return scores and who was inside."""
        models = range(min(len(references.values), REHEARSALS))
        scores = [
            self.compared(references.values[[model]], references.without_pair_of(model))[0]
            for model in models
        ]
        return np.stack(scores), references.inside[: len(scores)]


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
