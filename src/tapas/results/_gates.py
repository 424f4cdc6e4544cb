"""Do the results stay under their limits? One function decides, for everybody."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from tapas._validate import listing
from tapas.results._audit_record import AuditRecord
from tapas.results._claims import ClaimOutcome
from tapas.results._constant import is_constant, unseen_targets
from tapas.results._dropped_columns import compared_columns, dropped_columns
from tapas.results._facts import SummaryFacts, facts_within, judged_summaries, shared_by_audited
from tapas.results._findings import Findings
from tapas.results._gate_remedies import at_few_false_alarms
from tapas.results._label_inference import (
    BinaryLabelInferenceAttackSummary,
    LabelInferenceAttackSummary,
)
from tapas.results._limits import Gate, beyond_reach
from tapas.results._measures import MEASURES
from tapas.results._people import exposed_people
from tapas.results._performance import gap_over_all, ratio_over_all
from tapas.results._rounding import hardly_positive, rounded_down, rounded_up
from tapas.results._unfit_splits import (
    UNFIT_SPLIT,
    facts_of_unfit_splits,
    unfit_splits,
    unfit_words,
)
from tapas.results._without_score import trials_without_score
from tapas.stats import Dependence, shared_confidence

__all__ = ["GateOutcome", "Verdict", "decide", "gate_title"]

State = Literal["pass", "fail", "inconclusive"]

EXIT_FINE, EXIT_FAILED, EXIT_NOTHING_RAN, EXIT_INCONCLUSIVE = 0, 1, 5, 6
_ONE_SIDED = (
    "an audit can show that an epsilon is larger, never that it is smaller, so this gate can fail "
    "and cannot pass"
)
_NO_MORE_TRIALS = (
    "there is one release only; more records whose membership is known would narrow the interval"
)
_RANKED = "ranked below and above all others"
_OF_MODELS = {"accuracy_gap": gap_over_all, "accuracy_ratio": ratio_over_all}
_LIMITED = {measure.gate: measure for measure in MEASURES if measure.gate is not None}


@dataclass(frozen=True)
class GateOutcome:
    """What became of a gate.

    Attributes
    ----------
    gate : Gate
    state : {"pass", "fail", "inconclusive"}
    low, high : float
        Ends of the interval of the attack and target that decided.
    words : str
    """

    gate: Gate
    state: State
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class Verdict:
    """What the gates and the claim say together.

    Attributes
    ----------
    state : {"pass", "fail", "inconclusive", "none"}
        "none" where the audit has no gates and its claim, if any, is not contradicted.
    exit_code : int
    outcomes : tuple of GateOutcome
    words : str
    claim : ClaimOutcome or None
        None where the audit states no claim.
    """

    state: Literal["pass", "fail", "inconclusive", "none"]
    exit_code: int
    outcomes: tuple[GateOutcome, ...]
    words: str
    claim: ClaimOutcome | None = None

    @property
    def contradicts_claim(self) -> bool:
        """Whether more was shown than the claim allows."""
        return self.claim is not None and self.claim.state == "contradicted"


def decide(record: AuditRecord, gates: Iterable[Gate] | None = None) -> Verdict:
    """Judge a record by its gates and its claim.

    Gates act on interval ends, and a crash never passes. A limit on the accuracy of guesses of an
    attribute decides nothing: `accuracy_gain` is beside the best guess. Where members and others
    come from different distributions, no comparison of the two passes or fails. Copies that chance
    does not explain fail an audit with gates, unless one of them says how many may be copied. A
    claim that is contradicted fails; one that is not is no reason to pass.
    """
    limits = tuple(record.gates if gates is None else gates)
    outcomes = (*(_judge(record, gate) for gate in limits), *_unlimited_copies(record, limits))
    claim = None if record.claim is None else Findings(record).claim
    if not any(subject.summaries for subject in record.audited):
        words = "no attack was carried out"
        words += f": {record.stopped}" if record.stopped else ""
        return Verdict("inconclusive", EXIT_NOTHING_RAN, outcomes, words, claim)
    states = {outcome.state for outcome in outcomes}
    if claim is not None and claim.state == "contradicted":
        words = "the claimed epsilon is contradicted"
        words += f"; {_said(outcomes)}" if outcomes else ""
        return Verdict("fail", EXIT_FAILED, outcomes, words, claim)
    if not outcomes and record.complete:
        return Verdict("none", EXIT_FINE, (), "no gates were set", claim)
    if "fail" in states:
        return Verdict("fail", EXIT_FAILED, outcomes, _said(outcomes), claim)
    if not outcomes:
        words = "the run could not be finished"
        return Verdict("inconclusive", EXIT_INCONCLUSIVE, (), words, claim)
    if "inconclusive" in states:
        words = _said(outcomes) + f": {UNFIT_SPLIT}" * bool(unfit_splits(record))
        return Verdict("inconclusive", EXIT_INCONCLUSIVE, outcomes, words, claim)
    return Verdict("pass", EXIT_FINE, outcomes, _said(outcomes), claim)


def gate_title(gate: Gate) -> str:
    """What a gate limits, as people write it."""
    measure = _LIMITED.get(gate.metric)
    if gate.metric == "exposed_people":
        return "Share of people exposed"
    if measure is None:
        return gate.metric.replace("_", " ").capitalize()
    return measure.title if measure.at_fpr is None else measure.at_fpr(gate.fpr).title


def _judge(record: AuditRecord, gate: Gate) -> GateOutcome:
    if gate.metric == "dropped_columns":
        return _judge_dropped(record, gate)
    if gate.metric == "copied_records":
        return _judge_copies(record, gate)
    if gate.metric in _OF_MODELS:
        return _judge_performance(record, gate)
    if gate.metric == "exposed_people":
        return _judge_people(record, gate)
    # All attacks and targets are judged together, so each interval shares the error.
    confidence = shared_by_audited(record, gate.confidence)
    ends, undefined, more = [], "", False
    for subject in record.audited:
        for summary in judged_summaries(subject):
            facts = facts_within(record, subject, summary, confidence=confidence, fpr=gate.fpr)
            interval, where = _ends(facts, gate), _whose(summary)
            if gate.metric == "accuracy" and _guesses_an_attribute(summary):
                undefined = undefined or (
                    f"a limit on accuracy says nothing of guesses of an attribute ({where}; "
                    f"{100 * facts.chance:.3g}% are right without the release): limit "
                    "accuracy_gain instead"
                )
                continue
            if interval is None:
                undefined = (
                    undefined or f"{gate.metric} is not defined for {where} {_why(gate, summary)}"
                )
                continue
            where += _conditions(facts, gate)
            more |= not summary.dependence.is_by_record
            ends.append(_Ends(*interval, where, facts))
    unfit = [end for end in ends if end.facts.split_is_unfit]
    if unfit and not any(end.is_above(gate) for end in ends):
        return _on_unfit_split(gate, _deciding(unfit, gate))
    if undefined and not any(end.is_above(gate) for end in ends):
        return _undecided(gate, undefined)
    if not ends:
        return _undecided(gate, "nothing was measured")
    worst = _deciding(ends, gate)
    if worst.low > gate.at_most and worst.is_of_inputs:
        return _of_inputs(gate, worst)
    settled = [beyond_reach(gate, end.facts.summary.chance) for end in ends]
    if all(settled):
        return _undecided(gate, f"a limit of {gate.at_most:g} cannot fail: {settled[0]}")
    remedy = "" if worst.is_decided(gate) else _remedy(gate, worst, more)
    return _outcome(gate, worst.low, worst.high, worst.where, _hindrance(record), remedy)


def _whose(summary: LabelInferenceAttackSummary) -> str:
    about = "all records" if summary.target_id == "all" else f"target {summary.target_id}"
    return f"{summary.attack} on {about}"


def _guesses_an_attribute(summary: LabelInferenceAttackSummary) -> bool:
    """Whether the best guess without the release may be right about any share of the trials.

    Models of all shares of a property are as many.
    """
    return bool(summary.sensitive_attribute) and summary.dependence is not Dependence.UNRELATED


def _conditions(facts: SummaryFacts, gate: Gate) -> str:
    """What must be known to read the interval, if anything."""
    said, measure = [], _LIMITED.get(gate.metric)
    if gate.metric in ("precision", "recall"):
        said.append("of the guesses as they were made: limit advantage for either way round")
    if gate.metric == "precision":
        said.append(f"{100 * facts.positive_share:.3g}% of the trials are positive")
    if gate.metric == "epsilon" and facts.epsilon is not None and facts.epsilon.conditions:
        said.append(facts.epsilon.conditions)
    found = "".join(f"; {words}" for words in said)
    if measure is None:
        return found
    silent = int(trials_without_score(facts.summary).sum())
    return found + _silent_words(silent, "guessed in every way" if measure.of_guesses else _RANKED)


def _silent_words(number: int, how: str) -> str:
    return f"; {number:,} trials without a score count as {how}" * (number > 0)


def _remedy(gate: Gate, worst: "_Ends", more: bool) -> str:
    """What would decide a limit that is open."""
    if gate.metric == "epsilon":
        why = worst.facts.no_epsilon
        return f"none is certified: {why}" if why else _ONE_SIDED
    found = None
    if gate.metric == "tpr_at_fpr":
        found = at_few_false_alarms(
            worst.facts, lambda facts: _is_decided(_ends(facts, gate), gate)
        )
    return found or ("more trials are needed" if more else _NO_MORE_TRIALS)


def _is_decided(ends: tuple[float, float] | None, gate: Gate) -> bool:
    return ends is not None and (ends[0] > gate.at_most or ends[1] <= gate.at_most)


def _hindrance(record: AuditRecord) -> str:
    """Why nothing can pass, whatever was measured; empty if nothing is in the way."""
    if not record.complete:
        return "the mechanism failed too often"
    crashes = sum(len(subject.crashes) for subject in record.audited)
    if crashes:
        return f"{crashes} attack{'s' * (crashes > 1)} crashed"
    for subject in record.audited:
        unseen = unseen_targets(subject)
        if unseen:
            about = "" if unseen == ["all"] else f" for target {listing(unseen, 3, show=str)}"
            return f"every attack gave all trials of {subject.name} the same score{about}"
    return ""


@dataclass(frozen=True, eq=False)
class _Ends:
    """Ends of the interval of one attack and target."""

    low: float
    high: float
    where: str
    facts: SummaryFacts

    @property
    def is_of_inputs(self) -> bool:
        """Whether the result may be what the inputs alone tell."""
        if self.facts.auc_gain is None:
            return False
        return self.facts.least_gain <= 0 or self.facts.split_is_unfit

    def is_decided(self, gate: Gate) -> bool:
        """Whether the limit lies outside the interval."""
        return _is_decided((self.low, self.high), gate)

    def sides(self, gate: Gate) -> tuple[bool, bool]:
        """Whether the interval lies above the limit, and whether it does not reach above it."""
        return self.low > gate.at_most, self.high <= gate.at_most

    def is_above(self, gate: Gate) -> bool:
        return self.low > gate.at_most and not self.is_of_inputs


def _of_inputs(gate: Gate, end: _Ends) -> GateOutcome:
    alone = math.nan if end.facts.inputs_auc is None else end.facts.inputs_auc.value
    room = end.facts.room_of_sides
    gained = f"is not surely above {room:g}" if room else "may be chance"
    words = (
        f"{gate_title(gate)} of at least {rounded_down(end.low, 3)} ({end.where}) is above "
        f"{gate.at_most:g}, but {end.facts.alone}, without the {end.facts.what}, reach an "
        f"AUC of {alone:.3f}, and what is gained beyond that {gained}"
    )
    return GateOutcome(gate, "inconclusive", end.low, end.high, words)


def _on_unfit_split(gate: Gate, end: _Ends) -> GateOutcome:
    """Neither passed nor failed: what is measured may be the split's, or hidden by it."""
    words = (
        f"{_interval(gate, end.low, end.high)} ({end.where}), limit {gate.at_most:g}, decides "
        f"nothing: {unfit_words(end.facts)}"
    )
    return GateOutcome(gate, "inconclusive", end.low, end.high, words)


