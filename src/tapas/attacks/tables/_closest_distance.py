"""Attacks that look for the synthetic record nearest to the target."""

from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import score_of_values, table_briefing, with_each_value
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import (
    DistanceMetric,
    FittingDistance,
    checked_distance,
)
from tapas.game import Briefing, Kind, Release

__all__ = ["ClosestDistanceAIA", "ClosestDistanceMIA"]


class _ClosestDistance(TrainableThresholdAttack):
    """What both goals share: a distance, and the distance to the nearest record."""

    def __init__(
        self,
        distance: DistanceMetric | None = None,
        criterion: CriterionLike = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.distance = checked_distance(distance, FittingDistance())
        self._label = label or f"ClosestDistance({self.distance.label}, {self.criterion})"


class ClosestDistanceMIA(_ClosestDistance):
    """Membership inference from the nearest synthetic record.

    Idea
        A mechanism that overfits reproduces its training records, or nearly so. With criterion
        ("threshold", 0) this is a direct look-up.
    Needs
        Releases; training trials unless the threshold is given.
    Score
        ``-min over synthetic records y of distance(target, y)``; minus infinity where the release
        is empty.
    Reference
        Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
        data", arXiv:2211.06550.

    Parameters
    ----------
    distance : DistanceMetric, optional
        Between the target and synthetic records. By default `MixedDistance` where a column is
        continuous, else `HammingDistance`.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("distance",)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Minus the distance to the nearest synthetic record, for each target."""
        return -self.distance.nearest(table_briefing(briefing).targets, release.table)


class ClosestDistanceAIA(_ClosestDistance):
    """Attribute inference from the nearest synthetic record to the target with each value.

    Idea
        The target with its true value is nearer to what a mechanism that overfits releases than
        the target with another value.
    Needs
        Releases; training trials unless the threshold is given. Criterion ("threshold", 0.5)
        takes the nearer of two values and needs none.
    Score
        ``s_v = (1 - d_v / sum_u d_u) / (k - 1)`` where ``d_v`` is the distance from the target
        with value v to the nearest synthetic record and k the number of values; 1/k for all where
        every distance is zero or the release is empty. With two values, the score of the second.
    Reference
        Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
        data", arXiv:2211.06550.

    Parameters
    ----------
    distance : DistanceMetric, optional
        Between the target with each of the values and synthetic records. By default
        `MixedDistance` where a column is continuous, else `HammingDistance`.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("attribute",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("distance",)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Relative nearness of each value, for each target."""
        nearest = self.distance.nearest(with_each_value(table_briefing(briefing)), release.table)
        num_values = len(briefing.attribute_values)
        shares = _shares(nearest.reshape(-1, num_values))
        return score_of_values((1 - shares) / (num_values - 1))


def _shares(distances: np.ndarray) -> np.ndarray:
    """Each distance as a part of its row's sum; equal parts where that is 0 or infinite."""
    endless = np.isinf(distances)
    parts = np.where(endless.any(axis=1, keepdims=True), endless.astype(float), distances)
    totals = parts.sum(axis=1, keepdims=True)
    equal = np.full_like(parts, 1 / parts.shape[1])
    return np.divide(parts, totals, out=equal, where=totals > 0)
