"""Earlier import path of the distances."""

from tapas.attacks.tables._distances import DistanceMetric, HammingDistance, LpDistance

__all__ = ["DistanceMetric", "HammingDistance", "LpDistance"]
