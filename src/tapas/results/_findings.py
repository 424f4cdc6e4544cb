"""What a record says: every result with its intervals, which of them matter, what they claim."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tapas import stats
from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import AuditedSubject
from tapas.results._claims import ClaimOutcome, judge_claim
from tapas.results._estimate import Estimate
from tapas.results._facts import (
    SummaryFacts,
    facts_within,
    judged_summaries,
    shared_by_audited,
)
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._people import People, exposed_people
from tapas.stats import Dependence

__all__ = ["CONFIDENCE", "Finding", "Findings", "leak", "strength", "strongest"]

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Finding:
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
    def is_binary(self) -> bool:
        """Whether the secret has two values."""
        return isinstance(self.summary, BinaryLabelInferenceAttackSummary)

    @property
    def num_negative(self) -> int:
        """How many of its trials are without the secret; defined for two secrets."""
        return int((self.summary.labels == 0).sum())

    @property
    def fewest_of_a_secret(self) -> int:
        """How many trials the rarer of two secrets has."""
        return min(self.num_negative, len(self.summary) - self.num_negative)

    @property
    def is_guessed_from_inputs(self) -> bool:
        """Whether inputs without the release tell more than always saying the commoner secret."""
        if not self.is_binary or self.summary.inputs_alone is None:
            return False
        total = len(self.summary)
        return round(self.own.chance * total) > total - self.fewest_of_a_secret

    @property
    def attribute(self) -> str:
        """Name of the attribute that was guessed; empty for membership."""
        return str(self.summary.sensitive_attribute)

    @property
    def target(self) -> str:
        """Name of the target; empty where one summary covers many records."""
        return "" if self.covers_records else self.own.target

    @property
    def covers_records(self) -> bool:
        """Whether its trials are records that share releases."""
        return self.own.dependence.is_by_record or self.own.dependence is Dependence.GROUPS

    @property
    def strength(self) -> tuple[float, float]:
        """Its place among findings: what is certain first, then what is likely."""
        return strength(self.shared)


@dataclass(frozen=True, eq=False)
class Findings:
    """A record, read once for everything that is said about it."""

    record: AuditRecord

    @cached_property
    def all(self) -> list[Finding]:
        """Every finding, audited subjects first."""
        subjects = sorted(self.record.subjects, key=lambda subject: subject.role != "audited")
        return [
            self._finding(subject, s) for subject in subjects for s in judged_summaries(subject)
        ]

    def _finding(self, subject: AuditedSubject, summary: LabelInferenceAttackSummary) -> Finding:
        own, shared = (
            facts_within(self.record, subject, summary, confidence=level)
            for level in (CONFIDENCE, self.shared_confidence)
        )
        return Finding(summary, own, shared)

    @cached_property
    def shared_confidence(self) -> float:
        """Confidence of each interval when all audited findings are to hold together."""
        return shared_by_audited(self.record, CONFIDENCE)

    @cached_property
    def audited(self) -> list[Finding]:
        """Findings about the subjects that are not controls."""
        return [finding for finding in self.all if finding.own.role == "audited"]

    @cached_property
    def controls(self) -> list[Finding]:
        """Findings about controls."""
        return [finding for finding in self.all if finding.own.role != "audited"]

    @cached_property
    def farthest(self) -> Finding | None:
        """The audited finding whose interval is furthest from guessing, if anything ran."""
        return max(self.audited, key=lambda finding: finding.strength, default=None)

    @cached_property
    def best(self) -> Finding | None:
        """The audited finding that shows most; where no interval shows a leak, by its surest."""
        found = self.farthest
        if found is None or found.strength[0] > 0 or self.surest is None:
            return found
        return self.surest

    @cached_property
    def exposed(self) -> list[Finding]:
        """The strongest finding for each target of each audited subject, most exposed first."""
        found = strongest(self.audited, lambda f: (f.own.subject, f.target, f.attribute))
        return sorted(found, key=lambda finding: finding.strength, reverse=True)

    @cached_property
    def certified(self) -> Finding | None:
        """The audited finding that certifies the largest epsilon."""
        found = [finding for finding in self.audited if finding.shared.epsilon is not None]
        return max(found, key=lambda finding: float(finding.shared.epsilon or 0.0), default=None)

    @property
    def certificate(self) -> stats.EpsilonBound | None:
        """The largest certified epsilon, over all attacks and targets together."""
        return None if self.certified is None else self.certified.shared.epsilon

    @cached_property
    def epsilon(self) -> float:
        """The epsilon certified over all attacks and targets; 0 without a certificate."""
        return 0.0 if self.certificate is None else float(self.certificate)

    @cached_property
    def ceiling(self) -> float:
        """The epsilon that a perfect attack could have shown with as many trials."""
        bounds = [f.shared.epsilon for f in self.audited if f.shared.epsilon is not None]
        return max((float(bound.ceiling) for bound in bounds), default=math.nan)

    @cached_property
    def no_certificate(self) -> str | None:
        """Why no epsilon is certified, in the words of the finding that shows most."""
        if self.certificate is not None or self.best is None:
            return None
        return self.best.shared.no_epsilon

    @cached_property
    def claim(self) -> ClaimOutcome:
        """What became of the claimed guarantee."""
        known = self.record.known_claims
        if CONFIDENCE not in known:
            certified = [one.summary for one in self.audited if one.shared.epsilon is not None]
            stopped = self.record.stopped if self.record.contradicted else None
            known[CONFIDENCE] = judge_claim(self.record.claim, certified, CONFIDENCE, stopped)
        return known[CONFIDENCE]

    @property
    def leaks(self) -> bool:
        """Whether some attack did better than guessing, or records were copied, for certain."""
        return self.best is not None and (self.found_by_attack or bool(self.copied))

    @property
    def found_by_attack(self) -> bool:
        """Whether some attack did better than guessing, for certain, if only about few records."""
        return self.found_over_all or self.surest is not None

    @property
    def found_over_all(self) -> bool:
        """Whether some attack did so over all trials, records or people."""
        shown = self.shown_by_scores or self.shown_by_certificate or self.shown_by_claim
        return shown or bool(self.shown_of_people) or bool(self.shown_on_maps)

    @property
    def shown_by_claim(self) -> bool:
        """Whether a bound that holds whenever trials end does, by contradicting the claim.

        It has an error of its own, of which no other statement spends a part.
        """
        return self.record.claim is not None and self.record.contradicted

    @cached_property
    def people(self) -> list[People]:
        """Those of every audited subject that was judged about several."""
        return exposed_people(self.record, CONFIDENCE)

    @cached_property
    def shown_of_people(self) -> list[People]:
        """Those of whom together it is certain that attacks do better than guessing."""
        level = self.confidence_of_a_way
        return [one for one in self.people if _differs(one, level)]

    @property
    def _mapped(self) -> list[AuditedSubject]:
        """Subjects of which every record was judged, if only by what others taught."""
        return [one for one in self.record.audited if one.exposure is not None]

    @cached_property
    def shown_on_maps(self) -> dict[str, list[str]]:
        """Records of each subject that are told for certain though they are no targets."""
        level = self.at_this_look(self.confidence_of_a_way)
        level = stats.shared_confidence(level, max(1, len(self._mapped)))
        told = {one.name: one.exposure.exposed(level) for one in self._mapped if one.exposure}
        return {name: records for name, records in told.items() if records}

    @cached_property
    def ways(self) -> int:
        """In how many ways a leak can be shown.

        By scores, a certificate, the highest scores, copies, the exposure map; by the mean over
        people, and their p-values.
        """
        highest = any(one.own.surest for one in self.audited)
        ways = 1 + (self.certificate is not None) + highest + bool(self._counted)
        return ways + bool(self._mapped) + 2 * bool(self.people)

    @property
    def confidence_of_a_way(self) -> float:
        """Confidence of each way to show a leak when all of them are to hold together."""
        return stats.shared_confidence(CONFIDENCE, self.ways)

    @cached_property
    def nearly(self) -> Literal["scores", "certificate", "copies", "people"] | None:
        """What excludes guessing by itself where all ways to show a leak together do not."""
        if self.leaks:
            return None
        if any(leak(one.shared)[0] > 0 for one in self.audited):
            return "scores"
        if self.epsilon > 0:
            return "certificate"
        if self._copied_beyond_chance(CONFIDENCE):
            return "copies"
        return "people" if any(_differs(one, CONFIDENCE) for one in self.people) else None

    @cached_property
    def than(self) -> str:
        """What no attack did reliably better than, where none did.

        Where results exclude guessing themselves, it is what is told without the mechanism.
        """
        told = [one.shared for one in self.audited if one.shared.auc_gain is not None]
        if any(one.told_by_inputs or _excludes_guessing(one.auc) for one in told):
            return f"{told[0].alone} tell"
        return "guessing"

    @cached_property
    def control_leaks(self) -> dict[str, float]:
        """How far each control is from guessing, at least, by its strongest result.

        All results of controls hold together, and no less surely than those that are audited.
        """
        level = stats.shared_confidence(CONFIDENCE, max(1, len(self.controls)))
        level = max(level, self.shared_confidence)
        found: dict[str, float] = {}
        for one in self.controls:
            low = leak(one.shared)[0]
            low = leak(one.shared.at(level))[0] if low > 0 else low
            found[one.own.subject] = max(low, found.get(one.own.subject, -1.0))
        return found

    def is_above_audited(self, control: str) -> bool:
        """Whether more is found of a control, for certain, than could be of all that is audited.

        All results, of controls and of what is audited, hold together for that.
        """
        mine = [one.shared for one in self.controls if one.own.subject == control]
        others = [one.shared for one in self.audited]

        def is_above(mine: Iterable[SummaryFacts], others: Iterable[SummaryFacts]) -> bool:
            most = [largest_leak(one) for one in others]
            return any(all(leak(one)[0] > high for high in most) for one in mine)

        if not mine or not others or not is_above(mine, others):
            return False
        level = stats.shared_confidence(CONFIDENCE, len(self.all))
        return is_above((one.at(level) for one in mine), (one.at(level) for one in others))

    @cached_property
    def verdict_confidence(self) -> float:
        """Confidence of each result when all ways to show a leak are to hold together."""
        return shared_by_audited(self.record, CONFIDENCE, self.ways)

    @cached_property
    def error_share(self) -> float:
        """What part of the error this look has; all of it where results are looked at once."""
        return min((finding.summary.error_share for finding in self.audited), default=1.0)

    def at_this_look(self, confidence: float) -> float:
        """At which an interval is really made, so that it holds over all looks."""
        return stats.shared_confidence(confidence, 1, self.error_share)

    @cached_property
    def shown_by_scores(self) -> bool:
        """Whether scores show a leak for certain."""
        near = (one.shared for one in self.audited if leak(one.shared)[0] > 0)
        return any(leak(one.at(self.verdict_confidence))[0] > 0 for one in near)

    @cached_property
    def shown_by_certificate(self) -> bool:
        """Whether a certified epsilon shows a leak for certain."""
        near = (one.shared for one in self.audited if float(one.shared.epsilon or 0) > 0)
        return any(float(one.at(self.verdict_confidence).epsilon or 0) > 0 for one in near)

    @cached_property
    def surest(self) -> Finding | None:
        """The attack on records whose highest scores are one side's more often than by chance."""
        tested = [(one.own.surest.p_value, one) for one in self.audited if one.own.surest]
        p_value, found = min(tested, key=lambda one: one[0], default=(1.0, None))
        return found if p_value <= 1 - self.verdict_confidence else None

    @property
    def used(self) -> str:
        """What the records in question were used as, if they were: the word for the data."""
        asked = self.record.question
        model = asked.get("model") or asked.get("predictions") or not self.inputs_are_known
        told = (one.performance or one.leaves or one.shares for one in self.record.audited)
        return "training" if model or any(told) else "private"

    @property
    def inputs_are_known(self) -> bool:
        """Whether the inputs of all audited records could be compared, and not classes alone."""
        return all(subject.inputs_are_known for subject in self.record.audited)

    @cached_property
    def copied(self) -> list[AuditedSubject]:
        """Subjects that hold more private records, all but one column, than chance explains."""
        return self._copied_beyond_chance(self.confidence_of_a_way)

    @property
    def _counted(self) -> list[AuditedSubject]:
        """Subjects in which private records were looked for."""
        return [one for one in self.record.audited if one.copies is not None]

    def _copied_beyond_chance(self, confidence: float) -> list[AuditedSubject]:
        """Those where more stand than chance explains; of each there are two tests."""
        number = 2 * max(1, len(self._counted))
        level = 1 - stats.shared_confidence(confidence, number, self.error_share)
        return [one for one in self._counted if one.copies and one.copies.smallest_p_value <= level]

    @property
    def is_binary(self) -> bool:
        """Whether some finding is about a secret of two values."""
        return any(finding.is_binary for finding in self.all)

    @property
    def covers_records(self) -> bool:
        """Whether some audited finding is about records that share a release."""
        return any(finding.covers_records for finding in self.audited)