def _deciding(ends: list[_Ends], gate: Gate) -> _Ends:
    """Where a limit is exceeded, the strongest attack; otherwise the least certain one.

    Of those that decide alike, one that said the same of every trial is cited only for want of
    another.
    """
    above = [end for end in ends if end.is_above(gate)]
    if above:
        return max(above, key=lambda end: (end.low, end.high))
    worst = max(ends, key=lambda end: (end.high, end.low))
    alike = [end for end in ends if end.sides(gate) == worst.sides(gate)]
    seeing = [end for end in alike if not is_constant(end.facts.summary)]
    return max(seeing or [worst], key=lambda end: (end.high, end.low))


def _judge_people(record: AuditRecord, gate: Gate) -> GateOutcome:
    """Which share of the people lies above an AUC: at least by their lower limits, at most so."""
    people = exposed_people(record, gate.confidence)
    if len(people) < len(record.audited) or not people:
        return _undecided(gate, "people are counted where at least five are judged from releases")
    shares = [(one.at_least("low", gate.above) / len(one.table), one) for one in people]
    low, worst = max(shares, key=lambda found: found[0])
    high = max(one.at_least("high", gate.above) / len(one.table) for one in people)
    where = f"AUC above {gate.above:g}, {len(worst.table)} people in {worst.subject}"
    where += _silent_words(
        sum(
            int(trials_without_score(summary).sum())
            for subject in record.audited
            for summary in judged_summaries(subject)
        ),
        _RANKED,
    )
    return _outcome(gate, low, high, where, _hindrance(record), "more trials are needed")


