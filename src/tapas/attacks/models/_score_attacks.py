"""Attacks that compare one number, read from the model's probabilities, with a threshold."""

import numpy as np

from tapas.attacks.models._model_attack import ModelThresholdAttack
from tapas.attacks.models._score_statistics import ENTROPY, LARGEST, MODIFIED, SMALLEST, TRUE


class LossMIA(ModelThresholdAttack):
    """Guesses "member" where the loss of the true class is small.

    Idea: training makes the loss of training records small.

    Needs: scores, one query per record, known records or shadow models for the threshold.

    Score: ln p_y.

    Reference: Yeom, Giacomelli, Fredrikson and Jha (2018).
    """

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """ln p_y."""
        return np.log(np.maximum(observations[..., TRUE], SMALLEST))


class ConfidenceMIA(ModelThresholdAttack):
    """Guesses "member" where the model is sure of its prediction, right or wrong.

    Idea: models are more confident on what they were trained on.

    Needs: scores, one query per record; does not use the true class unless thresholds are per
    class.

    Score: max_c p_c.

    Reference: Salem et al. (2019).
    """

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """The largest probability."""
        return observations[..., LARGEST]


class EntropyMIA(ModelThresholdAttack):
    """Guesses "member" where the prediction has little entropy.

    Idea: as `ConfidenceMIA`, with all probabilities.

    Needs: scores, one query per record; does not use the true class unless thresholds are per
    class.

    Score: sum_c p_c ln p_c.

    Reference: Shokri et al. (2017); Yeom et al. (2018).
    """

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Negative entropy."""
        return observations[..., ENTROPY]


class ModifiedEntropyMIA(ModelThresholdAttack):
    """Guesses "member" where the entropy with respect to the true class is small.

    Idea: a sure and wrong prediction should look unlike a member, which plain entropy misses.

    Needs: scores, one query per record.

    Score: (1 - p_y) ln p_y + sum over c != y of p_c ln(1 - p_c).

    Reference: Song and Mittal (2021).
    """

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Negative modified entropy."""
        return observations[..., MODIFIED]
