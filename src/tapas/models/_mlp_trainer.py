"""Perceptrons trained many at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import integer_seed
from tapas._validate import check_count
from tapas.errors import ConfigError
from tapas.models._classes import class_codes, distinct_labels
from tapas.models._encoding import RecordEncoding
from tapas.models._mlp import MLPModel, as_numbers
from tapas.models._mlp_plan import Perceptron, Recipe, StackTask
from tapas.models._model import Model
from tapas.models._records import Records
from tapas.models._trainer import Trainer, checked_shadow_data, run_training

MODELS_AT_ONCE = {"cpu": 8, "cuda": 1024}  # never asked of the machine: it may change last bits


@dataclass(frozen=True)
class TorchMLPTrainer(Trainer):
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
        "cpu", "cuda", "cuda:1"...; "auto" is the GPU where there is one.
    models_at_once : int, optional
        How many models advance in lockstep; by default 8 on a CPU and 1,024 on a GPU.
    """

    hidden: tuple[int, ...] = (128,)
    epochs: int = 30
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    device: str = "auto"
    models_at_once: int | None = None

    def __post_init__(self) -> None:
        sizes = (self.hidden,) if isinstance(self.hidden, int) else tuple(self.hidden)
        hidden = tuple(check_count(size, "hidden", minimum=1) for size in sizes)
        object.__setattr__(self, "hidden", hidden)
        check_count(self.epochs, "epochs", minimum=1)
        check_count(self.batch_size, "batch_size", minimum=1)
        if self.models_at_once is not None:
            check_count(self.models_at_once, "models_at_once", minimum=1)
        if not self.learning_rate > 0 or not self.weight_decay >= 0:
            raise ConfigError(
                f"learning_rate must be positive and weight_decay not negative, got "
                f"{self.learning_rate!r} and {self.weight_decay!r}"
            )

    @property
    def label(self) -> str:
        """Display name."""
        return "MLP"

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        return self.train_many(X, y, np.ones((1, len(X)), dtype=bool), rng=rng, n_jobs=1)[0]

    def train_many(
        self,
        X: Any,
        y: Any,
        masks: Any,
        *,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> list[Model]:
        """Train one model for each row of `masks`; see `Trainer.train_many`."""
        rows, labels, chosen = checked_shadow_data(X, y, masks)
        device = _resolved_device(self.device)
        classes = distinct_labels(labels)
        rows = Records(rows, labels).X
        encoding = _encoding_of(rows)
        numbers = as_numbers(rows, encoding)
        task = StackTask(
            inputs=numbers,
            scaled=_scaled_places(numbers.shape[1], encoding),
            codes=class_codes(labels, classes),
            masks=chosen,
            recipe=Recipe(
                widths=(numbers.shape[1], *self.hidden, len(classes)),
                epochs=self.epochs,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                weight_decay=self.weight_decay,
                device=device,
            ),
            seed=integer_seed(rng),
        )
        step = self.models_at_once or MODELS_AT_ONCE[device.split(":")[0]]
        stacks = [range(at, min(at + step, len(chosen))) for at in range(0, len(chosen), step)]
        perceptrons: list[list[Perceptron]] = run_training(
            task,
            stacks,
            n_jobs=n_jobs if device == "cpu" else 1,
            name=lambda stack: f"models {stack.start} to {stack.stop - 1}",
        )
        return [
            MLPModel(classes, layers, shift, scale, encoding)
            for stack in perceptrons
            for layers, shift, scale in stack
        ]


def _resolved_device(device: str) -> str:
    """Check that torch and the device are there, before any process is started."""
    try:
        import torch
    except ImportError:
        raise ConfigError(
            "TorchMLPTrainer needs torch, which is not installed: pip install "
            "'tapas-privacy[torch]', "
            "or train shadow models with SklearnTrainer(MLPClassifier())"
        ) from None
    found = torch.cuda.is_available()
    if device == "auto":
        return "cuda" if found else "cpu"
    if device.split(":")[0] not in MODELS_AT_ONCE or (device != "cpu" and not found):
        raise ConfigError(
            f"device must be 'auto', 'cpu' or, where there is a GPU, 'cuda', got {device!r}"
        )
    return device


def _encoding_of(X: Any) -> RecordEncoding | None:
    if not isinstance(X, pd.DataFrame) and not np.isnan(X).any():
        return None
    return RecordEncoding.learn(X)


def _scaled_places(width: int, encoding: RecordEncoding | None) -> np.ndarray:
    """Which inputs are numbers, to be standardised, rather than marks of a category."""
    places = np.full(width, encoding is None)
    if encoding is not None:
        places[encoding.numbers] = True
    return places
