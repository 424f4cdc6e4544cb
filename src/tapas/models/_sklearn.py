"""Fitted scikit-learn estimators and pipelines as models."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.errors import ConfigError, NotTrainedError
from tapas.models._access import Access
from tapas.models._classes import as_classes
from tapas.models._estimators import FittedClassifier, display_name
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import as_probabilities


class SklearnModel(Model):
    """A fitted classifier with ``classes_``, ``predict`` and, to show scores, ``predict_proba``.

    Queries arrive with the column names that the estimator was fitted with, or without any where
    it was fitted on an array.

    Parameters
    ----------
    estimator : fitted classifier
    classes : array-like, optional
        What its classes stand for, in their order, where it was fitted on their numbers 0, 1, ...
    """

    def __init__(
        self,
        estimator: FittedClassifier,
        *,
        classes: ArrayLike | None = None,
        batch_size: int | None = BATCH_SIZE,
    ) -> None:
        shows_scores = hasattr(estimator, "predict_proba")
        self._is_numbered = classes is not None
        super().__init__(
            _fitted_classes(estimator) if classes is None else classes,
            access=Access.PARAMETERS if shows_scores else Access.LABELS,
            batch_size=batch_size,
        )
        self._estimator = estimator

    @property
    def label(self) -> str:
        """Display name."""
        return display_name(self._estimator)

    def _scores(self, X: Inputs) -> np.ndarray:
        raw = self._estimator.predict_proba(self._with_fitted_names(X))
        return as_probabilities(raw, "scores", len(self.classes))

    def _labels(self, X: Inputs) -> ArrayLike:
        predicted = self._estimator.predict(self._with_fitted_names(X))
        return self.classes[np.asarray(predicted, dtype=int)] if self._is_numbered else predicted

    def _parameters(self) -> object:
        return self._estimator

    def as_fitted(self, X: Inputs) -> Inputs:
        """With the column names that the estimator was fitted with."""
        return self._with_fitted_names(X)

    def _with_fitted_names(self, X: Inputs) -> Inputs:
        names = getattr(self._estimator, "feature_names_in_", None)
        if isinstance(X, pd.DataFrame):
            return X.to_numpy() if names is None and self._saw_numbers_like(X) else X
        return X if names is None or X.shape[1] != len(names) else pd.DataFrame(X, columns=names)

    def _saw_numbers_like(self, X: pd.DataFrame) -> bool:
        """Whether the estimator saw an array of numbers and would warn about a frame."""
        return hasattr(self._estimator, "n_features_in_") and all(
            pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes
        )


def _fitted_classes(estimator: FittedClassifier) -> np.ndarray:
    name = type(estimator).__name__
    try:
        classes = estimator.classes_
    except AttributeError:
        from sklearn.base import is_regressor

        if is_regressor(estimator):
            raise ConfigError(f"{name} predicts numbers, not classes; audit a classifier") from None
        raise NotTrainedError(
            f"{name} has no classes_: fit it before wrapping it as a model"
        ) from None
    if isinstance(classes, list):
        raise ConfigError(f"{name} predicts several outputs at once; audit one output at a time")
    return as_classes(classes)
