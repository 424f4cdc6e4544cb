"""Earlier import path of the abstract attacks."""

from tapas.attacks._base import Attack
from tapas.attacks._threshold import TrainableThresholdAttack

__all__ = ["Attack", "TrainableThresholdAttack"]
