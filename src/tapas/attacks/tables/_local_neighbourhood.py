"""Attacks that look at all synthetic records around the target."""

from numbers import Real
from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import (
    levelled,
    rows_with_value,
    score_of_values,
    table_briefing,
)
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import (
    DistanceMetric,
    HammingDistance,
    blocks_of,
    checked_distance,
)
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.game import Briefing, Kind, Release

__all__ = ["LocalNeighbourhoodAttack"]


class LocalNeighbourhoodAttack(TrainableThresholdAttack):
    """Membership or attribute inference from the synthetic records around the target.

    Idea
        Where the target was in the private data, records like it are likelier to be generated,
        and likelier to have its sensitive value.
    Needs
        Releases; training trials unless the threshold is given.
    Score
        Membership: ``|B| / |D|``, the share of synthetic records D that lie in the ball
        ``B = {y in D: distance(target, y) <= radius}``; 0 where the release is empty. Attribute:
        ``|{y in B: y has value v}| / |B|`` for each value v, 1/k where the ball has none of
        the k values. With two values, the score of the second. The sensitive column does not
        enter the distance: the radius speaks of the other columns.
    Reference
        Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
        data", arXiv:2211.06550.

    Parameters
    ----------
    distance : DistanceMetric
        Hamming by default.
    radius : float
        Non-negative; records at this very distance are inside.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership", "attribute")
    observation_depends_on: ClassVar[tuple[str, ...]] = ("distance", "radius")

    def __init__(
        self,
        distance: DistanceMetric | None = None,
        radius: float = 1,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.distance = checked_distance(distance, HammingDistance())
        self.radius = _checked_radius(radius)
        self._label = label or (
            f"LocalNeighbourhood({self.distance.label}, {self.radius:g}, {self.criterion})"
        )

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Share of the release, or of each value, in the ball around each target."""
        about, synthetic = table_briefing(briefing), release.table
        targets, attribute = about.targets, about.attribute
        if attribute is None:
            return self._inside(targets, synthetic).sum(axis=1) / max(1, len(synthetic))
        inside = self._inside(levelled(targets, attribute), levelled(synthetic, attribute))
        has_value = rows_with_value(about, synthetic)
        counts = inside.astype(float) @ has_value.T.astype(float)
        sizes = np.maximum(1, inside.sum(axis=1, keepdims=True))
        none = counts.sum(axis=1, keepdims=True) == 0
        return score_of_values(np.where(none, 1 / len(has_value), counts / sizes))

    def _inside(self, targets: TabularDataset, synthetic: TabularDataset) -> np.ndarray:
        """Which synthetic records are in the ball around each target."""
        if len(synthetic) == 0:
            return np.zeros((len(targets), 0), dtype=bool)
        blocks = blocks_of(targets, len(synthetic))
        return np.concatenate(
            [np.asarray(self.distance(block, synthetic)) <= self.radius for block in blocks]
        )


def _checked_radius(radius: float) -> float:
    if not isinstance(radius, Real) or isinstance(radius, bool) or not float(radius) >= 0:
        raise ConfigError(f"radius must be a non-negative number, got {radius!r}")
    return float(radius)
