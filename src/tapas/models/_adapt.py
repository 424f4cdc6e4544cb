"""Anything that classifies, as a model."""

import os
from pathlib import Path
from typing import cast

from numpy.typing import ArrayLike

from tapas._validate import check_choice
from tapas.errors import ConfigError
from tapas.models._boosters import BOOSTER_FILES, BoosterModel, as_booster, read_booster
from tapas.models._callable import CallableModel
from tapas.models._estimators import FittedClassifier
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import OUTPUTS
from tapas.models._sklearn import SklearnModel
from tapas.models._torch import TorchModel, is_torch_module


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
        A fitted scikit-learn classifier or pipeline, a torch module, a booster of xgboost or
        lightgbm, the path of an ``.onnx`` file or of a saved booster (``.json`` or ``.ubj`` of
        xgboost, ``.txt`` of lightgbm), any ``callable(X)`` that returns probabilities or labels,
        an object whose ``predict`` does (Keras), or a `Model`.
    classes : array-like, optional
        Class labels in the order of the model's outputs. Needed for a callable; a booster has 0,
        1, ... by default. For a fitted
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
    if isinstance(obj, (str, os.PathLike)) and Path(obj).suffix in BOOSTER_FILES:
        booster, name = read_booster(Path(obj)), Path(obj).name
        return BoosterModel(booster, classes, outputs=outputs, batch_size=batch_size, label=name)
    if isinstance(obj, (str, os.PathLike)):
        from tapas.models._onnx import OnnxModel

        return OnnxModel(obj, classes, outputs=outputs, batch_size=batch_size)
    if is_torch_module(obj):
        return TorchModel(obj, classes, outputs=outputs, batch_size=batch_size)
    if hasattr(obj, "predict") and (hasattr(obj, "classes_") or hasattr(obj, "get_params")):
        model = SklearnModel(cast(FittedClassifier, obj), batch_size=batch_size)
        return model if classes is None else model.aligned(classes)
    if as_booster(obj) is not None:
        return BoosterModel(obj, classes, outputs=outputs, batch_size=batch_size)
    function = getattr(obj, "predict_proba", obj)
    if not callable(function):
        function = getattr(obj, "predict", obj)  # networks that have nothing else
    if callable(function):
        classes = getattr(obj, "classes_", None) if classes is None else classes
        if classes is None:
            raise ConfigError(
                f"the model ({type(obj).__name__}) does not say what its classes are: wrap it with "
                f"tapas.models.as_model(model, classes=[...]), in the order of its probability "
                f"columns; if it predicts numbers, say so: model._estimator_type = 'regressor'"
            )
        return CallableModel(function, classes, outputs=outputs, batch_size=batch_size)
    raise ConfigError(
        f"a model must be a fitted scikit-learn classifier, a torch module, the path of an .onnx "
        f"file, a callable or a tapas.models.Model, got {type(obj).__name__}"
    )
