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
from tapas.report._comparison_page import ComparisonPage
from tapas.report._epsilon import EffectiveEpsilonReport
from tapas.report._page import AuditPage
from tapas.report._roc import ROCReport
from tapas.report._run_pages import record_page, run_page, target_page
from tapas.report._runs_page import runs_page
from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    Change,
    LabelInferenceAttackSummary,
    MIAttackSummary,
    RecordComparison,
    compare_records,
)

__all__ = [
    "ALL_METRICS",
    "DEFAULT_METRICS",
    "AIAttackReport",
    "AIAttackSummary",
    "AttackSummary",
    "AuditPage",
    "BinaryAIAttackReport",
    "BinaryAIAttackSummary",
    "BinaryLabelAttackReport",
    "BinaryLabelInferenceAttackSummary",
    "Change",
    "ComparisonPage",
    "EffectiveEpsilonReport",
    "LabelInferenceAttackSummary",
    "MIAttackReport",
    "MIAttackSummary",
    "ROCReport",
    "RecordComparison",
    "Report",
    "compare_records",
    "record_page",
    "run_page",
    "runs_page",
    "target_page",
]
