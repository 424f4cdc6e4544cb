"""What trainers of stacked networks share."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from tapas._validate import check_count
from tapas.engine import torch_device
from tapas.errors import ConfigError, SchemaError
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._trainer import Trainer

MODELS_AT_ONCE = {"cpu": 8, "cuda": 1024}  # never asked of the machine: it may change last bits


class StackTrainer(Trainer):
    """Trains networks with AdamW in lockstep, on a GPU in one process; see its subclasses."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    device: str
    models_at_once: int

    def _settle(self, instead: str) -> None:
        """Check what all have, and decide about the device."""
        check_count(self.epochs, "epochs", minimum=1)
        check_count(self.batch_size, "batch_size", minimum=1)
        device = torch_device(self.device, type(self).__name__, instead)
        object.__setattr__(self, "device", device)
        if self.models_at_once is None:
            object.__setattr__(self, "models_at_once", MODELS_AT_ONCE[device.split(":")[0]])
        check_count(self.models_at_once, "models_at_once", minimum=1)
        if not self.learning_rate > 0 or not self.weight_decay >= 0:
            raise ConfigError(
                f"learning_rate must be positive and weight_decay not negative, got "
                f"{self.learning_rate!r} and {self.weight_decay!r}"
            )

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        if isinstance(X, Mapping | tuple):
            raise SchemaError(
                f"{type(self).__name__} takes one array of records, and these have several inputs: "
                f"train with CallableTrainer(function), its function(X, y, seed) is given all"
            )
        return self.train_many(X, y, np.ones((1, len(X)), dtype=bool), rng=rng, n_jobs=1)[0]

    def train_many(
        self,
        X: Inputs,
        y: ArrayLike,
        masks: np.ndarray,
        *,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> list[Model]:
        """Train one model for each row of `masks`; see `Trainer.train_many`."""
        processes = n_jobs if self.device == "cpu" else 1
        return super().train_many(X, y, masks, rng=rng, n_jobs=processes)
