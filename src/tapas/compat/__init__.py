"""The documented doors: spellings of earlier versions, on top of the joint."""

from tapas.compat._attack import AttackDoors, Trained, needs_of
from tapas.compat._earlier_core import earlier_scorer
from tapas.compat._failed_trials import (
    hinted_by_failures,
    judged_by_failures,
    told_by_failures,
    with_failures,
    without_failures,
)
from tapas.compat._foreign_attack import AttackLike, as_attack
from tapas.compat._game_threat_model import GameThreatModel
from tapas.compat._target_views import TargetViews
from tapas.compat._threat_model import ThreatModel, TrainableThreatModel

__all__ = [
    "AttackDoors",
    "AttackLike",
    "GameThreatModel",
    "TargetViews",
    "ThreatModel",
    "TrainableThreatModel",
    "Trained",
    "as_attack",
    "earlier_scorer",
    "hinted_by_failures",
    "judged_by_failures",
    "needs_of",
    "told_by_failures",
    "with_failures",
    "without_failures",
]
