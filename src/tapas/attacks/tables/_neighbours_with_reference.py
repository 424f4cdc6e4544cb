"""Membership inference from who surrounds the target: synthetic or reference records."""

from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import DistanceMetric, blocks_of
from tapas.attacks.tables._numeric_parts import NumericParts, minkowski_sums
from tapas.datasets import TabularDataset
from tapas.game import Briefing, Kind, Release

__all__ = ["Gower", "LocalNeighboursWithReference"]


class LocalNeighboursWithReference(TrainableThresholdAttack):
    """Membership inference from the synthetic share among the nearest neighbours of the target.

    Idea
        Pool the release with reference data of the population. Around a record that the mechanism
        did not learn by heart, both are as frequent as anywhere; around one that it did, synthetic
        records prevail.
    Needs
        One release and reference data of the same population (the auxiliary data of the
        attacker); known records or training trials unless the threshold is given. 0.5 is the
        natural one.
    Score
        ``a / (a + b)`` with a the share of the release and b the share of the reference that is
        at most as far from the target as its k-th neighbour in the pooled table; minus infinity
        where the release is empty.
    Reference
        Ward, Wang and Cheng (2024), "Data plagiarism index: characterizing the privacy risk of
        data-copying in tabular generative models", arXiv:2406.13012.

    Parameters
    ----------
    k : int
        Number of neighbours; those as far as the k-th count too.
    distance : DistanceMetric, optional
        By default Gower's: the mean over columns of whether categories differ, or of the
        difference of numbers in units of their range in the pooled table.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    needs_auxiliary: ClassVar[bool] = True
    observation_depends_on: ClassVar[tuple[str, ...]] = ("k", "distance")

    def __init__(
        self,
        k: int = 5,
        distance: DistanceMetric | None = None,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.k = check_count(k, "k", minimum=1)
        self.distance = distance
        name = "Gower" if distance is None else distance.label
        self._label = label or f"LocalNeighboursWithReference({self.k}, {name}, {self.criterion})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Weighted synthetic share among the neighbours of each target."""
        about, synthetic = table_briefing(briefing), release.table
        targets, reference = about.targets, about.reference(self.label)
        if len(synthetic) == 0:
            return np.full(len(targets), -np.inf)
        pooled = synthetic + reference
        measure = Gower(pooled) if self.distance is None else self.distance
        blocks = blocks_of(targets, len(pooled))
        return np.concatenate(
            [self._share(np.asarray(measure(block, pooled)), len(synthetic)) for block in blocks]
        )

    def _share(self, distances: np.ndarray, released: int) -> np.ndarray:
        number = min(self.k, distances.shape[1]) - 1
        radius = np.partition(distances, number, axis=1)[:, number]
        near = distances <= radius[:, None]
        synthetic = near[:, :released].mean(axis=1)
        return synthetic / (synthetic + near[:, released:].mean(axis=1))

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class Gower:
    """Twice the number of columns times Gower's distance, to the rows of one table.

    Numbers are scaled by their ranges in `scale`, by default that table itself.
    """

    def __init__(self, data: TabularDataset, scale: TabularDataset | None = None) -> None:
        parts = NumericParts.of(data)
        # A pair of different categories counts 2, so a whole range must count 2 as well.
        self.units = (parts if scale is None else NumericParts.of(scale)).ranges() / 2
        self.parts = parts.scaled(self.units)

    def __call__(self, records: TabularDataset, data: TabularDataset) -> np.ndarray:
        return minkowski_sums(NumericParts.of(records).scaled(self.units), self.parts, 1)
