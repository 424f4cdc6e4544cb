"""Classifiers of whole datasets."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tapas._random import ambient_rng
from tapas._validate import listing
from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.features._set_features import SetFeature, as_rows
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, IncompatibleAttackError, NotTrainedError
from tapas.threat_models import Briefing

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
    def fit(self, datasets: Sequence[Any], labels: Sequence[Any]) -> Any:
        """Learn from datasets with known labels; what was learnt before is forgotten."""

    @abstractmethod
    def predict(self, datasets: Sequence[Any]) -> Any:
        """Label of each dataset."""

    def predict_proba(self, datasets: Sequence[Any]) -> Any:
        """Probability of each label, (len(datasets), labels); None if there is no score."""
        return None

    @property
    def label(self) -> str:
        """Display name."""
        return "Unknown classifier"

    def __call__(self, datasets: Sequence[Any]) -> Any:
        return self.predict(datasets)

    def __str__(self) -> str:
        return self.label


class FeatureBasedSetClassifier(SetClassifier):
    """A scikit-learn classifier on features of datasets.

    Parameters
    ----------
    features : SetFeature
    classifier : scikit-learn classifier
        Stays as it is: each fit learns a seeded copy.
    label : str, optional

    Attributes
    ----------
    features_ : SetFeature
        The features with all that they learn, once fitted.
    classifier_ : scikit-learn classifier
        The fitted copy.
    """

    def __init__(self, features: SetFeature, classifier: Any, label: str | None = None) -> None:
        if not isinstance(features, SetFeature):
            raise ConfigError(f"features must be a SetFeature, got {features!r}")
        if isinstance(classifier, type) or not hasattr(classifier, "fit"):
            raise ConfigError(
                f"classifier must be a scikit-learn classifier such as "
                f"RandomForestClassifier(), got {classifier!r}"
            )
        self.features = features
        self.classifier = classifier
        self.features_: SetFeature | None = None
        self.classifier_: Any = None
        # Whether features_ follows from other data than what the attacker holds.
        self.learnt_elsewhere = False
        self._of_auxiliary: tuple[Any, SetFeature] | None = None
        self._origin: np.ndarray | None = None
        self._label = label

    # -- datasets ----------------------------------------------------------------------------

    def fit(self, datasets: Sequence[Any], labels: Sequence[Any]) -> Self:
        """Learn from datasets with known labels; what was learnt before is forgotten."""
        self.prepare(datasets, elsewhere=True)
        return self.fit_features(self._extract(datasets), np.asarray(labels), rng=ambient_rng())

    def predict(self, datasets: Sequence[Any]) -> np.ndarray:
        """Label of each dataset."""
        return np.asarray(self._fitted().predict(self._finite(self._extract(datasets))))

    def predict_proba(self, datasets: Sequence[Any]) -> np.ndarray:
        """Probability of each label, in the order of `classes_`."""
        self._fitted()
        return self.probabilities(self._extract(datasets))

    # -- features ----------------------------------------------------------------------------

    def prepare(self, datasets: Sequence[Any], *, elsewhere: bool = False) -> None:
        """Let the features learn what they need (such as ranges) from datasets."""
        self.features_ = self.features.fitted_to(datasets)
        self.learnt_elsewhere = elsewhere and self.features.learns

    def observe(self, dataset: Any, briefing: Briefing) -> np.ndarray:
        """Features of one dataset, a row per target or one row for all."""
        return self.ready_features(briefing).observe(dataset, briefing)

    def ready_features(self, briefing: Briefing | None = None) -> SetFeature:
        """The features as they follow from the attacker's data, or as learnt from other data."""
        if not self.features.learns:
            return self.features
        auxiliary = None if briefing is None else briefing.auxiliary
        if isinstance(auxiliary, TabularDataset) and not self.learnt_elsewhere:
            if self._of_auxiliary is None or self._of_auxiliary[0] is not auxiliary:
                self._of_auxiliary = auxiliary, self.features.fitted_to([auxiliary])
            return self._of_auxiliary[1]
        if self.features_ is None:
            raise NotTrainedError(
                f"{self.features.label} learns ranges from data and has seen none: train the "
                f"attack first, or give fixed bounds"
            )
        return self.features_

    def fit_features(
        self, features: np.ndarray, labels: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Learn a fresh copy of the classifier from features with known labels."""
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
        self._origin = _origin(_bounded(features))
        self.classifier_ = seeded_clone(self.classifier, rng)
        self.classifier_.fit(self._finite(features), labels)
        return self

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """Probability of each label, in the order of `classes_`, from features."""
        model, values = self._fitted(), self._finite(features)
        if hasattr(model, "predict_proba"):
            return np.asarray(model.predict_proba(values))
        if hasattr(model, "decision_function"):
            margins = np.asarray(model.decision_function(values))
            return _probabilities_of(margins)
        return (np.asarray(model.predict(values))[:, None] == model.classes_).astype(float)

    @property
    def classes_(self) -> np.ndarray:
        """The labels seen in training, sorted."""
        return np.asarray(self._fitted().classes_)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label or f"Classifier({self.features.label}, {_one_line(self.classifier)})"

    def _extract(self, datasets: Sequence[Any]) -> np.ndarray:
        features = self.ready_features()
        return as_rows(features, features.extract(datasets), len(datasets))

    def _fitted(self) -> Any:
        if self.classifier_ is None:
            raise NotTrainedError(f"{self.label} is not fitted yet: call fit first")
        return self.classifier_

    def _finite(self, features: np.ndarray) -> np.ndarray:
        return _bounded(features) - self._origin


def _bounded(features: np.ndarray) -> np.ndarray:
    """Features without NaN (0 instead) and without numbers that overflow single precision."""
    return np.clip(np.nan_to_num(features, nan=0.0), -LARGEST_FEATURE, LARGEST_FEATURE)


def _origin(features: np.ndarray) -> np.ndarray:
    """Mean of features that vary little for their size, such as dates; 0 for all others."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    return np.where((spread > 0) & (np.abs(mean) > LARGEST_MEAN_TO_SPREAD * spread), mean, 0.0)


def _probabilities_of(margins: np.ndarray) -> np.ndarray:
    """Margins on a scale from 0 to 1 that keeps their order and which one is the largest."""
    from scipy.special import expit, softmax

    if margins.ndim == 1:
        return np.stack([expit(-margins), expit(margins)], axis=1)
    return softmax(margins, axis=1)


def _one_line(estimator: Any) -> str:
    return " ".join(str(estimator).split())
