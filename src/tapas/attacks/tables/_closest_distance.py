"""Attacks that look for the synthetic record nearest to the target."""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import DistanceMetric, HammingDistance, blocks_of
from tapas.attacks.tables._masked_targets import score_of_values, with_each_value
from tapas.datasets import TabularDataset
from tapas.threat_models import Briefing, Release


class _ClosestDistance(TrainableThresholdAttack):
    """What both goals share: a distance, and the distance to the nearest record."""

    def __init__(
        self,
        distance: DistanceMetric | None = None,
        criterion: Any = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.distance = HammingDistance() if distance is None else distance
        self._label = label or f"ClosestDistance({self.distance.label}, {self.criterion})"

    def _nearest(self, records: TabularDataset, release: Release) -> np.ndarray:
        """Distance from each record to the nearest synthetic one; infinite if there is none."""
        if len(release.data) == 0:
            return np.full(len(records), np.inf)
        blocks = blocks_of(records, len(release.data))
        nearest = [np.asarray(self.distance(b, release.data)).min(axis=1) for b in blocks]
        return np.concatenate(nearest).astype(float)

    @property
    def observation_key(self) -> Hashable:
        """Attacks with the same distance observe the same."""
        return self._shared_key(self.distance)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


class ClosestDistanceMIA(_ClosestDistance):
    """Membership inference from the nearest synthetic record.

    Idea
        A mechanism that overfits reproduces its training records, or nearly so. With criterion
        ("threshold", 0) and the Hamming distance this is a direct look-up.
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
    distance : DistanceMetric
        Hamming by default.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[str, ...]] = ("membership",)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Minus the distance to the nearest synthetic record, for each target."""
        self._check_goal(briefing)
        targets: Any = briefing.targets
        return -self._nearest(targets, release)


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
    distance : DistanceMetric
        Hamming by default.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[str, ...]] = ("attribute",)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Relative nearness of each value, for each target."""
        self._check_goal(briefing)
        nearest = self._nearest(with_each_value(briefing), release)
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
