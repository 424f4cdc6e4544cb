"""Earlier import path of the attacks that look around the target."""

from tapas.attacks._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks._distances import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks._local_neighbourhood import LocalNeighbourhoodAttack

__all__ = [
    "ClosestDistanceAIA",
    "ClosestDistanceMIA",
    "DistanceMetric",
    "HammingDistance",
    "LocalNeighbourhoodAttack",
    "LpDistance",
]