def _judge_dropped(record: AuditRecord, gate: Gate) -> GateOutcome:
    dropped = dropped_columns(record)
    if dropped is None:
        return _undecided(gate, "the record does not say which columns were left out")
    number = float(len(dropped))
    state: State = "fail" if number > gate.at_most else "pass"
    words = f"{len(dropped)} columns were left out of the audit"
    words += f" ({listing(dropped, 5, show=str)})" if dropped else ""
    return GateOutcome(gate, state, number, number, f"{words}, limit {gate.at_most:g}")


def _judge_copies(record: AuditRecord, gate: Gate) -> GateOutcome:
    counted = [one.copies for one in record.audited if one.copies is not None]
    if not counted:
        return _undecided(gate, "copies are counted in released files only")
    share = Findings(record).error_share
    level = shared_confidence(gate.confidence, len(counted), share)
    ends = [(float(one.least(level)), float(one.most(level)), one) for one in counted]
    low, high, worst = max(ends, key=lambda end: (end[0] > gate.at_most, end[1], end[0]))
    words = f"{worst.count(compared_columns(record))}; {worst.beside}"
    limit = f"limit {gate.at_most:g}"
    if low > gate.at_most or high <= gate.at_most:
        state: State = "fail" if low > gate.at_most else "pass"
        return GateOutcome(gate, state, low, high, f"{words}; {limit}")
    least = (
        f"at least {low:g} of them count, word for word or near beyond chance, "
        f"and no more than {high:g}"
    )
    return GateOutcome(gate, "inconclusive", low, high, f"{words}; {least}: {limit}")


