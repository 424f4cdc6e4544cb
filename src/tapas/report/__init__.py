"""Reports: figures and tables made from summaries of attacks, and from nothing else."""

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
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
)

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "AIAttackReport",
    "AIAttackSummary",
    "AttackSummary",
    "BinaryAIAttackReport",
    "BinaryAIAttackSummary",
    "BinaryLabelAttackReport",
    "BinaryLabelInferenceAttackSummary",
    "EffectiveEpsilonReport",
    "LabelInferenceAttackSummary",
    "MIAttackReport",
    "MIAttackSummary",
    "ROCReport",
    "Report",
]
