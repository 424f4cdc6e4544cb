"""Old address of the summaries, which live in `tapas.results`."""

from tapas.results import (
    AIAttackSummary,
    AttackSummary,
    BinaryAIAttackSummary,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    MIAttackSummary,
)

__all__ = [
    "AIAttackSummary",
    "AttackSummary",
    "BinaryAIAttackSummary",
    "BinaryLabelInferenceAttackSummary",
    "LabelInferenceAttackSummary",
    "MIAttackSummary",
]
