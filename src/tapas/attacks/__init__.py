"""Attacks: how an adversary turns a release into a guess."""

from tapas.attacks._base import Attack
from tapas.attacks._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks._corr_feature import CorrSetFeature
from tapas.attacks._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks._distances import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks._groundhog import GroundhogAttack
from tapas.attacks._hist_feature import HistSetFeature
from tapas.attacks._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.attacks._naive_feature import NaiveSetFeature, StadlerNaiveSetFeature
from tapas.attacks._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks._query_feature import RandomTargetedQueryFeature
from tapas.attacks._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks._set_features import CombinedSetFeatures, SetFeature
from tapas.attacks._shadow_modelling import ShadowModellingAttack
from tapas.attacks._synthetic_predictor import SyntheticPredictorAttack
from tapas.attacks._threshold import TrainableThresholdAttack

__all__ = [
    "Attack",
    "ClosestDistanceAIA",
    "ClosestDistanceMIA",
    "CombinedSetFeatures",
    "CorrSetFeature",
    "DensityEstimator",
    "DistanceMetric",
    "FeatureBasedSetClassifier",
    "GroundhogAttack",
    "HammingDistance",
    "HistSetFeature",
    "LocalNeighbourhoodAttack",
    "LpDistance",
    "NaiveSetFeature",
    "ProbabilityEstimationAttack",
    "RandomTargetedQueryFeature",
    "SetClassifier",
    "SetFeature",
    "ShadowModellingAttack",
    "StadlerNaiveSetFeature",
    "SyntheticPredictorAttack",
    "TrainableThresholdAttack",
    "sklearnDensityEstimator",
]
