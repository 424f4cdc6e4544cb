"""Records that are not compared, because nobody could say on which side they belong."""

from tapas.compat import GameThreatModel
from tapas.threat_models import ModelMIA, ObservedMIA, PredictionsMIA

__all__ = ["left_out"]


def left_out(model: GameThreatModel) -> tuple[int, int]:
    """How many members and non-members of a model, of predictions or of files are not compared."""
    if isinstance(model, ObservedMIA):
        return model.counts.left_out_members, model.counts.left_out_non_members
    return model.left_out if isinstance(model, (ModelMIA, PredictionsMIA)) else (0, 0)
