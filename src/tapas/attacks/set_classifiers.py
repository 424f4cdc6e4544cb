"""Earlier import path of set features and set classifiers."""

from tapas.attacks.features._corr_feature import CorrSetFeature
from tapas.attacks.features._hist_feature import HistSetFeature
from tapas.attacks.features._naive_feature import NaiveSetFeature
from tapas.attacks.features._query_feature import RandomTargetedQueryFeature
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier, SetClassifier
from tapas.attacks.features._set_features import CombinedSetFeatures, SetFeature

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