def _unlimited_copies(record: AuditRecord, gates: tuple[Gate, ...]) -> tuple[GateOutcome, ...]:
    """Other limits do not let copies pass."""
    if not gates or any(gate.metric == "copied_records" for gate in gates):
        return ()
    if not Findings(record).copied:
        return ()
    found = _judge_copies(record, Gate("copied_records", 0.0))
    words = f"{found.words}, as long as copied_records (--max-copies) sets no other"
    return (replace(found, words=words),)


def _judge_performance(record: AuditRecord, gate: Gate) -> GateOutcome:
    """The accuracies over all records of every model, trained on and others."""
    models = [subject for subject in record.audited if subject.performance is not None]
    if not models:
        return _undecided(gate, "there is no model whose training records are known")
    level = shared_confidence(gate.confidence, len(models))
    compared = _OF_MODELS[gate.metric]
    ends = [(*compared(one.performance, level), one) for one in models if one.performance]
    unfit = {facts.subject: facts for facts in facts_of_unfit_splits(record)}
    fit = [end for end in ends if end[2].name not in unfit]
    if len(fit) < len(ends) and not any(low > gate.at_most for low, _, _ in fit):
        low, high, worst = max(
            (end for end in ends if end not in fit), key=lambda end: (end[0], end[1])
        )
        return _on_unfit_split(gate, _Ends(low, high, worst.name, unfit[worst.name]))
    low, high, worst = max(fit, key=lambda end: (end[0] > gate.at_most, end[1]))
    remedy = "more records whose membership is known would narrow the interval"
    return _outcome(gate, low, high, worst.name, "", remedy)