def _excludes_guessing(area: Estimate | None) -> bool:
    return area is not None and (area.low > 0.5 or area.high < 0.5)


def _differs(people: People, confidence: float) -> bool:
    return people.mean_differs(confidence) or people.somebody_is_exposed(confidence)


def leak(facts: SummaryFacts) -> tuple[float, float]:
    """Return how far from guessing a result lies, 0 to 1: at least (interval end), and about.

    Both directions count: who knows that an attack ranks members last may turn it round. Where it
    is known what the inputs alone tell, only what goes beyond that counts, and nothing does where
    these show that the split is unfit.
    """
    if facts.auc is not None:
        low, high, value = facts.auc.low, facts.auc.high, facts.auc.value
        found, about = max(2 * low - 1, 1 - 2 * high), abs(2 * value - 1)
        if facts.auc_gain is not None:
            found = min(found, 2 * facts.least_gain)
            about = min(about, 2 * facts.auc_gain.value)
        if facts.split_is_unfit:
            found = min(found, 0.0)
        return found, about
    if facts.advantage is not None:
        low, high, value = facts.advantage.low, facts.advantage.high, facts.advantage.value
        return max(low, -high), abs(value)
    room = 1 - facts.chance
    if not room > 0:
        return -1.0, 0.0
    low, value = facts.accuracy.low - facts.chance, facts.accuracy.value - facts.chance
    if facts.accuracy_gain is not None:
        low = facts.accuracy_gain.low
    return low / room, value / room


def largest_leak(facts: SummaryFacts) -> float:
    """Return how far from guessing a result may lie, by the other end of the interval; 1: all."""
    if facts.auc is not None:
        return max(2 * facts.auc.high - 1, 1 - 2 * facts.auc.low)
    if facts.advantage is not None:
        return max(facts.advantage.high, -facts.advantage.low)
    room, high = 1 - facts.chance, facts.accuracy.high - facts.chance
    if facts.accuracy_gain is not None:
        high = max(high, facts.accuracy_gain.high)
    return high / room if room > 0 else 1.0


def strength(facts: SummaryFacts) -> tuple[float, float]:
    """Return the order of results: what is certain first, then what is likely."""
    low, value = leak(facts)
    return (low, 0.0 if math.isnan(value) else value) if not math.isnan(low) else (-1.0, 0.0)


def strongest(findings: Iterable[Finding], key: Callable[[Finding], object]) -> list[Finding]:
    """Return the strongest finding for each value of `key`, in order of appearance."""
    found: dict[object, Finding] = {}
    for finding in findings:
        name = key(finding)
        if name not in found or finding.strength > found[name].strength:
            found[name] = finding
    return list(found.values())
