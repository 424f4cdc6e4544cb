"""Distances between records."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt

from tapas._validate import listing
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.attacks.tables._numeric_parts import NumericParts, NumericWeights, minkowski_sums
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, SchemaError

__all__ = [
    "DistanceMetric",
    "FittingDistance",
    "HammingDistance",
    "LpDistance",
    "MixedDistance",
    "ScaledDistance",
    "SumOfDistances",
    "blocks_of",
    "checked_distance",
]

LARGEST_MATRIX = 1 << 23


class DistanceMetric(ABC):
    """Distance between every record of one dataset and every record of another.

    A subclass writes `__call__`. Distances can be added, and multiplied by a number. Attribute
    inference asks for distances either to the target with each possible value, or with the
    sensitive column equal on both sides, so a metric never meets a masked value.
    """

    @abstractmethod
    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        """Matrix of len(x) rows and len(y) columns."""

    def nearest(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        """Distance from each record of `x` to the nearest of `y`; infinite if there is none."""
        if len(y) == 0:
            return np.full(len(x), np.inf)
        blocks = blocks_of(x, len(y))
        found = [np.asarray(self(block, y)).min(axis=1) for block in blocks]
        return np.concatenate(found).astype(float)

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    def __add__(self, other: "DistanceMetric") -> "DistanceMetric":
        if not isinstance(other, DistanceMetric):
            return NotImplemented
        return SumOfDistances(self, other)

    def __mul__(self, factor: float) -> "DistanceMetric":
        if not isinstance(factor, Real):
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
        if self.columns is None:
            return y.table.count_differences(x.table)
        unknown = [name for name in self.columns if name not in x.description.columns]
        if unknown:
            raise SchemaError(
                f"{self.label}: there is no column {listing(unknown)}; the columns are "
                f"{listing(x.description.columns)}"
            )
        return y.table.select(self.columns).count_differences(x.table.select(self.columns))

    @property
    def label(self) -> str:
        """Display name."""
        return "Hamming" if self.columns is None else f"Hamming({', '.join(self.columns)})"


@dataclass(frozen=True, eq=False)
class LpDistance(DistanceMetric):
    """Minkowski distance of the numeric form of records.

    ``(sum_j w_j |x_j - y_j|^p)^(1/p)`` over the columns of `as_numeric`. A number that is missing
    in one record only counts as a gap of 1; missing in both, as none.

    Parameters
    ----------
    p : float
        Greater than 0.
    weights : array, optional
        One non-negative weight per column of `as_numeric`.
    scale : TabularDataset, optional
        Divide each number and each ordered column by its range in this data, so that large
        numbers do not drown the rest.
    """

    p: float = 2
    weights: npt.ArrayLike | None = None
    scale: TabularDataset | None = None

    def __post_init__(self) -> None:
        if not self.p > 0:
            raise ConfigError(f"p must be greater than 0, got {self.p!r}")
        _check_scale(self.scale)
        if self.weights is not None:
            weights = np.array(self.weights, dtype=float)
            if not (weights >= 0).all():
                raise ConfigError(f"weights must be non-negative numbers, got {self.weights!r}")
            weights.setflags(write=False)
            object.__setattr__(self, "weights", weights)

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        _check_same_description(x, y)
        left, right = NumericParts.of(x), NumericParts.of(y)
        if self.scale is not None:
            _check_same_description(x, self.scale)
            units = NumericParts.of(self.scale).ranges()
            left, right = left.scaled(units), right.scaled(units)
        sums = minkowski_sums(left, right, self.p, self._weights_for(x))
        if self.p == 1:
            return sums
        return np.sqrt(sums) if self.p == 2 else sums ** (1 / self.p)

    def _weights_for(self, x: TabularDataset) -> NumericWeights | None:
        if self.weights is None:
            return None
        weights, expected = np.asarray(self.weights), (x.description.encoded_dim,)
        if weights.shape != expected:
            raise ConfigError(
                f"weights must have one entry per numeric column ({expected[0]}), "
                f"got shape {weights.shape}"
            )
        return NumericWeights.of(x, weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LpDistance) or type(self) is not type(other):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[object, ...]:
        weights = None if self.weights is None else tuple(np.ravel(self.weights).tolist())
        return self.p, weights, None if self.scale is None else id(self.scale)

    @property
    def label(self) -> str:
        """Display name."""
        details = [
            "weighted" if self.weights is not None else "",
            "scaled" if self.scale is not None else "",
        ]
        words = ", ".join(filter(None, details))
        return f"L_{self.p:g}" + (f"({words})" if words else "")


@dataclass(frozen=True, eq=False)
class MixedDistance(DistanceMetric):
    """Hamming's distance and the Euclidean one of standardised numbers and ranks, together.

    ``sqrt(number of columns that differ + sum_j (x_j - y_j)^2 / s_j^2)``. A missing value equals a
    missing one; its gap to a number is that of the mean. The nearest records are found fast.
    Numbers that come back are seen best with `exact`, records near which others were made, or
    taken away, without it.

    Parameters
    ----------
    scale : TabularDataset, optional
        Data whose standard deviations are the units; by default the second of two tables, which is
        the release.
    exact : bool, default True
        Whether numbers that are not equal count as columns that differ, however near.
    """

    scale: TabularDataset | None = None
    exact: bool = True

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        _check_same_description(x, y)
        return self._space(y).distances(x, y)

    def nearest(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        """Distance from each record of `x` to the nearest of `y`; infinite if there is none."""
        _check_same_description(x, y)
        return self._space(y).nearest(x, y)[0][:, 0] if len(y) else np.full(len(x), np.inf)

    def _space(self, y: TabularDataset) -> MixedSpace:
        return MixedSpace.of(y if self.scale is None else self.scale, exact=self.exact)

    @property
    def label(self) -> str:
        """Display name."""
        return "Mixed" if self.exact else "gaps"


@dataclass(frozen=True)
class FittingDistance(DistanceMetric):
    """`MixedDistance` where a column is a number, `HammingDistance` where none is, or one is text.

    Two noisy copies of a record differ in every continuous column, as two strangers do, so that
    Hamming's distance is blind there.
    """

    def __call__(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        return self._fitting(y)(x, y)

    def nearest(self, x: TabularDataset, y: TabularDataset) -> np.ndarray:
        """Distance from each record of `x` to the nearest of `y`; infinite if there is none."""
        return self._fitting(y).nearest(x, y)

    def _fitting(self, y: TabularDataset) -> DistanceMetric:
        table = y.table
        if table.numbers.shape[1] == 0:
            return HammingDistance()
        text = any(column.is_coded and column.values is None for column in table.columns)
        return HammingDistance() if text else MixedDistance()

    @property
    def label(self) -> str:
        """Display name."""
        return "fitting"


def checked_distance(distance: object, default: DistanceMetric) -> DistanceMetric:
    """The distance that an attack was given, or the default."""
    if distance is None:
        return default
    if not isinstance(distance, DistanceMetric):
        raise ConfigError(
            f"distance must be a DistanceMetric such as HammingDistance() (in an audit file "
            f"{{use: HammingDistance}}), got {distance!r}"
        )
    return distance


def blocks_of(records: TabularDataset, width: int) -> list[TabularDataset]:
    """The records in blocks whose distance matrices to `width` others stay small."""
    step = max(1, LARGEST_MATRIX // max(1, width))
    if len(records) <= step:
        return [records]
    starts = range(0, len(records), step)
    return [records.take(range(start, min(start + step, len(records)))) for start in starts]


def _check_scale(scale: object) -> None:
    if scale is not None and not isinstance(scale, TabularDataset):
        raise ConfigError(
            f"scale must be a TabularDataset, in whose units numbers are measured, got {scale!r}; "
            f"without one, MixedDistance measures in those of the release"
        )


def _check_same_description(x: TabularDataset, y: TabularDataset) -> None:
    if x.description != y.description:
        raise SchemaError(
            f"distances need records of one description; {x.label!r} and {y.label!r} differ"
        )
