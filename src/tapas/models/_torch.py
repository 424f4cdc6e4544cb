"""Torch modules as models."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.errors import ConfigError, MechanismError, SchemaError
from tapas.models._access import Access
from tapas.models._inputs import Inputs
from tapas.models._model import BATCH_SIZE, Model
from tapas.models._outputs import as_probabilities

if TYPE_CHECKING:
    import torch


class TorchModel(Model):
    """A trained ``torch.nn.Module`` that maps rows of numbers to one output per class.

    Queries run in evaluation mode and without gradients, on the module's device and in the type of
    its parameters (whole numbers where it has an embedding); the mode is put back afterwards. Of
    several outputs the first is read, of an output object its ``logits``.

    Parameters
    ----------
    module : torch.nn.Module
        One output for two classes is taken to belong to the second class.
    classes : array-like, optional
        By default 0, 1, ... as many as the last linear layer has outputs.
    outputs : {"scores", "logits", "log_scores", "labels"}, optional
        By default told by the last layer (softmax, sigmoid, log-softmax); after any other layer,
        rows that sum to one are probabilities and anything else is logits.
    """

    def __init__(
        self,
        module: "torch.nn.Module",
        classes: ArrayLike | None = None,
        *,
        outputs: str | None = None,
        batch_size: int | None = BATCH_SIZE,
    ) -> None:
        super().__init__(
            _default_classes(module) if classes is None else classes,
            access=Access.LABELS if outputs == "labels" else Access.PARAMETERS,
            batch_size=batch_size,
        )
        self._module = module
        self._outputs = outputs or _told_by_last_layer(module)

    @property
    def label(self) -> str:
        """Display name."""
        return type(self._module).__name__

    def _scores(self, X: Inputs) -> np.ndarray:
        return as_probabilities(self.raw(X), self._outputs, len(self.classes))

    def _labels(self, X: Inputs) -> ArrayLike:
        if self._outputs == "labels":
            return self.raw(X)
        return super()._labels(X)

    def _parameters(self) -> object:
        return self._module

    def raw(self, X: Inputs) -> np.ndarray:
        """What the module returns, as it is; not counted as queries."""
        import torch

        like = next(self._module.parameters(), torch.empty(0))
        takes_tokens = any(isinstance(part, torch.nn.Embedding) for part in self._module.modules())

        def tensor(part: Inputs) -> torch.Tensor:
            whole = not isinstance(part, pd.DataFrame) and part.dtype.kind in "iu"
            numbers = torch.as_tensor(_numbers(part)).to(device=like.device)
            tokens = takes_tokens and (whole or not several)
            return numbers.round().long() if tokens else numbers.to(dtype=like.dtype)

        several = isinstance(X, (tuple, Mapping))
        given = X.values() if isinstance(X, Mapping) else X if several else (X,)
        inputs = [tensor(part) for part in given]
        named = dict(zip(X, inputs, strict=True)) if isinstance(X, Mapping) else {}
        was_training = self._module.training
        self._module.eval()
        try:
            with torch.no_grad():
                answer = self._module(**named) if named else self._module(*inputs)
                raw = first_output(answer).detach().cpu()
        finally:
            self._module.train(was_training)
        return (raw.double() if raw.is_floating_point() else raw).numpy()


def is_torch_module(obj: object) -> "TypeGuard[torch.nn.Module]":
    """Whether it is a network of torch, which is not imported for this."""
    torch = sys.modules.get("torch")  # a module cannot exist before torch was imported
    return torch is not None and isinstance(obj, torch.nn.Module)


def is_tensor(obj: object) -> "TypeGuard[torch.Tensor]":
    """Whether it is a tensor of torch, which is not imported for this."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, torch.Tensor)


def first_output(answer: object) -> "torch.Tensor":
    """What a module returns: a tensor, the first of several, or an object with ``logits``."""
    if isinstance(answer, Mapping):
        answer = answer.get("logits", next(iter(answer.values()), None))
    elif hasattr(answer, "logits"):
        answer = answer.logits
    elif isinstance(answer, (tuple, list)):
        answer = answer[0]
    import torch

    if not isinstance(answer, torch.Tensor):
        raise MechanismError(
            f"a torch module must return a tensor, several of which the first is meant, or an "
            f"object with logits, got {type(answer).__name__}"
        )
    return answer


def _numbers(X: Inputs) -> np.ndarray:
    try:
        return np.ascontiguousarray(
            X.to_numpy(dtype=np.float64) if isinstance(X, pd.DataFrame) else X, dtype=np.float64
        )
    except (TypeError, ValueError):
        raise SchemaError(
            "a torch module takes numbers; wrap a function that encodes the data frame first: "
            "as_model(lambda X: module(encode(X)), classes=[...])"
        ) from None


def _default_classes(module: "torch.nn.Module") -> np.ndarray:
    import torch

    linear = [layer for layer in module.modules() if isinstance(layer, torch.nn.Linear)]
    if not linear:
        raise ConfigError(
            "the number of classes cannot be told from this module; wrap it with "
            "tapas.models.as_model(model, classes=[...]), in the order of its outputs"
        )
    return np.arange(max(2, linear[-1].out_features))


def _told_by_last_layer(module: "torch.nn.Module") -> str | None:
    import torch

    layers = [layer for layer in module.modules() if not list(layer.children())]
    last = layers[-1] if layers else None
    if isinstance(last, (torch.nn.Softmax, torch.nn.Sigmoid)):
        return "scores"
    return "log_scores" if isinstance(last, torch.nn.LogSoftmax) else None
