"""What a summary says, each number with the interval it deserves."""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from tapas import stats
from tapas.errors import StatisticsError
from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import AuditedSubject
from tapas.results._best_guess import best_guess
from tapas.results._estimate import Estimate, estimate, of_both_ways
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._measures import LOW_FPR, MEASURES, Measure
from tapas.results._without_score import ways_of_guessing, ways_of_ranking
from tapas.results._worlds import Worlds
from tapas.stats import Dependence

__all__ = [
    "SummaryFacts",
    "facts_within",
    "judged_summaries",
    "record_facts",
    "shared_by_audited",
    "summary_facts",
]


LIKELY = 0.95  # of calling for a gain that no small difference of the sides explains
STRONG = 0.9999  # of calling a split unfit
ODDS_OF_A_SIDE = 2.0  # that may come of what sets the sides apart and was not found
NEGLIGIBLE = 0.02  # of an AUC: what inputs alone may tell of a split that is fit
_MEASURED = {measure.fact: measure for measure in MEASURES if measure.fact is not None}


@dataclass(frozen=True, eq=False)
class SummaryFacts:
    """One attack on one target, in numbers, each computed when it is first asked for.

    Attributes
    ----------
    summary : LabelInferenceAttackSummary
    subject, role : str
        What was attacked.
    confidence : float
        Of each interval on its own.
    delta, family
        Of the certificate of epsilon.
    fpr : float
        At which `tpr_at_low_fpr` is taken.
    in_files : bool
        Whether it was about released files.
    inputs_are_known : bool
        Whether inputs of the records were there to compare, and not classes only.
    """

    summary: LabelInferenceAttackSummary
    subject: str
    role: str
    confidence: float
    delta: float
    family: str | None
    fpr: float
    in_files: bool = False
    inputs_are_known: bool = True
    _known: dict[str, Estimate | None] = field(default_factory=dict, repr=False)

    def at(self, confidence: float) -> "SummaryFacts":
        """The same with another confidence."""
        return replace(self, confidence=confidence, _known={})

    @property
    def is_of_model(self) -> bool:
        """Whether records of one model were judged, beside what is told without it."""
        return self.summary.inputs_alone is not None and not self.in_files

    @property
    def what(self) -> str:
        """The word for what was attacked, where it is told from what is known without it."""
        return "release" if self.in_files else "model"

    @property
    def known(self) -> str:
        """The word for what is known without it."""
        if self.in_files:
            return "records"
        return "inputs" if self.inputs_are_known else "classes"

    @property
    def alone(self) -> str:
        """The words for guessing from that."""
        return f"the {self.known} alone"

    @property
    def attack(self) -> str:
        """Label of the attack."""
        return str(self.summary.attack)

    @property
    def target(self) -> str:
        """Name of the target."""
        return str(self.summary.target_id)

    @property
    def generator(self) -> str:
        """Name of the mechanism."""
        return str(self.summary.generator)

    @property
    def dataset(self) -> str:
        """Name of the data."""
        return str(self.summary.dataset)

    @property
    def trials(self) -> int:
        """How many there are."""
        return len(self.summary)

    @property
    def positive_share(self) -> float:
        """Share of the trials that are positive, which is the precision of guessing."""
        return float((self.summary.labels == 1).mean())

    @property
    def dependence(self) -> Dependence:
        """How the trials depend on each other."""
        return self.summary.dependence

    @cached_property
    def chance(self) -> float:
        """Accuracy of the best guess without the release."""
        return best_guess(self.summary)

    @property
    def epsilon(self) -> stats.EpsilonBound | None:
        """The default certificate (`tapas.stats.certificate`); the one-run bound with coins."""
        return self._certified[0]

    @property
    def no_epsilon(self) -> str | None:
        """Why there is no certificate."""
        return self._certified[1]

    @cached_property
    def _certified(self) -> tuple[stats.EpsilonBound | None, str | None]:
        return _epsilon(self.summary, self.confidence, self.delta, self.family)

    @cached_property
    def surest(self) -> stats.TopScores | None:
        """Whose the highest scores are, of records judged in one release of files, or one model.

        Its p-value holds over earlier looks too. A model may be sure of records of a kind that one
        side has more of than was found without it, so that odds of two are no leak there.
        """
        if self.dependence is not Dependence.ONE_RELEASE or self.told_by_inputs:
            return None
        if (
            self.summary.has_one_secret
            or self.summary.secret_kind != "binary"
            or self.summary.scores is None
        ):
            return None
        worlds = Worlds.of(self.summary)
        odds = ODDS_OF_A_SIDE if self.is_of_model else 1.0
        found = stats.top_scores(worlds.positive, worlds.negative, odds=odds)
        (p_value,) = stats.shared_p_values([found.p_value], 1, self.summary.error_share)
        return found._replace(p_value=float(p_value))

    def measured(self, fact: str) -> Estimate | None:
        """A measure by the name that facts have for it (`Measure.fact`), if it is defined."""
        if fact not in self._known:
            self._known[fact] = estimate(self._at(fact), self.summary, self.confidence)
        return self._known[fact]

    def either_way(self, fact: str) -> Estimate | None:
        """The same of an attacker who may turn every guess round, if that tells him more.

        Trials without a score count as guessed in every way, or as ranked below and above all
        others; these ways share the error. That there is no release, or no score, is seen too.
        """
        of_guesses = self._at(fact).of_guesses
        ways = self._ways_of_guessing if of_guesses else self._ways_of_ranking
        found = [one._turned_too(fact) for one in ways]
        if found[0] is None or len(found) == 1:
            return found[0]
        known = [one for one in found if one is not None]
        ends = ((one.value, one.low, one.high) for one in known)
        return Estimate(*map(max, zip(*ends, strict=True)))

    @cached_property
    def _ways_of_guessing(self) -> "tuple[SummaryFacts, ...]":
        return self._sharing(ways_of_guessing(self.summary))

    @cached_property
    def _ways_of_ranking(self) -> "tuple[SummaryFacts, ...]":
        return self._sharing(ways_of_ranking(self.summary))

    def _sharing(self, ways: tuple[LabelInferenceAttackSummary, ...]) -> "tuple[SummaryFacts, ...]":
        if len(ways) == 1:
            return (self,)
        level = stats.shared_confidence(self.confidence, len(ways))
        return tuple(replace(self, summary=one, confidence=level, _known={}) for one in ways)

    def _turned_too(self, fact: str) -> Estimate | None:
        found, measure = self.measured(fact), self._at(fact)
        both = of_both_ways(measure, self.summary, self.confidence)
        if found is None or both is not None:
            return both
        if measure.turns_about is None or self.summary.secret_kind != "binary":
            return found
        return found.turned_up(measure.turns_about)

    def _at(self, fact: str) -> Measure:
        measure = _MEASURED[fact]
        return measure if measure.at_fpr is None else measure.at_fpr(self.fpr)

    @property
    def accuracy(self) -> Estimate:
        """Share of right guesses."""
        return self.measured("accuracy") or Estimate(math.nan, 0.0, 1.0)

    @property
    def accuracy_gain(self) -> Estimate | None:
        """How far that is above the best guess without the release, of attributes."""
        return self.measured("accuracy_gain")

    @property
    def advantage(self) -> Estimate | None:
        """True minus false positive rate."""
        return self.measured("advantage")

    @property
    def auc(self) -> Estimate | None:
        """Area under the ROC curve."""
        return self.measured("auc")

    @property
    def inputs_auc(self) -> Estimate | None:
        """The same of what the inputs alone tell, where that is known."""
        return self.measured("inputs_auc")

    @property
    def auc_gain(self) -> Estimate | None:
        """How far the one is above the other."""
        return self.measured("auc_gain")

    @property
    def inputs_tell_nothing(self) -> bool:
        """Whether nothing was found that inputs alone tell, so that they say the same of all."""
        alone = self.summary.inputs_alone
        return alone is not None and bool((alone == alone[:1]).all())

    @property
    def told_by_inputs(self) -> bool:
        """Whether the secrets can be told without the release, for certain."""
        return self.inputs_auc is not None and self.inputs_auc.low > 0.5

    @cached_property
    def sides_differ(self) -> bool:
        """Whether members and others differ without the release, beyond reasonable doubt.

        What inputs tell is the best of several cross-fitted classifiers, and looked at in every
        audit of the same files: at 95 %, one split at random in ten would be said to differ.
        """
        return self._sides_are_told(STRONG)

    @cached_property
    def sides_may_differ(self) -> bool:
        """Whether they do for all that is known at 95 %, at which one fit split in ten does."""
        return self._sides_are_told(LIKELY)

    def _sides_are_told(self, confidence: float) -> bool:
        if self.summary.inputs_alone is None or str(self.summary.sensitive_attribute):
            return False
        found = estimate(self._at("inputs_auc"), self.summary, confidence)
        return found is not None and found.low > 0.5

    @property
    def split_is_unfit(self) -> bool:
        """Whether they differ by more than very many records make of any difference.

        No result on such a split is that of the model: its scores may tell more of the inputs than
        those classifiers, whomever it was trained on.
        """
        alone = self.inputs_auc
        return self.sides_differ and alone is not None and alone.value > 0.5 + NEGLIGIBLE

    @property
    def room_of_sides(self) -> float:
        """What of a gain may come of a small difference of the sides that a model tells better."""
        return NEGLIGIBLE * self.sides_may_differ

    @property
    def least_gain(self) -> float:
        """What is gained beyond the inputs at least, less that room."""
        return math.nan if self.auc_gain is None else self.auc_gain.low - self.room_of_sides

    @property
    def tpr_at_low_fpr(self) -> Estimate | None:
        """True positive rate at a false positive rate of 1 %, or that asked for."""
        return self.measured("tpr_at_low_fpr")


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


def shared_by_audited(record: AuditRecord, confidence: float, ways: int = 1) -> float:
    """Confidence of each interval when all that is said of audited subjects is to hold together.

    With `ways` of saying it, each of which may be wrong.
    """
    number = sum(len(judged_summaries(subject)) for subject in record.audited)
    return stats.shared_confidence(confidence, ways * max(1, number))


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
            in_files=subject.copies is not None,
            inputs_are_known=subject.inputs_are_known,
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
    in_files: bool = False,
    inputs_are_known: bool = True,
) -> SummaryFacts:
    """Facts of one summary."""
    where = (subject, role, confidence, delta, family, fpr)
    return SummaryFacts(summary, *where, in_files, inputs_are_known)


def _epsilon(
    summary: LabelInferenceAttackSummary, confidence: float, delta: float, family: str | None
) -> tuple[stats.EpsilonBound | None, str | None]:
    if not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None, "tapas certifies none for a secret of more than two values"
    if summary.has_one_secret:
        return None, "all trials have the same secret"
    try:
        bound = stats.certificate(summary, confidence=confidence, delta=delta, family=family).bound
    except StatisticsError as error:
        return None, summary.dependence.refusal or str(error)
    return bound, None
