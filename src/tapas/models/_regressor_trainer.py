"""Regressors on tables: categories are turned into numbers inside."""

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from tapas._random import integer_seed
from tapas.models._estimators import Classifier, display_name
from tapas.models._inputs import Inputs, as_rows
from tapas.models._one_hot import OneHotInputs
from tapas.models._residuals import Predictor, is_regressor
from tapas.models._sklearn_trainer import SklearnTrainer, fitted_clone
from tapas.models._trainer import CallableTrainer

__all__ = ["RegressorTrainer", "encoded_trainer"]


@dataclass(frozen=True, eq=False)
class EncodedRegressor:
    """A fitted regressor that is asked about data frames."""

    regressor: Predictor
    encoding: OneHotInputs
    _estimator_type: ClassVar[str] = "regressor"

    @property
    def steps(self) -> list[tuple[str, object]]:
        """As of a pipeline, of which the last is what it is called by."""
        return [("encoding", self.encoding), ("regressor", self.regressor)]

    def predict(self, X: Inputs) -> ArrayLike:
        """What is predicted for each row."""
        return self.regressor.predict(self.encoding(as_rows(X)))


@dataclass(frozen=True)
class EncodedTraining:
    """Trains clones of a regressor on data frames."""

    regressor: Classifier

    @property
    def __name__(self) -> str:
        """What models are called by."""
        return display_name(self.regressor)

    def __call__(self, X: Inputs, y: np.ndarray, seed: int) -> EncodedRegressor:
        """Train one."""
        encoding, rng = OneHotInputs.learn(as_rows(X)), np.random.default_rng(seed)
        fitted = fitted_clone(self.regressor, encoding(as_rows(X)), y, rng)
        return EncodedRegressor(cast(Predictor, fitted), encoding)


@dataclass(frozen=True)
class RegressorTrainer(CallableTrainer):
    """Trains regressors on records with a number each."""

    def fitted(self, X: Inputs, y: np.ndarray, *, rng: np.random.Generator) -> object:
        """One regressor, not yet asked how well it fits."""
        return self.function(X, y, integer_seed(rng))


def encoded_trainer(estimator: object) -> SklearnTrainer | RegressorTrainer:
    """What trains clones of a scikit-learn classifier or regressor on records with categories."""
    if is_regressor(estimator) and not isinstance(estimator, type):
        return RegressorTrainer(EncodedTraining(cast(Classifier, estimator)))
    return SklearnTrainer(cast(Classifier, estimator), encode=True)
