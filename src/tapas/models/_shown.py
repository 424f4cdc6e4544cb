"""What a service shows of its scores: rounded, the largest few, or the confidence alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_count
from tapas.models._access import Access, AccessError
from tapas.models._inputs import Inputs
from tapas.models._model import Model, checked_probabilities
from tapas.models._trainer import Trainer
from tapas.models._training_plan import TrainingPlan
from tapas.models._views import ModelView


@dataclass(frozen=True)
class Shown:
    """Which part of a model's scores can be seen.

    Attributes
    ----------
    top : int, optional
        The so many largest scores, with their classes; 1 is the predicted class with its
        confidence. What is left is taken to be spread evenly over the other classes. A model
        that shows no more itself gives zero or NaN for the others.
    decimals : int, optional
        To so many decimals.
    """

    top: int | None = None
    decimals: int | None = None

    def __post_init__(self) -> None:
        if self.top is not None:
            check_count(self.top, "top", minimum=1)
        if self.decimals is not None:
            check_count(self.decimals, "decimals")

    def of(self, probabilities: np.ndarray) -> np.ndarray:
        """What can be told of probabilities, (records, classes), by what is shown of them."""
        seen = probabilities
        if self.decimals is not None:
            seen = seen.round(self.decimals)
        hidden = seen.shape[1] - (self.top or seen.shape[1])
        if hidden <= 0:
            return seen
        order = np.argsort(probabilities, axis=1, kind="stable")
        seen = seen.copy()
        np.put_along_axis(seen, order[:, :hidden], 0.0, axis=1)
        left = np.clip(1.0 - seen.sum(axis=1, keepdims=True), 0.0, 1.0) / hidden
        np.put_along_axis(seen, order[:, :hidden], left, axis=1)
        return seen / seen.sum(axis=1, keepdims=True)


class ShownModel(ModelView):
    """A model of whose scores a part is shown, and nothing else but the predicted class.

    Parameters
    ----------
    model : Model
    shown : Shown
    """

    def __init__(self, model: Model, shown: Shown) -> None:
        if not model.access.shows(Access.SCORES):
            raise AccessError(f"{model.label} shows labels only: there are no scores to show")
        size = None if shown.top is None else model.batch_size
        super().__init__(model, access=Access.SCORES, batch_size=size)
        self._shown = shown

    def _scores(self, X: Inputs) -> np.ndarray:
        if self._shown.top is None:
            return self._shown.of(self._model.predict_proba(X))
        seen = self._model.answered(X, len(X))  # a service may show no more than that itself
        return self._shown.of(checked_probabilities(seen, len(X), self.classes, X=X, partly=True))


@dataclass(frozen=True)
class ShownTrainer(Trainer):
    """Trains models of whose scores a part is shown, as of the audited one.

    Attributes
    ----------
    trainer : Trainer
    shown : Shown
    """

    trainer: Trainer
    shown: Shown

    @property
    def label(self) -> str:
        """Display name."""
        return self.trainer.label

    @property
    def models_at_once(self) -> int:
        """As many as the trainer trains together."""
        return self.trainer.models_at_once

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        return ShownModel(self.trainer.train(X, y, rng=rng), self.shown)

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models with the given numbers."""
        trained = self.trainer.train_some(plan, keys)
        return [ShownModel(model, self.shown) for model in trained]
