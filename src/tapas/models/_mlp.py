"""A multilayer perceptron that needs no torch to answer."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.models._access import Access
from tapas.models._encoding import RecordEncoding
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._outputs import softmax

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]


class MLPModel(Model):
    """A trained perceptron with rectified hidden layers.

    Parameters
    ----------
    classes : array-like
    layers : tuple of (weights (inputs, outputs), biases (outputs,)), float32
    shift, scale : ndarray (inputs,)
        Inputs are ``(x - shift) / scale``.
    encoding : RecordEncoding, optional
        Turns data frames and missing values into numbers first.
    """

    def __init__(
        self,
        classes: ArrayLike,
        layers: Layers,
        shift: np.ndarray,
        scale: np.ndarray,
        encoding: RecordEncoding | None = None,
    ) -> None:
        super().__init__(classes, access=Access.PARAMETERS)
        self._layers = layers
        self._shift = shift
        self._scale = scale
        self._encoding = encoding

    @property
    def label(self) -> str:
        """Display name."""
        return "MLP"

    def _parameters(self) -> Layers:
        return self._layers

    def _scores(self, X: Inputs) -> np.ndarray:
        numbers = as_numbers(X, self._encoding)
        signal = ((numbers - self._shift) / self._scale).astype(np.float32)
        *hidden, (weights, biases) = self._layers
        for inner_weights, inner_biases in hidden:
            signal = signal @ inner_weights
            signal += inner_biases
            np.maximum(signal, 0.0, out=signal)
        return softmax((signal @ weights + biases).astype(np.float64))


def as_numbers(X: Inputs, encoding: RecordEncoding | None) -> np.ndarray:
    """Return records as float64 numbers; unknown categories leave their block empty."""
    if encoding is not None:
        return encoding.encode(X, unknown="ignore")
    if isinstance(X, pd.DataFrame):
        return X.to_numpy(dtype=np.float64)
    return np.asarray(X, dtype=np.float64)
