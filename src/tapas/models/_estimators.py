"""What is asked of scikit-learn's classifiers."""

from collections.abc import Mapping
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from tapas.models._inputs import Inputs


class FittedClassifier(Protocol):
    """Predicts classes; to show scores, it also has ``predict_proba``."""

    classes_: np.ndarray

    def predict(self, X: Inputs) -> ArrayLike:
        """Class of each row."""

    def predict_proba(self, X: Inputs) -> ArrayLike:
        """Probability of each class for each row."""


class Classifier(FittedClassifier, Protocol):
    """Can be cloned and trained, and predicts once it is."""

    def fit(self, X: Inputs, y: np.ndarray) -> Self:
        """Learn."""

    def get_params(self, deep: bool = True) -> Mapping[str, object]:
        """Parameters by name."""

    def set_params(self, **parameters: object) -> Self:
        """Change parameters."""


def display_name(estimator: object) -> str:
    """Name of an estimator, or of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__
