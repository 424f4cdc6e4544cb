"""Old address of the reports, which `tapas.report` lists."""

from tapas.report._base import Report
from tapas.report._binary import (
    ALL_METRICS,
    DEFAULT_METRICS,
    AIAttackReport,
    BinaryAIAttackReport,
    BinaryLabelAttackReport,
    MIAttackReport,
)
from tapas.report._epsilon import EffectiveEpsilonReport
from tapas.report._roc import ROCReport

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "AIAttackReport",
    "BinaryAIAttackReport",
    "BinaryLabelAttackReport",
    "EffectiveEpsilonReport",
    "MIAttackReport",
    "ROCReport",
    "Report",
]
