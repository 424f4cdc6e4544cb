"""Classifiers of whole datasets."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Self, cast

import numpy as np

from tapas._random import ambient_rng
from tapas._validate import listing
from tapas.attacks._sklearn_models import (
    Classifier,
    checked_classifier,
    class_probabilities,
    seeded_clone,
)
from tapas.attacks.features._set_features import SetFeature, as_rows
from tapas.datasets import Dataset
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError
from tapas.game import Value

__all__ = ["FeatureBasedSetClassifier", "FeatureModel", "SetClassifier"]

# Classifiers may work in single precision, where larger numbers are infinite.
LARGEST_FEATURE = 1e30
# Single precision keeps seven digits; a feature that varies only in later ones is centred.
LARGEST_MEAN_TO_SPREAD = 1e4


class SetClassifier(ABC):
    """Classifies datasets; looks like a scikit-learn classifier whose samples are datasets.

    A subclass writes `fit` and `predict` and, if it has a score, `predict_proba`. Columns of
    probabilities stand in the order of its attribute `classes_` if it has one, else in the
    sorted order of the training labels.
    """

    @abstractmethod
    def fit(self, datasets: Sequence[Dataset], labels: Sequence[Value]) -> object:
        """Learn from datasets with known labels; what was learnt before is forgotten."""

    @abstractmethod
    def predict(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """Label of each dataset."""

    def predict_proba(self, datasets: Sequence[Dataset]) -> np.ndarray | None:
        """Probability of each label, (len(datasets), labels); None if there is no score."""
        return None

    @property
    def label(self) -> str:
        """Display name."""
        return "Unknown classifier"

    def __call__(self, datasets: Sequence[Dataset]) -> np.ndarray:
        return self.predict(datasets)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, eq=False)
class FeatureModel:
    """A scikit-learn classifier fitted to features of datasets.

    Attributes
    ----------
    classifier : scikit-learn classifier
        Fitted.
    origin : ndarray
        What is taken off features before they are classified.
    """

    classifier: Classifier
    origin: np.ndarray

    @classmethod
    def fitted(
        cls,
        classifier: Classifier,
        features: np.ndarray,
        labels: np.ndarray,
        *,
        rng: np.random.Generator,
    ) -> "FeatureModel":
        """A seeded copy of the classifier that learnt from features with known labels."""
        bounded = _bounded(features)
        model = cls(seeded_clone(classifier, rng), _origin(bounded))
        model.classifier.fit(bounded - model.origin, labels)
        return model

    @property
    def classes(self) -> np.ndarray:
        """The labels seen in training, sorted."""
        return np.asarray(self.classifier.classes_)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Label of each row."""
        return np.asarray(self.classifier.predict(_bounded(features) - self.origin))

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Probability of each label, in the order of `classes`."""
        return class_probabilities(self.classifier, _bounded(features) - self.origin)


class FeatureBasedSetClassifier(SetClassifier):
    """A scikit-learn classifier on features of datasets.

    Parameters
    ----------
    features : SetFeature
    classifier : scikit-learn classifier
        Stays as it is: each fit learns a seeded copy. Or a function that makes it once it is
        needed: loading scikit-learn takes a second.
    label : str, optional

    Attributes
    ----------
    features_ : SetFeature
        The features with all that they learn, once fitted.
    classifier_ : scikit-learn classifier
        The fitted copy.
    """

    def __init__(
        self,
        features: SetFeature,
        classifier: Classifier | Callable[[], Classifier],
        label: str | None = None,
    ) -> None:
        if not isinstance(features, SetFeature):
            raise ConfigError(f"features must be a SetFeature, got {features!r}")
        self.features = features
        if isinstance(classifier, FunctionType):
            self._make = classifier
        else:
            self.classifier = checked_classifier(cast(Classifier, classifier), "classifier")
        self.features_: SetFeature | None = None
        self._model: FeatureModel | None = None
        self._label = label

    # -- datasets ----------------------------------------------------------------------------

    def fit(self, datasets: Sequence[Dataset], labels: Sequence[Value]) -> Self:
        """Learn from datasets with known labels; what was learnt before is forgotten."""
        features = self.features.fitted_to(datasets)
        rows = as_rows(features, features.extract(datasets), len(datasets))
        self.adopt(features, self.learn(rows, np.asarray(labels), rng=ambient_rng()))
        return self

    def predict(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """Label of each dataset."""
        return self._fitted().predict(self._extracted(datasets))

    def predict_proba(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """Probability of each label, in the order of `classes_`."""
        return self._fitted().probabilities(self._extracted(datasets))

    @cached_property
    def classifier(self) -> Classifier:
        """What each fit learns a copy of."""
        return checked_classifier(self._make(), "classifier")

    @property
    def classifier_(self) -> Classifier | None:
        """The fitted copy of the classifier."""
        return None if self._model is None else self._model.classifier

    @property
    def classes_(self) -> np.ndarray:
        """The labels seen in training, sorted."""
        return self._fitted().classes

    @property
    def label(self) -> str:
        """Display name."""
        return self._label or f"Classifier({self.features.label}, {_one_line(self.classifier)})"

    # -- features ----------------------------------------------------------------------------

    def learn(
        self, features: np.ndarray, labels: np.ndarray, *, rng: np.random.Generator
    ) -> FeatureModel:
        """A model of features with known labels; this classifier stays as it is."""
        labels = np.array(labels.tolist()) if labels.dtype == object else labels
        if labels.dtype.kind == "f":
            # An estimator would take fractions for something to regress on.
            labels = np.array([str(label) for label in labels.tolist()])
        if len(features) != len(labels):
            raise ConfigError(f"there are {len(features)} datasets and {len(labels)} labels")
        classes = np.unique(labels)
        if len(classes) < 2:
            raise IncompatibleAttackError(
                f"{self.label} needs training data with at least two different labels, got only "
                f"{listing(classes.tolist())} in {len(labels)} datasets: ask for more samples"
            )
        return FeatureModel.fitted(self.classifier, features, labels, rng=rng)

    def adopt(self, features: SetFeature, model: FeatureModel) -> None:
        """Classify datasets by what was learnt, here or elsewhere."""
        self.features_, self._model = features, model

    @property
    def model(self) -> FeatureModel | None:
        """What datasets are classified by; None before the first fit."""
        return self._model

    def with_features(self, features: SetFeature) -> Self:
        """An unfitted copy that uses other features."""
        twin = copy.copy(self)
        twin.features, twin.features_, twin._model = features, None, None
        return twin

    def __spec__(self) -> Mapping[str, object]:
        """All attributes but the display name and what was learnt."""
        left_out = ("features_", "_model", "_label", "_make")
        given = {name: value for name, value in vars(self).items() if name not in left_out}
        return {**given, "classifier": self.classifier}

    def _extracted(self, datasets: Sequence[Dataset]) -> np.ndarray:
        features = self.features if self.features_ is None else self.features_
        return as_rows(features, features.extract(datasets), len(datasets))

    def _fitted(self) -> FeatureModel:
        if self._model is None:
            raise NotTrainedError(f"{self.label} is not fitted yet: call fit first")
        return self._model


def _bounded(features: np.ndarray) -> np.ndarray:
    """Features without NaN (0 instead) and without numbers that overflow single precision."""
    return np.clip(np.nan_to_num(features, nan=0.0), -LARGEST_FEATURE, LARGEST_FEATURE)


def _origin(features: np.ndarray) -> np.ndarray:
    """Mean of features that vary little for their size, such as dates; 0 for all others."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    return np.where((spread > 0) & (np.abs(mean) > LARGEST_MEAN_TO_SPREAD * spread), mean, 0.0)


def _one_line(estimator: object) -> str:
    return " ".join(str(estimator).split())
