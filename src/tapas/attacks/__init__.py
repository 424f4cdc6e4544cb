"""Attacks: how an adversary turns a release into a guess."""

from tapas.attacks._base import Attack
from tapas.attacks._black_box import BlackBoxMIA
from tapas.attacks._calibrated import CalibratedLossMIA
from tapas.attacks._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks._corr_feature import CorrSetFeature
from tapas.attacks._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks._distances import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks._domias import DOMIAS
from tapas.attacks._groundhog import GroundhogAttack
from tapas.attacks._hist_feature import HistSetFeature
from tapas.attacks._label_only import LabelOnlyMIA
from tapas.attacks._lira import LiRA
from tapas.attacks._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.attacks._model_attributes import ConfidenceAIA, ImputationAIA, LabelOnlyAIA
from tapas.attacks._naive_feature import NaiveSetFeature, StadlerNaiveSetFeature
from tapas.attacks._nearest_record import nearest_record_diagnostics
from tapas.attacks._neighbours_with_reference import LocalNeighboursWithReference
from tapas.attacks._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks._property_classifier import PropertyClassifier
from tapas.attacks._quantile import QuantileMIA
from tapas.attacks._query_feature import RandomTargetedQueryFeature
from tapas.attacks._rmia import RMIA
from tapas.attacks._rule_based import RuleBasedMIA
from tapas.attacks._score_attacks import ConfidenceMIA, EntropyMIA, LossMIA, ModifiedEntropyMIA
from tapas.attacks._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks._set_features import CombinedSetFeatures, SetFeature
from tapas.attacks._shadow_modelling import ShadowModellingAttack
from tapas.attacks._synthetic_predictor import SyntheticPredictorAttack
from tapas.attacks._threshold import TrainableThresholdAttack

__all__ = [
    "DOMIAS",
    "RMIA",
    "Attack",
    "BlackBoxMIA",
    "CalibratedLossMIA",
    "ClosestDistanceAIA",
    "ClosestDistanceMIA",
    "CombinedSetFeatures",
    "ConfidenceAIA",
    "ConfidenceMIA",
    "CorrSetFeature",
    "DensityEstimator",
    "DistanceMetric",
    "EntropyMIA",
    "FeatureBasedSetClassifier",
    "GroundhogAttack",
    "HammingDistance",
    "HistSetFeature",
    "ImputationAIA",
    "LabelOnlyAIA",
    "LabelOnlyMIA",
    "LiRA",
    "LocalNeighbourhoodAttack",
    "LocalNeighboursWithReference",
    "LossMIA",
    "LpDistance",
    "ModifiedEntropyMIA",
    "NaiveSetFeature",
    "ProbabilityEstimationAttack",
    "PropertyClassifier",
    "QuantileMIA",
    "RandomTargetedQueryFeature",
    "RuleBasedMIA",
    "SetClassifier",
    "SetFeature",
    "ShadowModellingAttack",
    "StadlerNaiveSetFeature",
    "SyntheticPredictorAttack",
    "TrainableThresholdAttack",
    "nearest_record_diagnostics",
    "sklearnDensityEstimator",
]
