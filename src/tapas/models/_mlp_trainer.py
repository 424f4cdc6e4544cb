"""Perceptrons trained many at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas._validate import check_count
from tapas.models._classes import class_codes, distinct_labels
from tapas.models._encoding import RecordEncoding
from tapas.models._inputs import Inputs
from tapas.models._mlp import MLPModel, as_numbers
from tapas.models._mlp_plan import Recipe, StackTask
from tapas.models._model import Model
from tapas.models._records import Records
from tapas.models._stack_trainer import StackTrainer
from tapas.models._training_plan import TrainingPlan


@dataclass(frozen=True)
class TorchMLPTrainer(StackTrainer):
    """Trains multilayer perceptrons with Adam, many in lockstep as stacked matrix products.

    Every model has its own records, standardisation, initial weights and order of records. On a
    GPU one training step is captured as a CUDA graph and replayed. The same seed gives the same
    bits on the same device, however many processes are used.

    Attributes
    ----------
    hidden : tuple of int
        Units of each hidden layer.
    epochs : int
    batch_size : int
        Records per step, at most; an epoch is cut into steps of equal size.
    learning_rate, weight_decay : float
        Of AdamW.
    device : str
        "cpu", "cuda", "cuda:1"...; "auto" becomes the GPU where there is one, else "cpu".
    models_at_once : int, optional
        How many models advance in lockstep; by default 8 on a CPU and 1,024 on a GPU.
    """

    hidden: tuple[int, ...] = (128,)
    epochs: int = 30
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    device: str = "auto"
    models_at_once: int = None  # type: ignore[assignment]  # depends on the device

    def __post_init__(self) -> None:
        sizes = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
        hidden = tuple(check_count(size, "hidden", minimum=1) for size in sizes)
        object.__setattr__(self, "hidden", hidden)
        self._settle("train shadow models with SklearnTrainer(MLPClassifier())")

    @property
    def label(self) -> str:
        """Display name."""
        return "MLP"

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models of a stack in lockstep; see `Trainer.train_some`."""
        classes = distinct_labels(plan.y)
        rows = Records(plan.X, plan.y).X
        encoding = _encoding_of(rows)
        inputs = as_numbers(rows, encoding)
        task = StackTask(
            inputs=inputs,
            scaled=_scaled_places(inputs.shape[1], encoding),
            codes=class_codes(plan.y, classes),
            sets=plan.sets,
            recipe=self._recipe(inputs.shape[1], len(classes)),
            seed=plan.seed,
        )
        return [
            MLPModel(classes, layers, shift, scale, encoding) for layers, shift, scale in task(keys)
        ]

    def _recipe(self, num_inputs: int, num_classes: int) -> Recipe:
        return Recipe(
            widths=(num_inputs, *self.hidden, num_classes),
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            device=self.device,
        )


def _encoding_of(X: Inputs) -> RecordEncoding | None:
    if not isinstance(X, pd.DataFrame) and not np.isnan(X).any():
        return None
    return RecordEncoding.learn(X)


def _scaled_places(width: int, encoding: RecordEncoding | None) -> np.ndarray:
    """Which inputs are numbers, to be standardised, rather than marks of a category."""
    places = np.full(width, encoding is None)
    if encoding is not None:
        places[encoding.numbers] = True
    return places
