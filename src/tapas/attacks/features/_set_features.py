"""Set features: a fixed number of numbers about a whole dataset."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from tapas.attacks.features._column_statistics import ColumnStatistics
from tapas.datasets import Dataset
from tapas.errors import ConfigError
from tapas.game import Briefing

__all__ = ["ColumnFeature", "CombinedSetFeatures", "LearningFeature", "SetFeature", "as_rows"]


class SetFeature(ABC):
    """Maps datasets to vectors.

    A subclass writes `extract`. Features can be called, and added to stand side by side.
    """

    @property
    def learns(self) -> bool:
        """Whether something is still to be learnt from datasets, by `fitted_to`."""
        return False

    @abstractmethod
    def extract(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """One row of features per dataset, (len(datasets), k)."""

    def fitted_to(self, datasets: Sequence[Dataset]) -> "SetFeature":
        """The feature with what it has to learn (ranges, for instance) taken from datasets.

        Most features learn nothing and return themselves. This one stays as it is.
        """
        return self

    def observe(self, dataset: Dataset, briefing: Briefing) -> np.ndarray:
        """Features of one dataset: a row per target, or one row where targets play no part."""
        return as_rows(self, self.extract([dataset]), 1)

    @property
    def label(self) -> str:
        """Display name."""
        return "Unknown SetFeature"

    def __call__(self, datasets: Sequence[Dataset]) -> np.ndarray:
        return self.extract(datasets)

    def __add__(self, other: "SetFeature") -> "CombinedSetFeatures":
        if not isinstance(other, SetFeature):
            return NotImplemented
        return CombinedSetFeatures(self, other)

    def __str__(self) -> str:
        return self.label


class LearningFeature(SetFeature):
    """A feature that, used directly, keeps what it learns from the datasets seen first.

    A subclass writes `learns` and `fitted_to`.
    """

    _first: Self | None = None

    @abstractmethod
    def fitted_to(self, datasets: Sequence[Dataset]) -> Self:
        """The feature with what it learns from these datasets."""

    def settled(self, datasets: Sequence[Dataset]) -> Self:
        """The feature with all that it learns; from the datasets seen first, if nothing yet."""
        if not self.learns or not datasets:
            return self
        first = self._first
        if first is None:
            first = self.fitted_to(datasets)
            object.__setattr__(self, "_first", first)
        return first

    def __spec__(self) -> Mapping[str, object]:
        """All attributes but the memory of what was seen first."""
        return {name: value for name, value in vars(self).items() if name != "_first"}


class ColumnFeature(SetFeature):
    """A feature of tables that follows from statistics of their columns.

    A subclass writes `of`. Several such features of one table share the statistics.
    """

    @abstractmethod
    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table, (k,)."""

    def settled(self, datasets: Sequence[Dataset]) -> "ColumnFeature":
        """The feature whose `of` can be used on these datasets."""
        return self

    def extract(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """One row of features per dataset."""
        settled = self.settled(datasets)
        return _stacked([settled.of(ColumnStatistics(dataset)) for dataset in datasets])


class CombinedSetFeatures(SetFeature):
    """Several features side by side.

    Parameters
    ----------
    *features : SetFeature
    """

    features: tuple[SetFeature, ...]

    def __init__(self, *features: SetFeature) -> None:
        parts: list[SetFeature] = []
        for feature in features:
            if not isinstance(feature, SetFeature):
                raise ConfigError(f"expected a SetFeature, got {feature!r}")
            parts += feature.features if isinstance(feature, CombinedSetFeatures) else [feature]
        if not parts:
            raise ConfigError("give at least one SetFeature to combine")
        self.features = tuple(parts)

    @property
    def learns(self) -> bool:
        """Whether a part has something to learn."""
        return any(feature.learns for feature in self.features)

    def extract(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """The features of each part, one after the other."""
        settled = self._settled_columns(datasets)
        found: dict[int, list[np.ndarray]] = {number: [] for number in settled}
        for dataset in datasets if settled else ():
            statistics = ColumnStatistics(dataset)
            for number, feature in settled.items():
                found[number].append(feature.of(statistics))
        parts = [
            _stacked(found[number])
            if number in found
            else as_rows(feature, feature.extract(datasets), len(datasets))
            for number, feature in enumerate(self.features)
        ]
        return np.concatenate(parts, axis=1)

    def fitted_to(self, datasets: Sequence[Dataset]) -> "CombinedSetFeatures":
        """Every part with what it learns from the datasets."""
        if not self.learns:
            return self
        return CombinedSetFeatures(*(feature.fitted_to(datasets) for feature in self.features))

    def observe(self, dataset: Dataset, briefing: Briefing) -> np.ndarray:
        """The features of each part; those that are the same for all targets are repeated."""
        settled = self._settled_columns([dataset])
        parts: dict[int, np.ndarray] = {}
        if settled:
            statistics = ColumnStatistics(dataset)
            parts = {number: feature.of(statistics)[None] for number, feature in settled.items()}
        for number, feature in enumerate(self.features):
            if number not in parts:
                parts[number] = feature.observe(dataset, briefing)
        rows = max(len(part) for part in parts.values())
        return np.concatenate(
            [
                np.broadcast_to(parts[number], (rows, parts[number].shape[1]))
                for number in range(len(parts))
            ],
            axis=1,
        )

    def _settled_columns(self, datasets: Sequence[Dataset]) -> dict[int, ColumnFeature]:
        """Parts that can share statistics, by their place: those that no subclass rewrote."""
        return {
            number: feature.settled(datasets)
            for number, feature in enumerate(self.features)
            if isinstance(feature, ColumnFeature)
            and type(feature).extract is ColumnFeature.extract
            and type(feature).observe is SetFeature.observe
        }

    @property
    def label(self) -> str:
        """Display name: those of the parts, joined."""
        return "+".join(feature.label for feature in self.features)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CombinedSetFeatures):
            return NotImplemented
        return self.features == other.features

    def __hash__(self) -> int:
        return hash((CombinedSetFeatures, self.features))


def as_rows(feature: SetFeature, values: npt.ArrayLike, rows: int) -> np.ndarray:
    """What a feature extracted, as a float matrix with one row per dataset."""
    matrix = np.asarray(values, dtype=float)
    if matrix.ndim == 1 and len(matrix) == rows:
        matrix = matrix[:, None]
    if matrix.ndim != 2 or len(matrix) != rows:
        raise ConfigError(
            f"{feature.label}.extract must return one row per dataset, shape ({rows}, k), got "
            f"shape {matrix.shape}"
        )
    return matrix


def _stacked(vectors: list[np.ndarray]) -> np.ndarray:
    return np.stack(vectors) if vectors else np.empty((0, 0))
