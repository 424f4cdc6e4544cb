"""Earlier import path of shadow modelling."""

from tapas.attacks.features._shadow_modelling import ShadowModellingAttack

__all__ = ["ShadowModellingAttack"]
