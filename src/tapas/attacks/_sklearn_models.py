"""scikit-learn models that attacks refit on every release."""

import copy
from collections.abc import Hashable
from typing import Any

import numpy as np

from tapas._random import integer_seed


def seeded_clone(model: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy whose randomness follows `rng` wherever the model fixed none itself.

    Parts of pipelines and of ensembles are seeded as well.
    """
    from sklearn.base import clone

    if not hasattr(model, "get_params"):
        return copy.deepcopy(model)
    twin = clone(model)
    seed = integer_seed(rng)
    open_seeds = {
        name: seed
        for name, value in twin.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return twin.set_params(**open_seeds) if open_seeds else twin


def parameters_key(model: Any) -> Hashable:
    """Equal for models that learn the same from the same data; follows changed parameters."""
    if not hasattr(model, "get_params"):
        return id(model)
    parameters = model.get_params(deep=True).items()
    return type(model), tuple((name, _hashable(value)) for name, value in sorted(parameters))


def _hashable(value: Any) -> Hashable:
    if hasattr(value, "get_params"):
        # Its parameters are listed on their own.
        return repr(type(value))
    try:
        hash(value)
    except TypeError:
        return repr(value), id(value)
    return type(value), value


class Standardiser:
    """Numbers to mean 0 and standard deviation 1, missing ones to the mean.

    Columns that hold only 0 and 1, as one-hot ones do, are left as they are.
    """

    def __init__(self, matrix: np.ndarray, *, rescale: bool = True) -> None:
        present = ~np.isnan(matrix)
        counts = np.maximum(1, present.sum(axis=0))
        values = np.where(present, matrix, 0.0)
        self.centres = values.sum(axis=0) / counts
        spreads = np.sqrt((np.where(present, matrix - self.centres, 0.0) ** 2).sum(axis=0) / counts)
        binary = ((values == 0) | (values == 1)).all(axis=0)
        untouched = binary | (spreads == 0) | (not rescale)
        self.shifts = np.where(untouched, 0.0, self.centres)
        self.spreads = np.where(untouched, 1.0, spreads)

    def __call__(self, matrix: np.ndarray) -> np.ndarray:
        filled = np.where(np.isnan(matrix), self.centres, matrix)
        return (filled - self.shifts) / self.spreads
