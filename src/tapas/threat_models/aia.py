"""Earlier import path of attribute inference."""

from tapas.threat_models._labellers import AIALabeller
from tapas.threat_models._targeted import TargetedAIA

__all__ = ["AIALabeller", "TargetedAIA"]
