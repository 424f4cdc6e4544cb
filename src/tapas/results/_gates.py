"""Do the results stay under their limits? One function decides, for everybody."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tapas.results._audit_record import AuditRecord, Gate
from tapas.results._facts import Estimate, SummaryFacts, summary_facts
from tapas.results._label_inference import LabelInferenceAttackSummary

State = Literal["pass", "fail", "inconclusive"]

EXIT_FINE, EXIT_FAILED, EXIT_NOTHING_RAN, EXIT_INCONCLUSIVE = 0, 1, 5, 6


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
    """What the gates say together.

    Attributes
    ----------
    state : {"pass", "fail", "inconclusive", "none"}
        "none" where the audit has no gates.
    exit_code : int
    outcomes : tuple of GateOutcome
    words : str
    """

    state: str
    exit_code: int
    outcomes: tuple[GateOutcome, ...]
    words: str


def decide(record: AuditRecord, gates: Iterable[Gate] | None = None) -> Verdict:
    """Judge a record by its gates: they act on interval ends, and a crash never passes."""
    outcomes = tuple(_judge(record, gate) for gate in (record.gates if gates is None else gates))
    if not any(subject.summaries for subject in record.audited):
        words = "no attack was carried out"
        words += f": {record.stopped}" if record.stopped else ""
        return Verdict("inconclusive", EXIT_NOTHING_RAN, outcomes, words)
    if not outcomes:
        return Verdict("none", EXIT_FINE, (), "no gates were set")
    states = {outcome.state for outcome in outcomes}
    if "fail" in states:
        return Verdict("fail", EXIT_FAILED, outcomes, _count(outcomes, "fail", "failed"))
    if "inconclusive" in states:
        words = _count(outcomes, "inconclusive", "could not be decided")
        return Verdict("inconclusive", EXIT_INCONCLUSIVE, outcomes, words)
    return Verdict("pass", EXIT_FINE, outcomes, _count(outcomes, "pass", "passed"))


def _judge(record: AuditRecord, gate: Gate) -> GateOutcome:
    summaries = [
        (subject.name, summary)
        for subject in record.audited
        for summary in subject.summaries
        if isinstance(summary, LabelInferenceAttackSummary)
    ]
    crashes = sum(len(subject.crashes) for subject in record.audited)
    if not summaries:
        return GateOutcome(gate, "inconclusive", -math.inf, math.inf, "nothing was measured")
    # All attacks and targets are judged together, so each interval shares the error.
    confidence = 1 - (1 - gate.confidence) / len(summaries)
    delta = 0.0 if record.claim is None else record.claim.delta
    ends = []
    for subject, summary in summaries:
        facts = summary_facts(summary, subject, confidence=confidence, delta=delta, fpr=gate.fpr)
        found = _interval(facts, gate.metric)
        if found is None:
            words = (
                f"{gate.metric} is not defined for {facts.attack} on target {facts.target} (a "
                f"secret of more than two values, or of one only): limit accuracy instead"
            )
            return GateOutcome(gate, "inconclusive", -math.inf, math.inf, words)
        ends.append((*found, facts))
    worst = max(ends, key=lambda end: (end[0] > gate.at_most, end[1], end[0]))
    low, high, facts = worst
    name = {"auc": "AUC", "tpr_at_fpr": f"TPR at FPR {gate.fpr:g}"}.get(gate.metric, gate.metric)
    where = f"{facts.attack} on target {facts.target}"
    between = f"{name} between {_short(low)} and {_short(high)} ({where})"
    if low > gate.at_most:
        return GateOutcome(gate, "fail", low, high, f"{between}, above {gate.at_most:g}")
    if crashes:
        words = f"{crashes} attacks crashed, so nothing can pass; {between}"
        return GateOutcome(gate, "inconclusive", low, high, words)
    if high <= gate.at_most:
        return GateOutcome(gate, "pass", low, high, f"{between}, at most {gate.at_most:g}")
    words = f"{between}, limit {gate.at_most:g}: more trials are needed"
    return GateOutcome(gate, "inconclusive", low, high, words)


def _interval(facts: SummaryFacts, metric: str) -> tuple[float, float] | None:
    if metric == "epsilon":
        low = 0.0 if facts.epsilon is None else float(facts.epsilon)
        return low, facts.epsilon_high
    estimates: dict[str, Estimate | None] = {
        "accuracy": facts.accuracy,
        "advantage": facts.advantage,
        "auc": facts.auc,
        "tpr_at_fpr": facts.tpr_at_low_fpr,
    }
    estimate = estimates[metric]
    return None if estimate is None else (estimate.low, estimate.high)


def _count(outcomes: tuple[GateOutcome, ...], state: str, words: str) -> str:
    if len(outcomes) == 1:
        return f"the gate {words}"
    number = sum(outcome.state == state for outcome in outcomes)
    return f"{number} of {len(outcomes)} gates {words}"


def _short(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.3g}"
