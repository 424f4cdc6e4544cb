"""Earlier import path of the abstract threat models."""

from tapas.threat_models._base import ThreatModel, TrainableThreatModel

__all__ = ["ThreatModel", "TrainableThreatModel"]
