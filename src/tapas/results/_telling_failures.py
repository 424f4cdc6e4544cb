"""Failures of a mechanism that hang together with a secret: that there is no release tells it."""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.results._audited_subject import FAILURES, AuditedSubject
from tapas.results._findings import Finding, Findings, leak
from tapas.results._inference import MIAttackSummary
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.stats import Dependence, excess_p_value, shared_p_values

__all__ = ["TellingFailures", "leaks_beside_failures", "only_failures_tell", "telling_failures"]

_ONE_RELEASE_EACH = (Dependence.INDEPENDENT, Dependence.PAIRS, Dependence.UNRELATED)


@dataclass(frozen=True)
class TellingFailures:
    """How often a mechanism failed in the trials about a target, by its secret.

    Attributes
    ----------
    subject, target : str
    attribute : str
        The name of the attribute that is the secret; empty for membership.
    is_membership : bool
        Whether the secret is whether the target was there, and not a value.
    failed, trials, others_failed, others : int
        Of the trials with the positive secret, and of those without.
    p_value : float
        How likely counts that differ so much are if failures tell nothing.
    """

    subject: str
    target: str
    attribute: str
    is_membership: bool
    failed: int
    trials: int
    others_failed: int
    others: int
    p_value: float


def telling_failures(findings: Findings) -> list[TellingFailures]:
    """Return the targets whose secret of two values failures tell beyond chance, surest first.

    Notes
    -----
    Assumes: trials of one secret are as likely to fail as those of the other, where failures tell
    nothing.
    Guarantees: some target is then named no more often than any one way to show a leak errs, which
    is an error beside theirs (Fisher's exact test; of pairs the sign test over those of which one
    trial failed).
    """
    found: dict[tuple[str, str], TellingFailures] = {}
    for finding in findings.audited:
        if _about(finding) not in found:
            counted = _counted(findings, finding)
            found |= {} if counted is None else {_about(finding): counted}
    if not found:
        return []
    every = list(found.values())
    p_values = shared_p_values([one.p_value for one in every], len(every), findings.error_share)
    most = 1 - findings.confidence_of_a_way
    told = [one for one, p_value in zip(every, p_values, strict=True) if p_value <= most]
    return sorted(told, key=lambda one: one.p_value)


def only_failures_tell(findings: Findings) -> bool:
    """Whether failures tell, and nothing is shown of trials that did not fail."""
    told = {(one.subject, one.target) for one in telling_failures(findings)}
    every = {_about(one) for one in findings.audited}
    if not told or (findings.shown_of_people and told != every):
        return False
    shown = [
        one
        for one in findings.audited
        if one.strength[0] > 0 or float(one.shared.epsilon or 0.0) > 0
    ]
    return all(_about(one) in told and not leaks_beside_failures(findings, one) for one in shown)


def leaks_beside_failures(findings: Findings, finding: Finding) -> bool:
    """Whether a result shows a leak in the trials that did not fail."""
    failed = _failed(findings, finding)
    if failed is None or finding.own.attack == FAILURES:
        return False
    left = finding.summary.drawn(np.flatnonzero(~failed))
    if left.has_one_secret:
        return False
    facts = replace(finding.shared, summary=left, _known={}).at(findings.verdict_confidence)
    return leak(facts)[0] > 0 or float(facts.epsilon or 0.0) > 0


def _about(finding: Finding) -> tuple[str, str]:
    return finding.own.subject, finding.own.target


def _counted(findings: Findings, finding: Finding) -> TellingFailures | None:
    summary, failed = finding.summary, _failed(findings, finding)
    if failed is None or not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None
    inside = summary.labels == 1
    k, n = int(failed[inside].sum()), int(inside.sum())
    others_k, others_n = int(failed[~inside].sum()), int((~inside).sum())
    if summary.dependence is Dependence.PAIRS and summary.groups is not None:
        p_value = _of_pairs(failed, inside, summary.groups)
    else:
        ways = ((k, n, others_k, others_n), (others_k, others_n, k, n))
        p_value = min(1.0, 2 * min(excess_p_value(*way) for way in ways))
    about = (finding.own.subject, finding.own.target, finding.attribute)
    is_membership = isinstance(summary, MIAttackSummary)
    return TellingFailures(*about, is_membership, k, n, others_k, others_n, p_value)


def _of_pairs(
    failed: NDArray[np.bool_], inside: NDArray[np.bool_], groups: NDArray[np.int_]
) -> float:
    """The sign test over pairs of which one trial failed."""
    _, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    failures = np.bincount(places, weights=failed)
    differing = failed & (sizes == 2)[places] & (failures == 1)[places]
    number = int(differing.sum())
    if not number:
        return 1.0
    k = int(inside[differing].sum())
    return min(1.0, 2 * float(scipy.special.bdtr(min(k, number - k), number, 0.5)))


def _failed(findings: Findings, finding: Finding) -> NDArray[np.bool_] | None:
    """Which of the trials of a result failed; None where none did, or it lacks them."""
    summary = finding.summary
    if summary.dependence not in _ONE_RELEASE_EACH:
        return None
    for subject in findings.record.audited:
        if subject.name == finding.own.subject:
            return _failed_trials(subject, summary)
    return None


def _failed_trials(
    subject: AuditedSubject, summary: LabelInferenceAttackSummary
) -> NDArray[np.bool_] | None:
    rows = [one.index for one in subject.failures if one.phase == "test"]
    rows = [row for row in rows if row < len(summary)]
    # Trials are numbered in the order in which they are judged, if none of them is left out.
    if not rows or len(summary) - len(rows) > subject.trials.get("test", 0):
        return None
    found = np.zeros(len(summary), dtype=bool)
    found[rows] = True
    if summary.scores is not None:
        scores = summary.scores[found]
        return found if bool(np.isinf(scores).all()) else None
    return found
