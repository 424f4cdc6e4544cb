"""Earlier import path of the Groundhog attack."""

from tapas.attacks.features._groundhog import GroundhogAttack

__all__ = ["GroundhogAttack"]
