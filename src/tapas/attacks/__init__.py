"""Attacks: how an adversary turns a release into a guess."""

from tapas.attacks._base import Attack
from tapas.attacks._closest_distance import ClosestDistanceMIA
from tapas.attacks._distances import DistanceMetric, HammingDistance, LpDistance
from tapas.attacks._threshold import TrainableThresholdAttack

__all__ = [
    "Attack",
    "ClosestDistanceMIA",
    "DistanceMetric",
    "HammingDistance",
    "LpDistance",
    "TrainableThresholdAttack",
]
