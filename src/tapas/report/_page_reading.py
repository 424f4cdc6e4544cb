"""What a record says: every result with its intervals, and which of them matter most."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tapas.results import (
    AuditRecord,
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
    SummaryFacts,
    Verdict,
    decide,
    summary_facts,
)

__all__ = ["CONFIDENCE", "Reading", "Result", "leak", "strength", "strongest"]

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Result:
    """One attack on one target of one subject.

    Attributes
    ----------
    summary
        What was recorded.
    own
        Numbers whose intervals hold one by one.
    shared
        Numbers whose intervals hold together, over all attacks and targets of the record's
        audited subjects: what is picked out of many may rest on these only.
    """

    summary: LabelInferenceAttackSummary
    own: SummaryFacts
    shared: SummaryFacts

    @property
    def binary(self) -> bool:
        """Whether the secret has two values."""
        return isinstance(self.summary, BinaryLabelInferenceAttackSummary)

    @property
    def attribute(self) -> str:
        """Name of the attribute that was guessed; empty for membership."""
        return str(getattr(self.summary, "sensitive_attribute", ""))

    @property
    def target(self) -> str:
        """Name of the target; empty where one summary covers many records."""
        return "" if self.pooled else self.own.target

    @property
    def pooled(self) -> bool:
        """Whether several trials of the same secret depend on each other, as in one release."""
        groups = self.summary.groups
        if groups is None:
            return False
        _, secrets = np.unique(np.asarray(self.summary.labels), return_inverse=True)
        cells = np.column_stack([np.asarray(groups), secrets])
        return len(np.unique(cells, axis=0)) < len(cells)


@dataclass(frozen=True, eq=False)
class Reading:
    """A record, read once for everything that a page says about it."""

    record: AuditRecord

    @cached_property
    def results(self) -> list[Result]:
        """Every result, audited subjects first."""
        subjects = sorted(self.record.subjects, key=lambda subject: subject.role != "audited")
        delta = 0.0 if self.record.claim is None else self.record.claim.delta
        return [
            Result(
                summary,
                *(
                    summary_facts(
                        summary, subject.name, role=subject.role, confidence=level, delta=delta
                    )
                    for level in (CONFIDENCE, self.shared_level)
                ),
            )
            for subject in subjects
            for summary in subject.summaries
            if isinstance(summary, LabelInferenceAttackSummary)
        ]

    @cached_property
    def shared_level(self) -> float:
        """Confidence of each interval when all audited results are to hold together."""
        count = sum(
            isinstance(summary, LabelInferenceAttackSummary)
            for subject in self.record.audited
            for summary in subject.summaries
        )
        return 1 - (1 - CONFIDENCE) / max(1, count)

    @cached_property
    def audited(self) -> list[Result]:
        """Results of the subjects that are not controls."""
        return [result for result in self.results if result.own.role == "audited"]

    @cached_property
    def controls(self) -> list[Result]:
        """Results of controls."""
        return [result for result in self.results if result.own.role != "audited"]

    @cached_property
    def verdict(self) -> Verdict:
        """What the gates say."""
        return decide(self.record)

    @cached_property
    def best(self) -> Result | None:
        """The audited result that shows most, if anything ran."""
        return max(self.audited, key=strength, default=None)

    @cached_property
    def certificate(self) -> Result | None:
        """The audited result with the largest certified epsilon, if there is a certificate."""
        certified = [result for result in self.audited if result.shared.epsilon is not None]
        return max(certified, key=_certified, default=None)

    @cached_property
    def epsilon(self) -> float:
        """The epsilon certified over all attacks and targets; 0 without a certificate."""
        return 0.0 if self.certificate is None else _certified(self.certificate)

    @cached_property
    def ceiling(self) -> float:
        """The epsilon that a perfect attack could have shown with as many trials."""
        ceilings = [r.shared.epsilon.ceiling for r in self.audited if r.shared.epsilon is not None]
        return float(max(ceilings, default=math.nan))

    @cached_property
    def claim_state(self) -> str:
        """State of the claim: none, contradicted, unseen (too few trials), untested or open."""
        claim = self.record.claim
        if claim is None:
            return "none"
        if self.certificate is None:
            return "untested"
        if self.epsilon > claim.epsilon:
            return "contradicted"
        return "unseen" if self.ceiling <= claim.epsilon else "open"

    @cached_property
    def exposed(self) -> list[Result]:
        """The strongest result for each target of each audited subject, most exposed first."""
        found = strongest(self.audited, lambda r: (r.own.subject, r.target, r.attribute))
        return sorted(found, key=strength, reverse=True)

    @property
    def binary(self) -> bool:
        """Whether some result is about a secret of two values."""
        return any(result.binary for result in self.results)

    @property
    def pooled(self) -> bool:
        """Whether some audited result pools dependent trials."""
        return any(result.pooled for result in self.audited)


def leak(facts: SummaryFacts) -> tuple[float, float]:
    """Return how far above guessing a result lies, 0 to 1: at least (interval end), and about."""
    if facts.auc is not None:
        return 2 * facts.auc.low - 1, 2 * facts.auc.value - 1
    if facts.advantage is not None:
        return facts.advantage.low, facts.advantage.value
    room = 1 - facts.chance
    if not room > 0:
        return -1.0, 0.0
    low, value = facts.accuracy.low, facts.accuracy.value
    return (low - facts.chance) / room, (value - facts.chance) / room


def strength(result: Result) -> tuple[float, float]:
    """Return the order of results: what is certain first, then what is likely."""
    low, value = leak(result.shared)
    return (low, 0.0 if math.isnan(value) else value) if not math.isnan(low) else (-1.0, 0.0)


def strongest(results: Iterable[Result], key: Callable[[Result], object]) -> list[Result]:
    """Return the strongest result for each value of `key`, in order of appearance."""
    found: dict[object, Result] = {}
    for result in results:
        name = key(result)
        if name not in found or strength(result) > strength(found[name]):
            found[name] = result
    return list(found.values())


def _certified(result: Result) -> float:
    return 0.0 if result.shared.epsilon is None else float(result.shared.epsilon)
