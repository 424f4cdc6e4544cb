"""Torch modules of any kind, trained many at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tapas.errors import ConfigError, SchemaError
from tapas.models._classes import class_codes, distinct_labels
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._stack_trainer import StackTrainer
from tapas.models._torch import TorchModel
from tapas.models._training_plan import TrainingPlan

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class TorchTrainer(StackTrainer):
    """Trains copies of a torch module with AdamW and cross-entropy, many in lockstep.

    Every copy has initial weights, records and an order of records of its own. Parameters are
    stacked and a step of all models is one (`torch.func.vmap`); on a GPU it is captured as a CUDA
    graph and replayed. The same seed gives the same bits on the same device, however many
    processes are used.

    Attributes
    ----------
    module : callable
        Makes an untrained ``torch.nn.Module`` when it is called, which maps records to one logit
        for each class (of several outputs the first is read, of an output object its ``logits``).
        Records are given as they are, in their own shape and not standardised.
        Its initial weights are drawn from torch's global generator, which is seeded. Layers that
        keep running statistics (batch normalisation) are refused.
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

    module: "Callable[[], torch.nn.Module]"
    epochs: int = 30
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    device: str = "auto"
    models_at_once: int = None  # type: ignore[assignment]  # depends on the device

    def __post_init__(self) -> None:
        is_network = hasattr(self.module, "state_dict") and not isinstance(self.module, type)
        if is_network or not callable(self.module):
            raise ConfigError(
                f"module must be a function or class that makes an untrained torch module, got "
                f"{self.module!r}"
            )
        self._settle("train shadow models with SklearnTrainer")

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self.module, "__name__", type(self.module).__name__)

    @property
    def takes_shapes(self) -> bool:
        """Images are given as images."""
        return True

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models of a stack in lockstep; see `Trainer.train_some`."""
        from tapas.models._module_stack import Lessons, train_modules

        how = Lessons(
            self.epochs, self.batch_size, self.learning_rate, self.weight_decay, self.device
        )
        classes, inputs = distinct_labels(plan.y), _numbers(plan.X)
        codes = class_codes(plan.y, classes)
        trained = train_modules(self.module, inputs, codes, plan.sets, how, plan.seed, keys)
        return [TorchModel(one, classes, outputs="logits") for one in trained]


def _numbers(X: Inputs) -> np.ndarray:
    rows = np.asarray(X)
    if rows.dtype.kind not in "biuf" or (rows.dtype.kind == "f" and not np.isfinite(rows).all()):
        raise SchemaError(
            "TorchTrainer needs records of numbers without missing values; encode them first "
            "(OneHotInputs), or take TorchMLPTrainer, which does so itself"
        )
    return rows
