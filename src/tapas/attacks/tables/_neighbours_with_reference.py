"""Membership inference from who surrounds the target: synthetic or reference records."""

from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import DistanceMetric, blocks_of
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.datasets import TabularDataset
from tapas.game import Briefing, Kind, Release

__all__ = ["LocalNeighboursWithReference"]


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
        By default that of `MixedDistance`, in units of the pooled table, of which at most k
        records of each side count as near.
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
        name = "Mixed" if distance is None else distance.label
        self._label = label or f"LocalNeighboursWithReference({self.k}, {name}, {self.criterion})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Weighted synthetic share among the neighbours of each target."""
        about, synthetic = table_briefing(briefing), release.table
        targets, reference = about.targets, about.reference(self.label)
        if len(synthetic) == 0:
            return np.full(len(targets), -np.inf)
        if self.distance is None:
            return self._share_of_nearest(targets, synthetic, reference)
        pooled, sizes = synthetic + reference, (len(synthetic), len(reference))
        found = []
        for block in blocks_of(targets, len(pooled)):
            apart = np.asarray(self.distance(block, pooled))
            found.append(self._share(apart[:, : sizes[0]], apart[:, sizes[0] :], sizes))
        return np.concatenate(found)

    def _share_of_nearest(
        self, targets: TabularDataset, synthetic: TabularDataset, reference: TabularDataset
    ) -> np.ndarray:
        """The same from the k nearest of each side, which the k nearest of both are among."""
        space = MixedSpace.of(synthetic + reference)
        near, far = (space.nearest(targets, side, self.k)[0] for side in (synthetic, reference))
        return self._share(near, far, (len(synthetic), len(reference)))

    def _share(self, near: np.ndarray, far: np.ndarray, sizes: tuple[int, int]) -> np.ndarray:
        """From distances to released and to reference records, of which there are so many."""
        both = np.concatenate([near, far], axis=1)
        number = min(self.k, both.shape[1]) - 1
        radius = np.partition(both, number, axis=1)[:, [number]]
        synthetic = (near <= radius).sum(axis=1) / sizes[0]
        return synthetic / (synthetic + (far <= radius).sum(axis=1) / sizes[1])
