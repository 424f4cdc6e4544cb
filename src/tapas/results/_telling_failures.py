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

__all__ = [
    "TellingFailures",
    "leaks_beside_failures",
    "only_failures_tell",
    "telling_failures",
    "told_by_failures_alone",
]

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
    num_values : int
        How many secrets there are.
    failed, trials, others_failed, others : int
        Of the trials with the positive secret, or with the one of several values whose failures
        differ most surely from those of the others; and of those without it.
    p_value : float
        How likely counts that differ so much are if failures tell nothing.
    """

    subject: str
    target: str
    attribute: str
    is_membership: bool
    num_values: int
    failed: int
    trials: int
    others_failed: int
    others: int
    p_value: float


def telling_failures(findings: Findings) -> list[TellingFailures]:
    """Return the targets whose secret failures tell beyond chance, surest first.

    Notes
    -----
    Assumes: trials of one secret are as likely to fail as those of the other, where failures tell
    nothing.
    Guarantees: some target is then named no more often than any one way to show a leak errs, which
    is an error beside theirs (Fisher's exact test, of each of several values against the others,
    which share that error; of pairs the sign test over those of which one trial failed).
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
    if not isinstance(left, BinaryLabelInferenceAttackSummary):
        return _better_than_one_guess(left) <= 1 - findings.verdict_confidence
    facts = replace(finding.shared, summary=left, _known={}).at(findings.verdict_confidence)
    return leak(facts)[0] > 0 or float(facts.epsilon or 0.0) > 0


def told_by_failures_alone(findings: Findings) -> list[Finding]:
    """Return the results of failures judged as an attack where no other could learn anything.

    Of a secret of several values failures are judged beside other attacks too.
    """
    judged = [one for one in findings.audited if one.own.attack == FAILURES]
    return [one for one in judged if one.is_binary or _leaves_one_secret(findings, one)]


def _leaves_one_secret(findings: Findings, finding: Finding) -> bool:
    failed = _failed(findings, finding)
    return failed is None or finding.summary.drawn(np.flatnonzero(~failed)).has_one_secret


def _about(finding: Finding) -> tuple[str, str]:
    return finding.own.subject, finding.own.target


def _counted(findings: Findings, finding: Finding) -> TellingFailures | None:
    summary, failed = finding.summary, _failed(findings, finding)
    if failed is None:
        return None
    of_two = isinstance(summary, BinaryLabelInferenceAttackSummary)
    values = [1] if of_two else np.unique(summary.labels).tolist()
    each = [_sides(failed, summary.labels == value) for value in values]
    p_values = [_of_sides(*sides) for sides in each]
    if summary.dependence is Dependence.PAIRS and summary.groups is not None:
        if not of_two:
            return None
        p_values = [_of_pairs(failed, summary.labels == 1, summary.groups)]
    surest = int(np.argmin(p_values))
    about = (finding.own.subject, finding.own.target, finding.attribute)
    is_membership = isinstance(summary, MIAttackSummary)
    p_value = min(1.0, len(values) * p_values[surest])
    num_values = 2 if of_two else len(values)
    return TellingFailures(*about, is_membership, num_values, *each[surest], p_value)


def _sides(failed: NDArray[np.bool_], inside: NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """How many trials failed, of how many, with a secret and without it."""
    counts = [(int(failed[side].sum()), int(side.sum())) for side in (inside, ~inside)]
    return *counts[0], *counts[1]


def _of_sides(k: int, n: int, others_k: int, others_n: int) -> float:
    """Fisher's exact test, either way."""
    ways = ((k, n, others_k, others_n), (others_k, others_n, k, n))
    return min(1.0, 2 * min(excess_p_value(*way) for way in ways))


def _better_than_one_guess(summary: LabelInferenceAttackSummary) -> float:
    """How likely so many right guesses are if always guessing the commonest secret is as good.

    Failures may rule values out, so that the best guess of what is left is better than it was.
    """
    values, counts = np.unique(summary.labels, return_counts=True)
    alike = summary.labels == values[int(np.argmax(counts))]
    right = summary.predictions == summary.labels
    won, lost = int((right & ~alike).sum()), int((~right & alike).sum())
    return float(scipy.special.bdtrc(won - 1, won + lost, 0.5)) if won else 1.0


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
