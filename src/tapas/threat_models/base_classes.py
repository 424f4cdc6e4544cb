"""Earlier import path of the abstract threat models."""

from tapas.compat import ThreatModel, TrainableThreatModel

__all__ = ["ThreatModel", "TrainableThreatModel"]
