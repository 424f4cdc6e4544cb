"""The gap attack: models are right about the records they were trained on."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from tapas.attacks.models._model_attack import ModelAttack
from tapas.models import Access
from tapas.threat_models import Release
from tapas.threat_models._model_game import ModelNeeds


class RuleBasedMIA(ModelAttack):
    """Guesses "member" where the model predicts the true class.

    Idea: a model errs less on what it was trained on; the gap between its training and test
    accuracy is the advantage of this attack, which any better attack should exceed.

    Needs: labels, one query per record, no training.

    Score: 1 if the predicted class is the true one, else 0.

    Reference: Yeom, Giacomelli, Fredrikson and Jha (2018).
    """

    needs = ModelNeeds(Access.LABELS, training=False)

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Whether each record is classified right."""
        model, targets = release.data, briefing.targets
        right = model.predict_codes(targets.X) == model.codes_of(targets.y)
        return right.astype(float)

    @property
    def observation_key(self) -> Hashable:
        """The same for all attacks of this kind."""
        return type(self)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Member where the model is right."""
        return scores >= 0.5
