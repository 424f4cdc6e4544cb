"""What a summary says, each number with the interval it deserves."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tapas import stats
from tapas.errors import StatisticsError
from tapas.results._audit_record import AuditedSubject, AuditRecord
from tapas.results._best_guess import best_guess
from tapas.results._estimate import Estimate, estimate
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._measures import LOW_FPR, MEASURES
from tapas.stats import Dependence

__all__ = ["SummaryFacts", "facts_within", "judged_summaries", "record_facts", "summary_facts"]


@dataclass(frozen=True, eq=False)
class SummaryFacts:
    """One attack on one target, in numbers.

    Attributes
    ----------
    subject, role, attack, target, generator, dataset : str
        What was attacked, and how.
    trials : int
    dependence : Dependence
        How the trials depend on each other.
    chance : float
        Accuracy of the best guess without the release.
    estimates : mapping of str to Estimate
        Measures by the name that facts have for them (`Measure.fact`), those that are defined.
    epsilon : EpsilonBound or None
        The default certificate (`tapas.stats.certificate`), or the one-run bound where records
        were decided by coins.
    no_epsilon : str or None
        Why there is no certificate.
    """

    subject: str
    role: str
    attack: str
    target: str
    generator: str
    dataset: str
    trials: int
    dependence: Dependence
    chance: float
    estimates: Mapping[str, Estimate]
    epsilon: stats.EpsilonBound | None
    no_epsilon: str | None

    @property
    def accuracy(self) -> Estimate:
        """Share of right guesses."""
        return self.estimates.get("accuracy", Estimate(math.nan, 0.0, 1.0))

    @property
    def accuracy_gain(self) -> Estimate | None:
        """How far that is above the best guess without the release, of attributes."""
        return self.estimates.get("accuracy_gain")

    @property
    def advantage(self) -> Estimate | None:
        """True minus false positive rate."""
        return self.estimates.get("advantage")

    @property
    def auc(self) -> Estimate | None:
        """Area under the ROC curve."""
        return self.estimates.get("auc")

    @property
    def inputs_auc(self) -> Estimate | None:
        """The same of what the inputs alone tell, where that is known."""
        return self.estimates.get("inputs_auc")

    @property
    def auc_gain(self) -> Estimate | None:
        """How far the one is above the other."""
        return self.estimates.get("auc_gain")

    @property
    def told_by_inputs(self) -> bool:
        """Whether the secrets can be told without the release, for certain."""
        return self.inputs_auc is not None and self.inputs_auc.low > 0.5

    @property
    def tpr_at_low_fpr(self) -> Estimate | None:
        """True positive rate at a false positive rate of 1 %, or that asked for."""
        return self.estimates.get("tpr_at_low_fpr")


def judged_summaries(subject: AuditedSubject) -> list[LabelInferenceAttackSummary]:
    """Summaries of a subject that have trials to judge it by."""
    return [s for s in subject.summaries if isinstance(s, LabelInferenceAttackSummary)]


def record_facts(record: AuditRecord, *, confidence: float = 0.95) -> list[SummaryFacts]:
    """Facts of every summary of a record; each interval has this confidence on its own."""
    return [
        facts_within(record, subject, summary, confidence=confidence)
        for subject in record.subjects
        for summary in judged_summaries(subject)
    ]


def facts_within(
    record: AuditRecord,
    subject: AuditedSubject,
    summary: LabelInferenceAttackSummary,
    *,
    confidence: float,
    fpr: float = LOW_FPR,
) -> SummaryFacts:
    """Facts of one summary of a record, computed once for everybody who asks."""
    key = (id(subject), id(summary), confidence, fpr)
    known = record.known_facts
    if key not in known:
        known[key] = summary_facts(
            summary,
            subject.name,
            role=subject.role,
            confidence=confidence,
            delta=record.delta,
            family=record.family,
            fpr=fpr,
        )
    return known[key]


def summary_facts(
    summary: LabelInferenceAttackSummary,
    subject: str = "",
    *,
    role: str = "audited",
    confidence: float = 0.95,
    delta: float = 0.0,
    family: str | None = None,
    fpr: float = LOW_FPR,
) -> SummaryFacts:
    """Facts of one summary."""
    bound, reason = _epsilon(summary, confidence, delta, family)
    return SummaryFacts(
        subject=subject,
        role=role,
        attack=str(summary.attack),
        target=str(summary.target_id),
        generator=str(summary.generator),
        dataset=str(summary.dataset),
        trials=len(summary),
        dependence=summary.dependence,
        chance=best_guess(summary),
        estimates=_estimates(summary, confidence, fpr),
        epsilon=bound,
        no_epsilon=reason,
    )


def _estimates(
    summary: LabelInferenceAttackSummary, confidence: float, fpr: float
) -> dict[str, Estimate]:
    found = {}
    for measure in MEASURES:
        if measure.fact is None:
            continue
        at = measure if measure.at_fpr is None else measure.at_fpr(fpr)
        value = estimate(at, summary, confidence)
        if value is not None:
            found[measure.fact] = value
    return found


def _epsilon(
    summary: LabelInferenceAttackSummary, confidence: float, delta: float, family: str | None
) -> tuple[stats.EpsilonBound | None, str | None]:
    if not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None, "the secret has more than two values"
    if len(np.unique(summary.labels)) < 2:
        return None, "all trials have the same secret"
    try:
        bound = stats.certificate(summary, confidence=confidence, delta=delta, family=family).bound
    except StatisticsError as error:
        return None, summary.dependence.refusal or str(error)
    return bound, None
