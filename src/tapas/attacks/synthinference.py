"""Earlier import path of the attacks that fit a model to the release."""

from tapas.attacks.tables._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks.tables._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks.tables._synthetic_predictor import SyntheticPredictorAttack

__all__ = [
    "DensityEstimator",
    "ProbabilityEstimationAttack",
    "SyntheticPredictorAttack",
    "sklearnDensityEstimator",
]
