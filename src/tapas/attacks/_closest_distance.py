"""Attacks that look for the synthetic record nearest to the target."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from tapas.attacks._distances import DistanceMetric, HammingDistance
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.errors import IncompatibleAttackError
from tapas.threat_models import Briefing, Release


class ClosestDistanceMIA(TrainableThresholdAttack):
    """Membership inference from the nearest synthetic record.

    Idea
        A mechanism that overfits reproduces its training records, or nearly so. With criterion
        ("threshold", 0) and the Hamming distance this is a direct look-up.
    Needs
        Releases; training trials unless the threshold is given.
    Score
        ``-min over synthetic records y of distance(target, y)``.
    Reference
        Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
        data", arXiv:2211.06550.

    Parameters
    ----------
    distance : DistanceMetric
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    def __init__(
        self,
        distance: DistanceMetric | None = None,
        criterion: Any = "accuracy",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.distance = HammingDistance() if distance is None else distance
        self._label = label or f"ClosestDistance({self.distance.label}, {self.criterion})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Minus the distance to the nearest synthetic record, for each target."""
        if briefing.goal != "membership" or briefing.targets is None:
            raise IncompatibleAttackError(
                f"{self.label} infers membership and needs a TargetedMIA; for attributes use "
                f"ClosestDistanceAIA"
            )
        distances = np.asarray(self.distance(briefing.targets, release.data), dtype=float)
        return -distances.min(axis=1, initial=np.inf)

    @property
    def observation_key(self) -> Hashable:
        """Attacks with the same distance observe the same."""
        return ClosestDistanceMIA, self.distance

    @property
    def label(self) -> str:
        """Display name."""
        return self._label
