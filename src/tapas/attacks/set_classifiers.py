"""Earlier import path of set features and set classifiers."""

from tapas.attacks._corr_feature import CorrSetFeature
from tapas.attacks._hist_feature import HistSetFeature
from tapas.attacks._naive_feature import NaiveSetFeature
from tapas.attacks._query_feature import RandomTargetedQueryFeature
from tapas.attacks._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks._set_features import CombinedSetFeatures, SetFeature

__all__ = [
    "CombinedSetFeatures",
    "CorrSetFeature",
    "FeatureBasedSetClassifier",
    "HistSetFeature",
    "NaiveSetFeature",
    "RandomTargetedQueryFeature",
    "SetClassifier",
    "SetFeature",
]
