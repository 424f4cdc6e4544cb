"""Attacks: how an adversary turns a release into a guess."""

from tapas.attacks._base import Attack
from tapas.attacks._ensemble import EnsembleAttack
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._groundhog import GroundhogAttack
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature, StadlerNaiveSetFeature
from tapas.attacks.features._query_attack import QueryAttack
from tapas.attacks.features._query_feature import RandomTargetedQueryFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks.features._set_features import CombinedSetFeatures, SetFeature
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.attacks.features._subset_attack import SubsetAttack
from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._certainty import CertaintyMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._model_attributes import ConfidenceAIA, ImputationAIA, LabelOnlyAIA
from tapas.attacks.models._property_classifier import (
    PropertyClassifier,
    WhiteBoxPropertyClassifier,
)
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._reference_attack import confidence_without
from tapas.attacks.models._rehearsed import RehearsedMIA
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._rule_based import RuleBasedMIA
from tapas.attacks.models._score_attacks import (
    ConfidenceMIA,
    EntropyMIA,
    LossMIA,
    ModifiedEntropyMIA,
)
from tapas.attacks.models._tree_attack import TreeMIA
from tapas.attacks.tables._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks.tables._density import DensityEstimator, sklearnDensityEstimator
from tapas.attacks.tables._distances import (
    DistanceMetric,
    HammingDistance,
    LpDistance,
    MixedDistance,
)
from tapas.attacks.tables._domias import DOMIAS
from tapas.attacks.tables._guideline import (
    InferenceAttack,
    LinkabilityAttack,
    SinglingOutAttack,
)
from tapas.attacks.tables._likelihood import LikelihoodAttack
from tapas.attacks.tables._local_likelihood import GenLRA
from tapas.attacks.tables._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.attacks.tables._marginals import MarginalsAttack
from tapas.attacks.tables._nearest_record import nearest_record_diagnostics
from tapas.attacks.tables._nearness import NearnessAttack
from tapas.attacks.tables._neighbours_with_reference import LocalNeighboursWithReference
from tapas.attacks.tables._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks.tables._reconstruction import ReconstructionAttack
from tapas.attacks.tables._record_ensemble import RecordEnsembleAttack
from tapas.attacks.tables._synthetic_predictor import SyntheticPredictorAttack

__all__ = [
    "DOMIAS",
    "RMIA",
    "Attack",
    "BlackBoxMIA",
    "CalibratedLossMIA",
    "CertaintyMIA",
    "ClosestDistanceAIA",
    "ClosestDistanceMIA",
    "CombinedSetFeatures",
    "ConfidenceAIA",
    "ConfidenceMIA",
    "CorrSetFeature",
    "DensityEstimator",
    "DistanceMetric",
    "EnsembleAttack",
    "EntropyMIA",
    "FeatureBasedSetClassifier",
    "GenLRA",
    "GroundhogAttack",
    "HammingDistance",
    "HistSetFeature",
    "ImputationAIA",
    "InferenceAttack",
    "LabelOnlyAIA",
    "LabelOnlyMIA",
    "LiRA",
    "LikelihoodAttack",
    "LinkabilityAttack",
    "LocalNeighbourhoodAttack",
    "LocalNeighboursWithReference",
    "LossMIA",
    "LpDistance",
    "MarginalsAttack",
    "MixedDistance",
    "ModifiedEntropyMIA",
    "NaiveSetFeature",
    "NearnessAttack",
    "ProbabilityEstimationAttack",
    "PropertyClassifier",
    "QuantileMIA",
    "QueryAttack",
    "RandomTargetedQueryFeature",
    "ReconstructionAttack",
    "RecordEnsembleAttack",
    "RehearsedMIA",
    "RuleBasedMIA",
    "SetClassifier",
    "SetFeature",
    "ShadowModellingAttack",
    "SinglingOutAttack",
    "StadlerNaiveSetFeature",
    "SubsetAttack",
    "SyntheticPredictorAttack",
    "TrainableThresholdAttack",
    "TreeMIA",
    "WhiteBoxPropertyClassifier",
    "confidence_without",
    "nearest_record_diagnostics",
    "sklearnDensityEstimator",
]
