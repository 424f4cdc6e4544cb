"""What many models of one kind are trained on."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tapas._random import stream
from tapas.errors import SchemaError
from tapas.models._classes import as_labels
from tapas.models._inputs import Inputs, as_rows, some_rows
from tapas.models._training_sets import ListedSets, TrainingSets


class Lesson(NamedTuple):
    """The records of one model, their classes and its random numbers."""

    X: Inputs
    y: np.ndarray
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class TrainingPlan:
    """Labelled records, which of them each model is trained on, and the seed of them all.

    Attributes
    ----------
    X : array or DataFrame (n, d)
    y : ndarray (n,)
    sets : TrainingSets
        Which of the records each model is trained on.
    seed : int
    """

    X: Inputs
    y: np.ndarray
    sets: TrainingSets
    seed: int

    @classmethod
    def checked(cls, X: Inputs, y: ArrayLike, masks: np.ndarray, seed: int) -> "TrainingPlan":
        """Refuse records, labels and masks, (models, n), that do not fit each other."""
        rows, labels = as_rows(X), as_labels(y)
        if len(rows) != len(labels):
            raise SchemaError(f"X has {len(rows)} records and y has {len(labels)} labels")
        return cls(rows, labels, ListedSets.checked(masks, len(rows)), seed)

    def lesson(self, model: int) -> Lesson:
        """What the model with a number is trained on."""
        own = np.flatnonzero(self.sets.mask(model))
        return Lesson(some_rows(self.X, own), self.y[own], stream(self.seed, model))
