"""Difficulty calibration: how much more at ease is the model than models without the record?"""

from typing import Any

import numpy as np

from tapas.attacks.models._reference_attack import ReferenceAttack, References, masked_moments
from tapas.attacks.models._score_statistics import USUAL_CLIP, logits


class CalibratedLossMIA(ReferenceAttack):
    """Compares the logit of the true class with its mean on models not trained on the record.

    Idea: a small loss says little about an easy record; what counts is the difference from models
    that never saw it.

    Needs: scores, one query per record, and 4 or more reference models.

    Score: phi(x) - mean of phi(x) over references without x, with
    phi = ln p_y - ln sum over c != y of p_c.

    Reference: Watson, Guo, Cormode and Sablayrolles (2022), there with the loss ln p_y.

    Parameters
    ----------
    criterion, clip, label
        As in `ReferenceAttack`.
    """

    def __init__(
        self,
        criterion: Any = "accuracy",
        *,
        clip: float | str = USUAL_CLIP,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, clip=clip, label=label)

    def compared(self, observations: np.ndarray, references: References) -> np.ndarray:
        """Logit minus the mean logit outside."""
        outside = logits(references.values, self._clip)
        _, mean, _ = masked_moments(outside, ~references.inside)
        return logits(observations, self._clip) - mean
