"""Models that predict numbers, or several things at once: how far they are off is what is read.

A record carries what it should be predicted as in its last columns. The model is asked about the
others, and answers how well that fits: with probability exp(-r) it does, r being the mean residual.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas._random import integer_seed, seeded_globals
from tapas.errors import ConfigError, MechanismError
from tapas.models._access import Access
from tapas.models._boosters import BOOSTER_FILES, as_booster, predicts_no_classes, read_booster
from tapas.models._estimators import Classifier, display_name
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._onnx import OnnxModel
from tapas.models._shown import Shown
from tapas.models._sklearn_trainer import fitted_clone
from tapas.models._torch import TorchModel, is_torch_module
from tapas.models._trainer import CallableTrainer, Trainer
from tapas.models._training_plan import TrainingPlan

FITS = "fits"
CLASSES = ("does not fit", FITS)
TARGET = "target "  # begins the names of columns that hold what should be predicted
SMALLEST = 1e-12


class Predictor(Protocol):
    """Something fitted that predicts: numbers, or with ``predict_proba`` several classes."""

    def predict(self, X: Inputs) -> ArrayLike:
        """What is predicted for each row."""


def with_targets(X: Inputs, targets: np.ndarray) -> Inputs:
    """Records with what should be predicted in their last columns."""
    if isinstance(X, pd.DataFrame):
        more = {f"{TARGET}{place}": column for place, column in enumerate(targets.T)}
        return X.reset_index(drop=True).assign(**more)
    return np.column_stack([X, targets])


def split_targets(X: Inputs, number: int) -> tuple[Inputs, np.ndarray]:
    """Records without what should be predicted, and that."""
    width = X.shape[1] - number
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, :width], X.iloc[:, width:].to_numpy(dtype=float)
    return X[:, :width], X[:, width:]


class ResidualModel(Model):
    """How well the predictions of a model fit.

    Parameters
    ----------
    predictor : object
        With ``predict``, or ``predict_proba`` that gives a list; a torch module; the path of an
        ``.onnx`` file or of a saved booster; or a callable.
    scales : ndarray
        Of each number that is predicted: a residual of this size has probability 1/e.
    several : sequence of ndarray, optional
        Of several classifications: the classes of each, which records carry by their position.
    form : callable, optional
        Turns rows into what the predictor takes.
    shown : Shown, optional
        To how many decimals predictions, or probabilities of classes, are seen.
    """

    def __init__(
        self,
        predictor: Predictor | Callable[..., ArrayLike] | str | os.PathLike[str],
        scales: np.ndarray,
        several: Sequence[np.ndarray] | None = None,
        form: Callable[[Inputs], object] | None = None,
        shown: Shown | None = None,
    ) -> None:
        super().__init__(CLASSES, access=Access.PARAMETERS if shown is None else Access.SCORES)
        self._predictor = _as_predictor(predictor)
        self._scales = np.asarray(scales, dtype=float)
        self._several = several
        self._form = form
        self._shown = shown

    @property
    def label(self) -> str:
        """Display name."""
        made = self._predictor
        label = getattr(made, "label", None)
        return label if isinstance(label, str) else display_name(made)

    def _parameters(self) -> object:
        made = self._predictor
        return made.parameters if isinstance(made, Model) else made

    @property
    def predicts_classes(self) -> bool:
        """Whether what it predicts are several classes, and no numbers."""
        return self._several is not None

    def carried(self, X: Inputs) -> tuple[Inputs, np.ndarray]:
        """Records without what should be predicted, and that; asks nothing."""
        return split_targets(X, len(self._scales))

    def numbers(self, X: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """What records carry and what is predicted, (records, numbers); one query per row."""
        _, true = split_targets(X, len(self._scales))
        return true, self._answer(X, lambda rows, _: self._numbers(*self._split(rows)), true[:0])

    def _split(self, X: Inputs) -> tuple[object, np.ndarray]:
        inputs, targets = split_targets(X, len(self._scales))
        return (inputs if self._form is None else self._form(inputs)), targets

    def _scores(self, X: Inputs) -> np.ndarray:
        inputs, targets = self._split(X)
        fits = np.exp(-self._residuals(inputs, targets).mean(axis=1))
        return np.column_stack([1.0 - fits, fits])

    def _residuals(self, X: object, targets: np.ndarray) -> np.ndarray:
        if self._several is not None:
            return self._losses(X, targets)
        return np.abs(self._numbers(X, targets) - targets) / self._scales

    def _numbers(self, X: object, targets: np.ndarray) -> np.ndarray:
        found = np.asarray(self._predict(X), dtype=float)
        found = found[:, None] if found.ndim == 1 else found
        if found.shape != targets.shape:
            raise MechanismError(
                f"{self.label} returned predictions of shape {found.shape} where "
                f"{targets.shape} were expected"
            )
        return self._seen(found)

    def _seen(self, answers: np.ndarray) -> np.ndarray:
        """As many decimals as are shown."""
        decimals = None if self._shown is None else self._shown.decimals
        return answers if decimals is None else answers.round(decimals)

    def _predict(self, X: object) -> ArrayLike:
        if isinstance(self._predictor, (TorchModel, OnnxModel)):
            return self._predictor.raw(X)  # type: ignore[return-value]
        predictor = as_booster(self._predictor) or self._predictor
        return getattr(predictor, "predict", predictor)(X)  # type: ignore[operator]

    def _losses(self, X: object, targets: np.ndarray) -> np.ndarray:
        """-ln of the probability of each true class; a class that was never seen has none."""
        answers = self._predictor.predict_proba(X)  # type: ignore[attr-defined]
        losses = []
        known = self._predictor.classes_  # type: ignore[attr-defined]
        for place, classes in enumerate(self._several or ()):
            true = classes[targets[:, place].astype(int)]
            column = pd.Index(known[place]).get_indexer(pd.Index(true))
            found = self._seen(np.asarray(answers[place]))[np.arange(len(true)), column]
            losses.append(-np.log(np.maximum(np.where(column < 0, 0.0, found), SMALLEST)))
        return np.stack(losses, axis=1)


def _read(obj: object) -> object:
    """The booster of a file, and anything else as it is."""
    if isinstance(obj, (str, os.PathLike)) and Path(obj).suffix in BOOSTER_FILES:
        return read_booster(Path(obj))
    return obj


def _as_predictor(obj: object) -> object:
    """What predicts numbers; files are read."""
    obj = _read(obj)
    if isinstance(obj, (str, os.PathLike)):
        return OnnxModel(Path(obj), CLASSES)
    return TorchModel(obj, CLASSES) if is_torch_module(obj) else obj


@dataclass(frozen=True, eq=False)
class ResidualTrainer(Trainer):
    """Trains predictors of numbers, or of several things, on records that carry these.

    Attributes
    ----------
    trainer : estimator or CallableTrainer
        A scikit-learn regressor, which is cloned, or ``function(X, y, seed)`` in a
        `CallableTrainer`.
    scales : ndarray
    classes : tuple of ndarray, or None
        Of several classifications: what the codes stand for.
    form : callable, or None
        Turns rows into what is trained on.
    shown : Shown or None
        To how many decimals predictions are seen.
    """

    trainer: object
    scales: np.ndarray
    classes: tuple[np.ndarray, ...] | None = None
    form: Callable[[Inputs], object] | None = None
    shown: Shown | None = None

    @property
    def label(self) -> str:
        """Display name."""
        made = self.trainer
        return made.label if isinstance(made, Trainer) else display_name(made)

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one predictor."""
        rows, targets = split_targets(X, len(self.scales))
        inputs = rows if self.form is None else self.form(rows)
        if self.classes is not None:
            parts = zip(self.classes, targets.T.astype(int), strict=True)
            targets = np.column_stack([classes[codes] for classes, codes in parts])
        elif targets.shape[1] == 1:
            targets = targets[:, 0]
        fitted = self._trained(inputs, targets, rng)
        return ResidualModel(fitted, self.scales, self.classes, self.form, self.shown)

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models with the given numbers; all have the same classes."""
        return [self.train(X, y, rng=rng) for X, y, rng in map(plan.lesson, keys)]

    def _trained(self, X: object, targets: np.ndarray, rng: np.random.Generator) -> Predictor:
        if not isinstance(self.trainer, CallableTrainer):
            return fitted_clone(cast(Classifier, self.trainer), X, targets, rng)
        seed = integer_seed(rng)
        with seeded_globals(seed):
            return cast(Predictor, self.trainer.function(X, targets, seed))


def classes_of_several(model: object) -> tuple[np.ndarray, ...] | None:
    """The classes of each output of a classifier of several; None of anything else."""
    several = getattr(model, "classes_", None)
    return tuple(np.asarray(one) for one in several) if isinstance(several, list) else None


def predicts_numbers(model: object, y: np.ndarray) -> bool:
    """A regressor; or something that knows no classes, beside labels that are no classes."""
    if isinstance(model, Model) or hasattr(model, "predict_proba"):
        return False
    booster = as_booster(_read(model))
    if is_regressor(model) or (booster is not None and predicts_no_classes(booster)):
        if y.dtype.kind not in "iufb":
            raise ConfigError(f"{type(model).__name__} predicts numbers, and y holds {y.dtype}")
        return True
    fractions = y.dtype.kind == "f" and bool((y != np.rint(y)).any())
    return fractions and not hasattr(model, "classes_")


def is_regressor(model: object) -> bool:
    """Whether it says so, as estimators of scikit-learn do."""
    if getattr(model, "_estimator_type", None) == "regressor":
        return True
    if not hasattr(model, "__sklearn_tags__"):
        return False
    from sklearn.base import is_regressor as says_so

    return bool(says_so(cast(Classifier, model)))
