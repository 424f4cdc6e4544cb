"""The gap attack: models are right about the records they were trained on."""

from typing import ClassVar

import numpy as np

from tapas.attacks._threshold import ThresholdScorer
from tapas.attacks.models._model_attack import ModelAttack, model_briefing
from tapas.game import Board, Briefing, Needs, Release
from tapas.models import Access


class RuleBasedMIA(ModelAttack):
    """Guesses "member" where the model predicts the true class.

    Idea: a model errs less on what it was trained on; the gap between its training and test
    accuracy is the advantage of this attack, which any better attack should exceed.

    Needs: labels, one query per record, no training.

    Score: 1 if the predicted class is the true one, else 0.

    Reference: Yeom, Giacomelli, Fredrikson and Jha (2018).
    """

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    @property
    def needs(self) -> Needs:
        """Labels."""
        return Needs("model", ("membership",), training=False, access=Access.LABELS)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Whether each record is classified right."""
        model, targets = release.model, model_briefing(briefing).targets
        right = model.predict_codes(targets.X) == model.codes_of(targets.y)
        return right.astype(float)

    def fit(self, board: Board, *, rng: np.random.Generator) -> ThresholdScorer:
        """Nothing is learnt: members are those that the model is right about."""
        return ThresholdScorer(0.5, True, False, (False, True), self.label)
