"""Earlier import path of the Groundhog attack."""

from tapas.attacks._groundhog import GroundhogAttack

__all__ = ["GroundhogAttack"]
