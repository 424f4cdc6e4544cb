"""Outcomes of attacks: frozen arrays with their metrics, readable from disk."""

from tapas.results._filenames import file_safe
from tapas.results._inference import AIAttackSummary, BinaryAIAttackSummary, MIAttackSummary
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._summary import AttackSummary

__all__ = [
    "AIAttackSummary",
    "AttackSummary",
    "BinaryAIAttackSummary",
    "BinaryLabelInferenceAttackSummary",
    "LabelInferenceAttackSummary",
    "MIAttackSummary",
    "file_safe",
]
