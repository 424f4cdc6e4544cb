"""Earlier import path of membership inference."""

from tapas.threat_models._labellers import MIALabeller
from tapas.threat_models._targeted import TargetedMIA

__all__ = ["MIALabeller", "TargetedMIA"]
