"""Distances between records."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, SchemaError


class DistanceMetric(ABC):
    """Distance between every record of one dataset and every record of another.

    A subclass writes `__call__`. Distances can be added, and multiplied by a number.
    """

    @abstractmethod
    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        """Matrix of len(x) rows and len(y) columns."""

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    def __add__(self, other: "DistanceMetric") -> "DistanceMetric":
        if not isinstance(other, DistanceMetric):
            return NotImplemented
        return SumOfDistances(self, other)

    def __mul__(self, factor: float) -> "DistanceMetric":
        if isinstance(factor, DistanceMetric) or not np.isscalar(factor):
            return NotImplemented
        return ScaledDistance(self, float(factor))

    __rmul__ = __mul__

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class SumOfDistances(DistanceMetric):
    """The sum of two distances."""

    first: DistanceMetric
    second: DistanceMetric

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        return self.first(x, y) + self.second(x, y)

    @property
    def label(self) -> str:
        """Display name."""
        return f"{self.first.label}+{self.second.label}"


@dataclass(frozen=True)
class ScaledDistance(DistanceMetric):
    """A distance times a number."""

    distance: DistanceMetric
    factor: float

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        return self.factor * self.distance(x, y)

    @property
    def label(self) -> str:
        """Display name."""
        return f"{self.factor:g}*{self.distance.label}"


@dataclass(frozen=True)
class HammingDistance(DistanceMetric):
    """Number of columns in which two records differ; missing equals missing.

    Parameters
    ----------
    columns : sequence of str, optional
        Count these columns only.
    """

    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.columns is not None:
            names = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
            object.__setattr__(self, "columns", names)

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        _check_same_description(x, y)
        if self.columns is not None:
            x, y = x.view(self.columns), y.view(self.columns)
        return y.table.count_differences(x.table)

    @property
    def label(self) -> str:
        """Display name."""
        return "Hamming" if self.columns is None else f"Hamming({', '.join(self.columns)})"


@dataclass(frozen=True, eq=False)
class LpDistance(DistanceMetric):
    """Minkowski distance of the numeric form of records.

    A value that is missing in one record only counts as one unit; missing in both, as none.

    Parameters
    ----------
    p : float
        Greater than 0.
    weights : array, optional
        One weight per column of `as_numeric`.
    scale : TabularDataset, optional
        Divide each number and each ordered column by its range in this data, so that large
        numbers do not drown the rest.
    """

    p: float = 2
    weights: Any = None
    scale: TabularDataset | None = None

    def __post_init__(self) -> None:
        if not self.p > 0:
            raise ConfigError(f"p must be greater than 0, got {self.p!r}")
        if self.weights is not None:
            object.__setattr__(self, "weights", np.asarray(self.weights, dtype=float))

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        _check_same_description(x, y)
        unit = self._units(x)
        left, right = x.numeric() / unit, y.numeric() / unit
        weights = np.ones(left.shape[1]) if self.weights is None else self.weights
        if weights.shape != (left.shape[1],):
            raise ConfigError(
                f"weights must have one entry per numeric column ({left.shape[1]}), "
                f"got shape {weights.shape}"
            )
        total = np.zeros((len(x), len(y)))
        for column in np.flatnonzero(weights):
            total += weights[column] * self._column_terms(left[:, column], right[:, column])
        return total ** (1 / self.p)

    def _column_terms(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        gaps = np.abs(left[:, None] - right[None, :])
        missing_left, missing_right = np.isnan(left)[:, None], np.isnan(right)[None, :]
        if missing_left.any() or missing_right.any():
            gaps = np.where(
                missing_left | missing_right, 1.0 * (missing_left ^ missing_right), gaps
            )
        return gaps**self.p

    def _units(self, x: TabularDataset) -> np.ndarray:
        if self.scale is None:
            return np.ones(x.description.encoded_dim)
        _check_same_description(x, self.scale)
        numbers = self.scale.numeric()
        present = ~np.isnan(numbers)
        high = np.where(present, numbers, -np.inf).max(axis=0, initial=-np.inf)
        low = np.where(present, numbers, np.inf).min(axis=0, initial=np.inf)
        spread = high - low
        return np.where(np.isfinite(spread) & (spread > 0), spread, 1.0)

    @property
    def label(self) -> str:
        """Display name."""
        details = [
            "weighted" if self.weights is not None else "",
            "scaled" if self.scale is not None else "",
        ]
        words = ", ".join(filter(None, details))
        return f"L_{self.p:g}" + (f"({words})" if words else "")


def _check_same_description(x: TabularDataset, y: TabularDataset) -> None:
    if x.description != y.description:
        raise SchemaError(
            f"distances need records of one description; {x.label!r} and {y.label!r} differ"
        )
