"""Records that are no rows: images and sequences, laid out as rows for the attacks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._trainer import Trainer


class ShapedModel(Model):
    """A model of records of some shape that is asked about rows.

    Parameters
    ----------
    model : Model
    shape : tuple of int
        Of one record; a row holds its values in order.
    """

    def __init__(self, model: Model, shape: tuple[int, ...]) -> None:
        super().__init__(model.classes, access=model.access, batch_size=None)
        self._model = model
        self._shape = shape

    @property
    def label(self) -> str:
        """Display name."""
        return self._model.label

    def _scores(self, X: Inputs) -> np.ndarray:
        return self._model.predict_proba(shaped(X, self._shape))

    def _labels(self, X: Inputs) -> np.ndarray:
        return self._model.predict(shaped(X, self._shape))

    def _parameters(self) -> object:
        return self._model.parameters


@dataclass(frozen=True)
class ShapedTrainer(Trainer):
    """Trains on records of some shape that are given as rows.

    Attributes
    ----------
    trainer : Trainer
    shape : tuple of int
    """

    trainer: Trainer
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        """Display name."""
        return self.trainer.label

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        return ShapedModel(self.trainer.train(shaped(X, self.shape), y, rng=rng), self.shape)


def shaped(X: Inputs, shape: tuple[int, ...]) -> np.ndarray:
    """Rows as records of a shape."""
    return np.asarray(X).reshape(len(X), *shape)
