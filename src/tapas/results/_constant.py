"""Attacks that say the same of every trial: nothing was seen, which is no proof of safety."""

import numpy as np

from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import AuditedSubject
from tapas.results._facts import judged_summaries
from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["constant_scores", "is_constant", "missing_scores", "unseen_targets"]


def constant_scores(record: AuditRecord) -> list[str]:
    """A warning for each attack that says the same of every trial of what is audited.

    Of a control that is expected: there may be nothing to see.
    """
    said = []
    for subject in record.audited:
        for attack, mute in _mute(subject, "attack").items():
            if any(mute):
                about = "every target" if all(mute) else f"{sum(mute)} targets"
                said.append(
                    f"{attack} gave all trials of {subject.name} the same score for {about}: it "
                    f"saw nothing there, and its result says nothing about privacy. Choose another "
                    f"attack, or another distance or feature."
                )
    return said


def missing_scores(record: AuditRecord) -> list[str]:
    """How trials count in which an attack gave no score, for each attack that did so."""
    said = []
    for subject in record.audited:
        missing: dict[str, tuple[int, int]] = {}
        for summary in judged_summaries(subject):
            absent = 0 if summary.scores is None else int(_is_missing(summary.scores).sum())
            known = missing.get(str(summary.attack), (0, 0))
            missing[str(summary.attack)] = (known[0] + absent, known[1] + len(summary))
        said += [
            f"{attack} gave no score (NaN) in {absent:,} of {total:,} trials of {subject.name}: "
            f"what is made of scores counts them as lower than all others, and guesses count as "
            f"they were made."
            for attack, (absent, total) in missing.items()
            if absent
        ]
    return said


def _is_missing(scores: np.ndarray) -> np.ndarray:
    return np.isnan(scores) if scores.ndim == 1 else np.isnan(scores).any(axis=1)


def unseen_targets(subject: AuditedSubject) -> list[str]:
    """Targets of which every attack said the same in all trials."""
    return [target for target, mute in _mute(subject, "target_id").items() if all(mute)]


def _mute(subject: AuditedSubject, key: str) -> dict[str, list[bool]]:
    """Whether each result is constant, by attack or by target."""
    found: dict[str, list[bool]] = {}
    for summary in judged_summaries(subject):
        name = summary.attack if key == "attack" else summary.target_id
        found.setdefault(str(name), []).append(is_constant(summary))
    return found


def is_constant(summary: LabelInferenceAttackSummary) -> bool:
    """Whether an attack said the same of every trial.

    Of scores only: one decision for all can be the best guess where a value is common.
    """
    scores = summary.scores
    if scores is None or len(scores) < 2:
        return False
    return bool(((scores == scores[0]) | (np.isnan(scores) & np.isnan(scores[0]))).all())
