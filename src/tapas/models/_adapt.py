"""Anything that classifies, as a model."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import pandas as pd
from numpy.typing import ArrayLike

from tapas._validate import check_choice
from tapas.errors import ConfigError
from tapas.models._callable import CallableModel
from tapas.models._estimators import FittedClassifier
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import OUTPUTS
from tapas.models._sklearn import SklearnModel


def as_model(
    obj: object,
    classes: ArrayLike | None = None,
    *,
    batch_size: int | None = BATCH_SIZE,
    outputs: str | None = None,
) -> Model:
    """Wrap whatever is to be released as a `Model`.

    Parameters
    ----------
    obj : object
        A fitted scikit-learn classifier or pipeline, a torch module, the path of an ``.onnx``
        file, any ``callable(X)`` that returns probabilities or labels, an object whose ``predict``
        does (Keras, boosters), or a `Model`.
    classes : array-like, optional
        Class labels in the order of the model's outputs. Needed for a callable. For a fitted
        estimator or a `Model`, which know their classes, it reorders the columns; a class that
        the model never saw has probability zero.
    batch_size : int, optional
        Ask about this many records at a time; None asks about all of them at once.
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        What a callable, a torch module or an ONNX file returns, where that cannot be told from
        the object: see `CallableModel`, `TorchModel` and `OnnxModel`.

    Returns
    -------
    Model
    """
    if outputs is not None:
        check_choice(outputs, "outputs", OUTPUTS)
    if isinstance(obj, Model):
        return obj if classes is None else obj.aligned(classes)
    if isinstance(obj, (str, os.PathLike)):
        from tapas.models._onnx import OnnxModel

        return OnnxModel(obj, classes, outputs=outputs, batch_size=batch_size)
    if _is_torch_module(obj):
        from tapas.models._torch import TorchModel

        return TorchModel(obj, classes, outputs=outputs, batch_size=batch_size)
    if hasattr(obj, "predict") and (hasattr(obj, "classes_") or hasattr(obj, "get_params")):
        model = SklearnModel(cast(FittedClassifier, obj), batch_size=batch_size)
        return model if classes is None else model.aligned(classes)
    function = getattr(obj, "predict_proba", obj)
    if not callable(function):
        function = predict_of(obj)  # boosters and networks that have nothing else
    if callable(function):
        if classes is None:
            raise ConfigError(
                "a callable does not say what it predicts: give classes=[...] in the order of its "
                "probability columns"
            )
        return CallableModel(function, classes, outputs=outputs, batch_size=batch_size)
    raise ConfigError(
        f"a model must be a fitted scikit-learn classifier, a torch module, the path of an .onnx "
        f"file, a callable or a tapas.models.Model, got {type(obj).__name__}"
    )


def _is_torch_module(obj: object) -> bool:
    torch = sys.modules.get("torch")  # a module cannot exist before torch was imported
    return torch is not None and isinstance(obj, torch.nn.Module)


def predict_of(obj: object) -> object:
    """What an object predicts with, of rows: xgboost's boosters take a matrix of their own."""
    predict = getattr(obj, "predict", obj)
    xgboost = sys.modules.get("xgboost")
    if xgboost is not None and isinstance(obj, xgboost.Booster):
        return BoosterPredict(obj, xgboost.DMatrix)
    return predict


@dataclass(frozen=True)
class BoosterPredict:
    """Predicts by a booster that takes a matrix of its own.

    Attributes
    ----------
    booster : xgboost.Booster
    matrix : type
    """

    booster: Any
    matrix: Callable[..., object]

    def __call__(self, X: Inputs) -> ArrayLike:
        categories = isinstance(X, pd.DataFrame)
        names = None if categories else self.booster.feature_names
        return self.booster.predict(
            self.matrix(X, feature_names=names, enable_categorical=categories)
        )

    def __spec__(self) -> dict[str, object]:
        """The booster, by what it would be saved as."""
        return {"booster": bytes(self.booster.save_raw())}
