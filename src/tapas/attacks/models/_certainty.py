"""The black-box attack with the attacker's own certainty: no reference model, no further query."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._model_attack import model_briefing
from tapas.attacks.models._own_models import NUM_OWN_MODELS, own_certainty
from tapas.attacks.models._prediction_features import PredictionFeatures, Scaled, prediction_vectors
from tapas.attacks.models._score_statistics import logits, statistics_of
from tapas.game import Briefing, Needs, Release
from tapas.models import Classifier

NUM_OWN = NUM_OWN_MODELS + 1  # with boosting


@dataclass(frozen=True, eq=False)
class FeaturesAndCertainty:
    """Inputs of an attack model: those of the prediction, and how sure own models are.

    The certainty counts by itself and as the difference from the audited model's.

    Attributes
    ----------
    of_predictions : PredictionFeatures
    scaled : Scaled
        Of what stands beside them.
    """

    of_predictions: PredictionFeatures
    scaled: Scaled

    @classmethod
    def learn(cls, rows: np.ndarray) -> "FeaturesAndCertainty":
        """Learn ranks and scales from the attacker's records."""
        features = PredictionFeatures.learn(rows[:, :-NUM_OWN])
        return cls(features, Scaled.learn(_beside(rows, features.clip)))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        beside = self.scaled(_beside(rows, self.of_predictions.clip))
        return np.concatenate([self.of_predictions(rows[:, :-NUM_OWN]), beside], axis=1)


def _beside(rows: np.ndarray, clip: float) -> np.ndarray:
    own = rows[:, -NUM_OWN:]
    statistics = statistics_of(rows[:, 1:-NUM_OWN], rows[:, 0].astype(int))
    return np.concatenate([own, logits(statistics, clip)[:, None] - own], axis=1)


class CertaintyMIA(BlackBoxMIA):
    """Reads the model's answers beside how sure the attacker's own models are of the record.

    Idea: to be sure of a record that any model is sure of says little; to be sure of one that
    others get wrong says that it was trained on. The attacker's own models, a linear one, a
    forest and boosting, are trained on the records that the attacker holds; each record is judged
    by those that did not see it. They ask the audited model nothing. Of records of more than 500
    numbers, such as images, they read 500, the same of all.

    Needs: scores, one query per record, known records or shadow models.

    Score: the attack model's probability of membership, from the inputs of `BlackBoxMIA`, the log
    odds of the true class by the own models, and how far the audited model's are above them.

    Reference: Shokri et al. (2017) for the attack model; Watson et al. (2022) for calibration.

    Parameters
    ----------
    attack_model, per_class, criterion, label
        As in `BlackBoxMIA`; gradient boosting by default.
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        attack_model: str | Classifier = "gb",
        *,
        per_class: bool = False,
        criterion: CriterionLike = ("threshold", 0.5),
        label: str | None = None,
    ) -> None:
        super().__init__(attack_model, per_class=per_class, criterion=criterion, label=label)

    @property
    def needs(self) -> Needs:
        """As `BlackBoxMIA`, and the inputs of records."""
        return replace(super().needs, inputs="read")

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The true class, all probabilities, and the certainty of own models."""
        about, model = model_briefing(briefing), release.model
        held_codes = None if about.auxiliary is None else model.codes_of(about.auxiliary.y)
        codes = model.codes_of(about.targets.y)
        encoding = about.known_encoding
        own = own_certainty(
            about.targets, codes, about.auxiliary, held_codes, encoding, boosting=True
        )
        return np.column_stack([prediction_vectors(model, about.targets), own])

    def _features(self, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return FeaturesAndCertainty.learn(rows)
