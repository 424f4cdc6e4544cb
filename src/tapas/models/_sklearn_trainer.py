"""Shadow models by cloning a scikit-learn estimator."""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._random import integer_seed, seeded_globals
from tapas.errors import ConfigError
from tapas.models._classes import as_labels, class_codes, distinct_labels
from tapas.models._estimators import Classifier, display_name
from tapas.models._inputs import Inputs, as_rows
from tapas.models._model import Model
from tapas.models._one_hot import OneHotInputs
from tapas.models._sklearn import SklearnModel
from tapas.models._trainer import Trainer
from tapas.models._views import EncodedModel


@dataclass(frozen=True)
class SklearnTrainer(Trainer):
    """Trains clones of an estimator or pipeline, fitted or not.

    Every ``random_state`` in it, however deep, gets a seed of its own.

    Attributes
    ----------
    estimator : scikit-learn classifier
    encode : bool
        Whether the estimator takes numbers only. Data frames are then turned into numbers inside
        the model (see `OneHotInputs`), so that whoever asks it does so with real categories.
    """

    estimator: Classifier
    encode: bool = False

    def __post_init__(self) -> None:
        from sklearn.base import is_regressor

        name = type(self.estimator).__name__
        if isinstance(self.estimator, type):
            raise ConfigError(f"estimator must be an object, got the class: {self.estimator}()")
        if not all(hasattr(self.estimator, part) for part in ("fit", "get_params", "set_params")):
            raise ConfigError(
                f"estimator must be a scikit-learn classifier, got {name}; train anything else "
                f"with CallableTrainer"
            )
        if is_regressor(self.estimator):
            raise ConfigError(f"estimator must be a classifier; {name} is a regressor")

    @property
    def label(self) -> str:
        """Display name."""
        return display_name(self.estimator)

    def __spec__(self) -> dict[str, object]:
        """What is cloned; whether it was fitted before makes no difference."""
        return {"estimator": self._unfitted(), "encode": self.encode}

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one clone."""
        if not self.encode:
            return self._fitted(X, as_labels(y), rng)
        encoding = OneHotInputs.learn(as_rows(X))
        return EncodedModel(self._fitted(encoding(X), as_labels(y), rng), encoding)

    def _unfitted(self) -> Classifier:
        return _cloned(self.estimator)

    def _fitted(self, X: Inputs, y: np.ndarray, rng: np.random.Generator) -> SklearnModel:
        """Trained on the classes, or on their numbers where it takes nothing else (xgboost)."""
        same = deepcopy(rng)
        try:
            return SklearnModel(fitted_clone(self.estimator, X, y, rng))
        except ValueError as error:
            classes = distinct_labels(y)
            numbers = class_codes(y, classes)
            if y.tolist() == numbers.tolist():
                raise
            try:
                fitted = fitted_clone(self.estimator, X, numbers, same)
            except Exception:
                raise error from None
        return SklearnModel(fitted, classes=classes)


def fitted_clone(
    estimator: Classifier, X: Inputs, y: np.ndarray, rng: np.random.Generator
) -> Classifier:
    """A clone of an estimator, fitted; every ``random_state`` in it gets a seed of its own."""
    fitted = _cloned(estimator)
    names = sorted(
        name
        for name in fitted.get_params(deep=True)
        if name == "random_state" or name.endswith("__random_state")
    )
    fitted.set_params(**{name: integer_seed(rng) for name in names})
    with seeded_globals(integer_seed(rng)):
        fitted.fit(X, y)
    return fitted


def _cloned(estimator: Classifier) -> Classifier:
    from sklearn.base import clone

    try:
        return clone(estimator)
    except RuntimeError:  # its constructor copies what it is given, as catboost's does
        return type(estimator)(**deepcopy(estimator.get_params(deep=False)))
