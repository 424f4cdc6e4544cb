"""Difficulty calibration: how much more at ease is the model than models without the record?"""

from dataclasses import dataclass

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._reference_attack import Comparison, ReferenceAttack, masked_moments
from tapas.attacks.models._score_statistics import USUAL_CLIP, Clip, logits
from tapas.game import Board


@dataclass(frozen=True)
class DifferenceFromOutside:
    """Logit minus the mean logit on models without the record.

    Attributes
    ----------
    clip : float
    """

    clip: float

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        _, mean, _ = masked_moments(logits(references.values, self.clip), ~references.secrets)
        return logits(values, self.clip) - mean


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
        criterion: CriterionLike = "accuracy",
        *,
        clip: Clip = USUAL_CLIP,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, clip=clip, label=label)

    def comparison(self, board: Board, clip: float) -> Comparison:
        """Difference from the mean outside."""
        return DifferenceFromOutside(clip)
