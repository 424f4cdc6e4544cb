"""Outcomes of attacks and audits: frozen, with their metrics, readable from disk."""

from tapas.results._audit_record import (
    AttackCrash,
    AuditedSubject,
    AuditRecord,
    Claim,
    Gate,
    TrialFailure,
)
from tapas.results._exposure import (
    exposure_table,
    positive_predictive_value,
    slice_metrics,
    write_exposure_table,
)
from tapas.results._facts import Estimate, SummaryFacts, record_facts, summary_facts
from tapas.results._filenames import file_safe
from tapas.results._gates import GateOutcome, Verdict, decide
from tapas.results._inference import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._summary import AttackSummary

__all__ = [
    "AIAttackSummary",
    "AttackCrash",
    "AttackSummary",
    "AuditRecord",
    "AuditedSubject",
    "BinaryAIAttackSummary",
    "BinaryLabelInferenceAttackSummary",
    "Claim",
    "Estimate",
    "Gate",
    "GateOutcome",
    "LabelInferenceAttackSummary",
    "MIAttackSummary",
    "SummaryFacts",
    "TrialFailure",
    "Verdict",
    "decide",
    "exposure_table",
    "file_safe",
    "positive_predictive_value",
    "record_facts",
    "slice_metrics",
    "summary_facts",
    "write_exposure_table",
]
