"""Earlier import path of the attacks that look around the target."""

from tapas.attacks.tables._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks.tables._distances import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks.tables._local_neighbourhood import LocalNeighbourhoodAttack

__all__ = [
    "ClosestDistanceAIA",
    "ClosestDistanceMIA",
    "DistanceMetric",
    "HammingDistance",
    "LocalNeighbourhoodAttack",
    "LpDistance",
]
