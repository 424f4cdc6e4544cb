"""scikit-learn models that attacks learn copies of."""

import copy
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from tapas._random import integer_seed
from tapas.errors import ConfigError

__all__ = [
    "Classifier",
    "DensityModel",
    "Predictor",
    "Standardiser",
    "checked_classifier",
    "class_probabilities",
    "seeded_clone",
]

Model = TypeVar("Model")


@runtime_checkable
class Predictor(Protocol):
    """Learns to predict something from rows."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> object:
        """Learn."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Guess for each row."""


class Classifier(Predictor, Protocol):
    """A predictor of classes, which it lists once fitted."""

    classes_: np.ndarray


@runtime_checkable
class DensityModel(Protocol):
    """Learns how dense rows are."""

    def fit(self, X: np.ndarray) -> object:
        """Learn."""

    def score_samples(self, X: np.ndarray) -> np.ndarray:
        """Log-density of each row."""


@runtime_checkable
class _Parametrised(Protocol):
    def get_params(self, deep: bool = True) -> dict[str, object]: ...


def seeded_clone(model: Model, rng: np.random.Generator) -> Model:
    """An unfitted copy whose randomness follows `rng` wherever the model fixed none itself.

    Parts of pipelines and of ensembles are seeded as well.
    """
    from sklearn.base import clone

    if not isinstance(model, _Parametrised):
        return copy.deepcopy(model)
    twin = clone(model)
    seed = integer_seed(rng)
    open_seeds = {
        name: seed
        for name, value in twin.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return twin.set_params(**open_seeds) if open_seeds else twin


def checked_classifier(model: Classifier, name: str) -> Classifier:
    """The model, unless it is no classifier, or the class of one."""
    if isinstance(model, type) or not isinstance(model, Predictor):
        raise ConfigError(
            f"{name} must be a scikit-learn classifier such as RandomForestClassifier(), got "
            f"{model!r}"
        )
    return model


def class_probabilities(model: Classifier, rows: np.ndarray) -> np.ndarray:
    """Probability of each class, in the order of `classes_`.

    Without `predict_proba`, margins on a scale from 0 to 1 that keeps their order and which one
    is the largest; without these, 1 for what is predicted.
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    if hasattr(model, "decision_function"):
        return _scaled_margins(np.asarray(model.decision_function(rows), dtype=float))
    return (np.asarray(model.predict(rows))[:, None] == model.classes_).astype(float)


def _scaled_margins(margins: np.ndarray) -> np.ndarray:
    from scipy.special import expit, softmax

    if margins.ndim == 1:
        return np.stack([expit(-margins), expit(margins)], axis=1)
    return softmax(margins, axis=1)


class Standardiser:
    """Numbers to mean 0 and standard deviation 1, missing ones to the mean.

    Columns that hold only 0 and 1, as one-hot ones do, are left as they are.
    """

    def __init__(self, matrix: np.ndarray, *, rescale: bool = True) -> None:
        present = ~np.isnan(matrix)
        counts = np.maximum(1, present.sum(axis=0))
        values = np.where(present, matrix, 0.0)
        self.centres = values.sum(axis=0) / counts
        spreads = np.sqrt((np.where(present, matrix - self.centres, 0.0) ** 2).sum(axis=0) / counts)
        binary = ((values == 0) | (values == 1)).all(axis=0)
        untouched = binary | (spreads == 0) | (not rescale)
        self.shifts = np.where(untouched, 0.0, self.centres)
        self.spreads = np.where(untouched, 1.0, spreads)

    def __call__(self, matrix: np.ndarray) -> np.ndarray:
        filled = np.where(np.isnan(matrix), self.centres, matrix)
        return (filled - self.shifts) / self.spreads
