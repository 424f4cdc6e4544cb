"""Densities fitted to a release."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import log, pi

import numpy as np

from tapas.attacks._sklearn_models import DensityModel, Standardiser, seeded_clone
from tapas.attacks.tables._distances import blocks_of
from tapas.attacks.tables._numeric_parts import NumericParts, column_ranges, minkowski_sums
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, NotTrainedError, SchemaError

__all__ = ["DensityEstimator", "sklearnDensityEstimator"]


class DensityEstimator(ABC):
    """Learns how dense records are, from a dataset.

    A subclass writes `fit` and `score`.
    """

    @abstractmethod
    def fit(self, dataset: TabularDataset) -> object:
        """Learn from a dataset; what was learnt before is forgotten."""

    @abstractmethod
    def score(self, dataset: TabularDataset) -> np.ndarray:
        """Log-density (or another number that grows with density) of each record."""

    def unfitted(self, rng: np.random.Generator) -> "DensityEstimator":
        """A copy to fit on one release; randomness follows `rng` where the estimator allows."""
        return copy.deepcopy(self)

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    def __str__(self) -> str:
        return self.label


class sklearnDensityEstimator(DensityEstimator):  # noqa: N801 - the documented name
    """A scikit-learn density model on the numeric form of records.

    A missing number counts as the mean of its column in the fitted data, a missing category as
    none of them. `KernelDensity` with a Gaussian kernel, the Euclidean metric and a numeric
    bandwidth is evaluated directly, with the same outcome.

    Parameters
    ----------
    model : scikit-learn estimator
        Has `fit` and `score_samples`.
    label : str, optional
    scale : TabularDataset, optional
        Divide each number and each ordered column by its range in this data, so that one
        bandwidth suits all columns.
    """

    def __init__(
        self, model: DensityModel, label: str | None = None, *, scale: TabularDataset | None = None
    ) -> None:
        if not isinstance(model, DensityModel):
            raise ConfigError(
                f"a density model needs the methods fit and score_samples, as scikit-learn's "
                f"KernelDensity has them, got {model!r}"
            )
        self.model = model
        self.scale = scale
        self._label = label or str(model)
        self._fitted: _GaussianKernel | _Refitted | None = None

    def unfitted(self, rng: np.random.Generator) -> "sklearnDensityEstimator":
        """A copy with an unfitted model."""
        twin = copy.copy(self)
        twin._fitted = None
        if _gaussian_bandwidth(self.model) is None:
            twin.model = seeded_clone(self.model, rng)
        return twin

    def fit(self, dataset: TabularDataset) -> "sklearnDensityEstimator":
        """Learn the density of a dataset."""
        if self.scale is not None and self.scale.description != dataset.description:
            raise SchemaError(
                f"the data to scale by, {self.scale.label!r}, and the data to learn from have "
                f"different descriptions"
            )
        bandwidth = _gaussian_bandwidth(self.model)
        if bandwidth is None:
            self._fitted = _Refitted(self.model, dataset, self.scale)
        else:
            self._fitted = _GaussianKernel(bandwidth, dataset, self.scale)
        return self

    def score(self, dataset: TabularDataset) -> np.ndarray:
        """Log-density of each record."""
        if self._fitted is None:
            raise NotTrainedError(f"{self.label} was not fitted yet: call fit(dataset) first")
        return self._fitted.score(dataset)

    def __spec__(self) -> Mapping[str, object]:
        """All attributes but the display name and what was learnt."""
        return {n: value for n, value in vars(self).items() if n not in ("_label", "_fitted")}

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class _Refitted:
    """Any scikit-learn density, fitted to the numeric form."""

    def __init__(
        self, model: DensityModel, data: TabularDataset, scale: TabularDataset | None
    ) -> None:
        self.units = np.ones(1) if scale is None else column_ranges(scale.numeric().T)
        numbers = data.numeric() / self.units
        self.fill = Standardiser(numbers, rescale=False)
        model.fit(self.fill(numbers))
        self.model = model

    def score(self, records: TabularDataset) -> np.ndarray:
        return np.asarray(self.model.score_samples(self.fill(records.numeric() / self.units)))


class _GaussianKernel:
    """``log mean_y N(x; y, h^2 I)`` by one pass over distances."""

    def __init__(
        self, bandwidth: float, data: TabularDataset, scale: TabularDataset | None
    ) -> None:
        parts = NumericParts.of(data)
        self.units = None if scale is None else NumericParts.of(scale).ranges()
        self.parts = parts if self.units is None else parts.scaled(self.units)
        self.fill = self.parts.means()
        self.parts = self.parts.filled(self.fill)
        self.bandwidth = bandwidth
        self.num_columns = data.description.encoded_dim
        self.num_rows = len(data)

    def score(self, records: TabularDataset) -> np.ndarray:
        return np.concatenate([self._score(block) for block in blocks_of(records, self.num_rows)])

    def _score(self, records: TabularDataset) -> np.ndarray:
        parts = NumericParts.of(records)
        parts = (parts if self.units is None else parts.scaled(self.units)).filled(self.fill)
        exponents = minkowski_sums(parts, self.parts, 2) / (-2 * self.bandwidth**2)
        highest = exponents.max(axis=1, keepdims=True)
        sums = np.log(np.exp(exponents - highest).sum(axis=1)) + highest[:, 0]
        volume = self.num_columns * (log(self.bandwidth) + log(2 * pi) / 2)
        return sums - log(self.num_rows) - volume


def _gaussian_bandwidth(model: DensityModel) -> float | None:
    """Bandwidth of a density that can be evaluated directly; None for every other model."""
    from sklearn.neighbors import KernelDensity

    if not isinstance(model, KernelDensity) or type(model) is not KernelDensity:
        return None
    usual = model.kernel == "gaussian" and model.metric == "euclidean" and not model.metric_params
    given = isinstance(model.bandwidth, (int, float, np.number)) and model.bandwidth > 0
    return float(model.bandwidth) if usual and given else None
