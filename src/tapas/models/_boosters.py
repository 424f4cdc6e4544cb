"""Boosters of xgboost and lightgbm as models: the objects, and the files they are saved in."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.errors import ConfigError
from tapas.models._access import Access
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import as_probabilities

BOOSTER_FILES = {".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm"}
_PROBABILITIES = ("binary:logistic", "multi:softprob", "binary", "multiclass")
_OF_CLASSES = ("binary:", "multi:")
_OF_OTHERS = ("multiclassova", "cross_entropy", "reg:logistic", "rank", "lambdarank", "survival:")


class Booster(Protocol):
    """What is asked of boosters, whatever the library."""

    @property
    def objective(self) -> str:
        """What it was trained for."""

    @property
    def num_classes(self) -> int:
        """How many classes it tells apart; 2 where it was not told."""

    @property
    def knows_categories(self) -> bool:
        """Whether it was trained on columns of categories, and finds them in rows by value."""

    def predict(self, X: Inputs, *, margins: bool = False) -> ArrayLike:
        """What it says of rows, or the sums of its trees."""


@dataclass(frozen=True)
class XgboostBooster:
    """A booster that takes a matrix of its own.

    Attributes
    ----------
    booster : xgboost.Booster
    """

    booster: Any

    @property
    def _learner(self) -> dict[str, Any]:
        return json.loads(self.booster.save_config())["learner"]

    @property
    def objective(self) -> str:
        """What it was trained for."""
        return str(self._learner["objective"]["name"])

    @property
    def num_classes(self) -> int:
        """How many classes it tells apart."""
        return max(2, int(self._learner["learner_model_param"]["num_class"]))

    @property
    def knows_categories(self) -> bool:
        """Whether columns were categories; before version 3.1 it kept their places alone."""
        kinds = getattr(self.booster, "feature_types", None) or ()
        return "c" in kinds and hasattr(self.booster, "get_categories")

    def predict(self, X: Inputs, *, margins: bool = False) -> ArrayLike:
        """What it says of rows, which are called as in training."""
        names = self.booster.feature_names
        if isinstance(X, pd.DataFrame) and names is None:
            X = X.to_numpy()
        of_frame = isinstance(X, pd.DataFrame)
        matrix = sys.modules["xgboost"].DMatrix(
            X, feature_names=None if of_frame else names, enable_categorical=of_frame
        )
        return self.booster.predict(matrix, output_margin=margins)

    def __spec__(self) -> dict[str, object]:
        """The booster, by what it would be saved as."""
        return {"booster": bytes(self.booster.save_raw())}


@dataclass(frozen=True)
class LightgbmBooster:
    """A booster that takes rows.

    Attributes
    ----------
    booster : lightgbm.Booster
    """

    booster: Any

    @property
    def objective(self) -> str:
        """What it was trained for, as its text says."""
        lines = self.booster.model_to_string(num_iteration=1).splitlines()
        told = (line.partition("=")[2] for line in lines if line.startswith("objective="))
        return next(told, "none").partition(" ")[0]

    @property
    def num_classes(self) -> int:
        """How many classes it tells apart."""
        return max(2, int(self.booster.num_model_per_iteration()))

    @property
    def knows_categories(self) -> bool:
        """Whether columns of the frame that it was trained on were categories."""
        return bool(getattr(self.booster, "pandas_categorical", None))

    def predict(self, X: Inputs, *, margins: bool = False) -> ArrayLike:
        """What it says of rows."""
        return self.booster.predict(X, raw_score=margins)

    def __spec__(self) -> dict[str, object]:
        """The booster, by what it would be saved as."""
        return {"booster": self.booster.model_to_string()}


_LIBRARIES: dict[str, Callable[[Any], Booster]] = {
    "xgboost": XgboostBooster,
    "lightgbm": LightgbmBooster,
}


class BoosterModel(Model):
    """A trained booster of xgboost or lightgbm that classifies.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster
    classes : array-like, optional
        By default 0, 1, ..., as many as it was trained on.
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        What it predicts, where its objective does not tell.
    label : str, optional
    """

    def __init__(
        self,
        booster: object,
        classes: ArrayLike | None = None,
        *,
        outputs: str | None = None,
        batch_size: int | None = BATCH_SIZE,
        label: str | None = None,
    ) -> None:
        found = as_booster(booster)
        if found is None:
            raise ConfigError(f"expected a booster of xgboost or lightgbm, got {booster!r}")
        self._booster, objective = found, found.objective
        self._margins = outputs is None and objective not in _PROBABILITIES
        if self._margins and not objective.startswith(_OF_CLASSES):
            raise ConfigError(
                f"the booster was trained for {objective!r}, which does not say how it classifies: "
                f"say what it predicts (outputs='scores', 'logits' or 'labels')"
            )
        super().__init__(
            np.arange(found.num_classes) if classes is None else classes,
            access=Access.LABELS if outputs == "labels" else Access.PARAMETERS,
            batch_size=batch_size,
        )
        self._outputs = outputs or ("logits" if self._margins else "scores")
        self._label = label or type(found).__name__

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    @property
    def knows_categories(self) -> bool:
        """Whether it is asked with columns of categories, as they are."""
        return self._booster.knows_categories

    def _parameters(self) -> object:
        return self._booster

    def _said(self, X: Inputs) -> np.ndarray:
        return np.asarray(self._booster.predict(X, margins=self._margins))

    def _scores(self, X: Inputs) -> np.ndarray:
        return as_probabilities(self._said(X), self._outputs, len(self.classes))

    def _labels(self, X: Inputs) -> ArrayLike:
        return self._said(X) if self._outputs == "labels" else super()._labels(X)


def as_booster(obj: object) -> Booster | None:
    """A booster of any library; None for anything else."""
    for name, kind in _LIBRARIES.items():
        module = sys.modules.get(name)  # an object cannot exist before its library was imported
        if module is not None and isinstance(obj, module.Booster):
            return kind(obj)
    return None


def predicts_no_classes(booster: Booster) -> bool:
    """Whether it was trained to predict numbers; where a library was told nothing, it is not."""
    objective = booster.objective
    return objective not in (*_PROBABILITIES, "none", "custom") and not objective.startswith(
        (*_OF_CLASSES, *_OF_OTHERS)
    )


def read_booster(path: Path) -> object:
    """A booster from the file that it was saved in."""
    name = BOOSTER_FILES[path.suffix]
    if not path.is_file():
        raise ConfigError(f"cannot read the model file {path}: there is no such file")
    try:
        library = import_module(name)
    except ImportError:
        raise ConfigError(
            f"{path.name} is read as a model of {name}, which is not installed: pip install {name}"
        ) from None
    try:
        return library.Booster(model_file=str(path))
    except Exception as error:
        raise ConfigError(f"{path} is no model of {name}: {error}") from error