def _outcome(
    gate: Gate, low: float, high: float, where: str, hindrance: str, remedy: str
) -> GateOutcome:
    between = f"{_interval(gate, low, high)} ({where})"
    if low > gate.at_most:
        return GateOutcome(gate, "fail", low, high, f"{between}, above {gate.at_most:g}")
    if hindrance:
        words = f"{hindrance}, so nothing can pass; {between}"
        return GateOutcome(gate, "inconclusive", low, high, words)
    if high <= gate.at_most:
        return GateOutcome(gate, "pass", low, high, f"{between}, at most {gate.at_most:g}")
    words = f"{between}, limit {gate.at_most:g}: {remedy}"
    return GateOutcome(gate, "inconclusive", low, high, words)


def _interval(gate: Gate, low: float, high: float) -> str:
    """What was shown of what is limited; an epsilon has a lower end alone."""
    title = gate_title(gate)
    if math.isfinite(high):
        return f"{title} between {rounded_down(low, 3)} and {rounded_up(high, 3)}"
    if low <= 0:
        return f"{title} not shown to be above 0"
    least = "above 0" if hardly_positive(low) else f"of at least {rounded_down(low)}"
    return f"{title} {least}".replace("∞", "infinity")


def _undecided(gate: Gate, words: str) -> GateOutcome:
    return GateOutcome(gate, "inconclusive", -math.inf, math.inf, words)


def _ends(facts: SummaryFacts, gate: Gate) -> tuple[float, float] | None:
    """Ends of what is limited, whichever way round the attack is used."""
    measure = _LIMITED.get(gate.metric)
    if measure is not None and measure.fact is not None:
        found = facts.either_way(measure.fact)
        return None if found is None else (found.low, found.high)
    return (0.0 if facts.epsilon is None else float(facts.epsilon)), math.inf


def _why(gate: Gate, summary: LabelInferenceAttackSummary) -> str:
    """Why a measure is not defined."""
    if not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return "(the secret has more than two values): limit accuracy_gain instead"
    if gate.metric == "precision" and not (summary.predictions == 1).any():
        return "(no guess was positive)"
    if summary.has_one_secret:
        return "(all trials have the same secret)"
    if gate.metric == "auc_gain" and summary.inputs_alone is None:
        return "(there are no inputs to compare with)"
    if gate.metric == "accuracy_gain" and not summary.sensitive_attribute:
        return "(it is for attributes)"
    return "(too few trials, or pairs of which one failed)"


def _said(outcomes: tuple[GateOutcome, ...]) -> str:
    words = {"fail": "failed", "inconclusive": "could not be decided", "pass": "passed"}
    states = [outcome.state for outcome in outcomes]
    worst = next(state for state in words if state in states)
    said = "the gate" if len(outcomes) == 1 else f"{states.count(worst)} of {len(outcomes)} gates"
    reasons = "; ".join(_reason(outcome) for outcome in outcomes if outcome.state == "fail")
    return f"{said} {words[worst]}" + f": {reasons}" * bool(reasons)


def _reason(outcome: GateOutcome) -> str:
    """Why a gate failed; how much is copied is told beside every verdict."""
    gate = outcome.gate
    if gate.metric == "copied_records":
        return f"{gate_title(gate)} above {gate.at_most:g}"
    return outcome.words
