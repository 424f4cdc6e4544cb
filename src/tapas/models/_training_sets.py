"""Who is trained on what: known as a whole, or model by model."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from tapas.errors import ConfigError


class TrainingSets(Protocol):
    """Which records each of many models is trained on; a worker needs only those of its own."""

    @property
    def largest(self) -> int:
        """How many records the model with most of them has."""

    def mask(self, model: int) -> np.ndarray:
        """Whether each record is in the training set of a model."""


@dataclass(frozen=True, eq=False)
class ListedSets:
    """Training sets that are all at hand.

    Attributes
    ----------
    masks : ndarray of bool, (models, records)
    """

    masks: np.ndarray

    @classmethod
    def checked(cls, masks: np.ndarray, num_records: int) -> "ListedSets":
        """Refuse masks that do not fit the records, and empty ones."""
        chosen = np.asarray(masks)
        if chosen.dtype != bool or chosen.ndim != 2 or chosen.shape[1] != num_records:
            raise ConfigError(
                f"masks must be booleans of shape (models, {num_records}), got {chosen.dtype} of "
                f"shape {chosen.shape}"
            )
        empty = np.flatnonzero(~chosen.any(axis=1))
        if len(empty):
            raise ConfigError(
                f"mask {empty[0]} marks no record; every model needs some to train on"
            )
        return cls(chosen)

    @cached_property
    def largest(self) -> int:
        """How many records the model with most of them has."""
        return int(self.masks.sum(axis=1).max())

    def mask(self, model: int) -> np.ndarray:
        """Whether each record is in the training set of a model."""
        return self.masks[model]
