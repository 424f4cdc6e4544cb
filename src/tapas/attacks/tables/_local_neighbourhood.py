"""Attacks that look at all synthetic records around the target."""

from collections.abc import Hashable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._distances import DistanceMetric, HammingDistance, blocks_of
from tapas.attacks.tables._masked_targets import levelled, rows_with_value, score_of_values
from tapas.errors import ConfigError
from tapas.threat_models import Briefing, Release


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

    goals: ClassVar[tuple[str, ...]] = ("membership", "attribute")

    def __init__(
        self,
        distance: DistanceMetric | None = None,
        radius: float = 1,
        criterion: Any = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.distance = HammingDistance() if distance is None else distance
        self.radius = _checked_radius(radius)
        self._label = label or (
            f"LocalNeighbourhood({self.distance.label}, {self.radius:g}, {self.criterion})"
        )

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Share of the release, or of each value, in the ball around each target."""
        self._check_goal(briefing)
        if briefing.attribute is None:
            inside = self._inside(briefing.targets, release.data)
            return inside.sum(axis=1) / max(1, len(release.data))
        inside = self._inside(
            levelled(briefing.targets, briefing.attribute),  # type: ignore[arg-type]
            levelled(release.data, briefing.attribute),
        )
        has_value = rows_with_value(briefing, release.data)
        counts = inside.astype(float) @ has_value.T.astype(float)
        sizes = np.maximum(1, inside.sum(axis=1, keepdims=True))
        none = counts.sum(axis=1, keepdims=True) == 0
        return score_of_values(np.where(none, 1 / len(has_value), counts / sizes))

    def _inside(self, targets: Any, data: Any) -> np.ndarray:
        if len(data) == 0:
            return np.zeros((len(targets), 0), dtype=bool)
        blocks = blocks_of(targets, len(data))
        return np.concatenate([np.asarray(self.distance(b, data)) <= self.radius for b in blocks])

    @property
    def observation_key(self) -> Hashable:
        """Attacks with the same distance and radius observe the same."""
        return self._shared_key(self.distance, self.radius)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


def _checked_radius(radius: Any) -> float:
    if not isinstance(radius, Real) or isinstance(radius, bool) or not float(radius) >= 0:
        raise ConfigError(f"radius must be a non-negative number, got {radius!r}")
    return float(radius)
