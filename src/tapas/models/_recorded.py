"""Answers of a model that were written down: there is no model to ask any more."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import listing
from tapas.errors import MechanismError, SchemaError
from tapas.models._access import Access
from tapas.models._classes import class_codes
from tapas.models._inputs import Inputs
from tapas.models._model import Model, checked_probabilities
from tapas.models._outputs import as_probabilities, told_outputs
from tapas.models._trainer import Trainer
from tapas.models._training_plan import TrainingPlan


class RecordedModel(Model):
    """Answers about records by their number, from what a model said of them.

    Parameters
    ----------
    answers : array-like
        Probabilities, (records, classes); or predicted classes, (records,), where `outputs` is
        "labels".
    classes : array-like
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        By default rows that are distributions are probabilities, and numbers some of which are
        negative logits; what may be either is refused.
    label : str

    Attributes
    ----------
    outputs : str
        What `answers` were read as.
    """

    def __init__(
        self,
        answers: ArrayLike,
        classes: ArrayLike,
        *,
        outputs: str | None = None,
        label: str = "recorded model",
    ) -> None:
        labels = outputs == "labels"
        super().__init__(classes, access=Access.LABELS if labels else Access.SCORES)
        self._label = label
        self.outputs = outputs
        if labels:
            self._answers = class_codes(answers, self.classes)
            return
        values = np.asarray(answers, dtype=float)
        missing = np.flatnonzero(np.isnan(values.reshape(len(values), -1)).any(axis=1))
        if len(missing):
            raise SchemaError(
                f"scores are missing in {len(missing)} of {len(values)} rows, "
                f"{listing(missing.tolist(), 5)}: write down what the model said, or leave these "
                f"rows out"
            )
        self.outputs = outputs or told_outputs(values)
        scores = as_probabilities(values, self.outputs, len(self.classes))
        self._answers = checked_probabilities(scores, len(scores), self.classes)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    def _scores(self, X: Inputs) -> np.ndarray:
        return self._answers[_numbers(X)]

    def _labels(self, X: Inputs) -> np.ndarray:
        found = self._answers[_numbers(X)]
        return self.classes[found if found.ndim == 1 else found.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class RecordedModels(Trainer):
    """Reference models that somebody trained before; none is trained here.

    Attributes
    ----------
    models : sequence of Model
    """

    models: Sequence[Model]

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Refused."""
        raise MechanismError("reference models were recorded, and no others can be trained")

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """The models with the given numbers."""
        return [self.models[key] for key in keys]


def _numbers(X: Inputs) -> np.ndarray:
    return np.asarray(X)[:, 0].astype(np.intp)
