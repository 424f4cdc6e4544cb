"""Earlier import path of the attacks that fit a model to the release."""

from tapas.attacks._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks._synthetic_predictor import SyntheticPredictorAttack

__all__ = [
    "DensityEstimator",
    "ProbabilityEstimationAttack",
    "SyntheticPredictorAttack",
    "sklearnDensityEstimator",
]
