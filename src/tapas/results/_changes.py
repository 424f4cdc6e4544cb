"""What changed between audits, each difference with its interval."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tapas.errors import ConfigError
from tapas.results._audit_record import AuditRecord
from tapas.results._copies import Copies
from tapas.results._costs import Cost, costs_between, costs_in_words
from tapas.results._estimate import Estimate
from tapas.results._facts import SummaryFacts, summary_facts
from tapas.results._findings import CONFIDENCE, Finding, Findings
from tapas.results._people import mean_over_people
from tapas.results._question_changes import question_differences
from tapas.results._without_score import trials_without_score
from tapas.stats import clopper_pearson, shared_confidence

__all__ = ["Change", "RecordComparison", "compare_records"]

_Key = tuple[str, str, str, str]
Kind = Literal["same", "mean", "strongest", "copies"]
# What is said where more than the same attack on the same target is compared.
_INSTEAD: dict[Kind, str] = {
    "mean": "Over all targets, which need not be the same in both",
    "strongest": "The strongest result of either, which need not be of the same attack",
    "copies": "Share of the private records that the release holds, but for one column at most",
}


@dataclass(frozen=True)
class Change:
    """One attack on one target, in the first record and in a later one; or what stands for it.

    Attributes
    ----------
    record
        Name of the later record.
    subject, role, attack, target, attribute
        What was attacked, and how.
    metric : {"auc", "accuracy", "copied"}
        Higher is worse for privacy.
    before, after, difference : Estimate
        Intervals hold together over all changes of the comparison. An AUC below one half tells as
        much as one as far above it: what differs is how far they are from one half. Where trials
        have no score, they rank below or above all others, whichever tells more.
    epsilon_before, epsilon_after : float or None
        Certified lower bounds, each with 95 % confidence on its own; their difference
        bounds nothing.
    state : {"better", "worse", "unclear"}
        Whether the interval of the difference lies below 0, above 0, or around it.
    kind : {"same", "mean", "strongest", "copies"}
        The same attack and target in both; the mean of an attack over all targets of either;
        the strongest result of either, where that is not the same attack and target; or the share
        of private records that released files hold.
    """

    record: str
    subject: str
    role: str
    attack: str
    target: str
    attribute: str
    metric: str
    before: Estimate
    after: Estimate
    difference: Estimate
    epsilon_before: float | None
    epsilon_after: float | None
    state: Literal["better", "worse", "unclear"]
    kind: Kind = "same"


@dataclass(frozen=True, eq=False)
class _Pair:
    """What is compared: a result of the first record, and one of a later."""

    label: str
    old: Finding
    new: Finding
    kind: Kind
    records: tuple[Findings, Findings]


@dataclass(frozen=True)
class RecordComparison:
    """Two or more records side by side; the first is what the others are compared with.

    Attributes
    ----------
    names : tuple of str
    changes : tuple of Change
        Largest certain change for the worse first.
    unmatched : tuple of (name, text)
        Results that only one record has.
    questions : tuple of (name, path, before, after)
        Where the questions differ.
    costs : tuple of Cost
        What became of the accuracy of models on records that they were not trained on. It counts
        neither as better nor as worse.
    confidence : float
        Of all intervals of differences together.
    """

    names: tuple[str, ...]
    changes: tuple[Change, ...]
    unmatched: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str, str, str], ...]
    costs: tuple[Cost, ...] = ()
    confidence: float = CONFIDENCE

    @property
    def words(self) -> list[str]:
        """What got better or worse, one sentence for each later record."""
        return [self._sentence(name) for name in self.names[1:]]

    def count(self, name: str, state: str) -> int:
        """How many changes of an audited subject have this state."""
        return sum(c.record == name and c.state == state for c in self._audited())

    def _audited(self) -> list[Change]:
        return [change for change in self.changes if change.role == "audited"]

    def _sentence(self, name: str) -> str:
        total = sum(change.record == name for change in self._audited())
        if not total:
            return f"{name} has no audited result in common with {self.names[0]}."
        kinds = {change.kind for change in self._audited() if change.record == name}
        what = "results in common" if kinds == {"same"} else "comparisons"
        what = what.replace("s ", " ", 1).removesuffix("s") if total == 1 else what
        return (
            f"{name} against {self.names[0]}: of {total:,} {what}, "
            f"{self.count(name, 'worse')} got worse (more leaks), {self.count(name, 'better')} got "
            f"better, {self.count(name, 'unclear')} did not change clearly."
            + "".join(self._instead(name, kind) for kind in _INSTEAD if kind in kinds)
            + costs_in_words([cost for cost in self.costs if cost.record == name])
        )

    def _instead(self, name: str, kind: Kind) -> str:
        found = [c for c in self._audited() if c.record == name and c.kind == kind]
        if kind == "copies":
            said = [
                f"{100 * c.before.value:.3g}% before, {100 * c.after.value:.3g}% after ({c.state})"
                for c in found
            ]
            return f" {_INSTEAD[kind]}: {'; '.join(said)}."
        said = [
            f"{c.attack}: {'mean ' * (kind == 'mean')}{c.metric.replace('auc', 'AUC')} "
            f"{c.before.value:.2f} before, {c.after.value:.2f} after ({c.state})"
            for c in found
        ]
        return f" {_INSTEAD[kind]}: {'; '.join(said)}."


def compare_records(
    records: Sequence[AuditRecord], names: Sequence[str] | None = None
) -> RecordComparison:
    """Say what got better or worse since the first record.

    Results are matched by subject, attack, target and attribute; where each of two
    records has one audited subject, these are compared whatever their names. The mean AUC of an
    attack over its targets (five or more, judged from the same releases) is compared too, whether
    or not the targets are the same; without means, so are the strongest results of either.

    Notes
    -----
    Assumes: the trials of different records are independent, or, where seeds are shared,
    not negatively dependent. Guarantees: the intervals of all differences hold together with
    about 95 % confidence. They join the intervals of the two estimates by squaring and adding
    the distances to their ends (Zou and Donner 2008), each at a level that shares the error
    between all changes; where the strongest were picked out, between all that could have been.
    """
    if len(records) < 2:
        raise ConfigError(f"a comparison needs at least two records, got {len(records)}")
    labels = _names(records, names)
    first, *others = (Findings(record) for record in records)
    pairs: list[_Pair] = []
    copied: list[tuple[str, str, Copies, Copies]] = []
    costs: list[Cost] = []
    unmatched: list[tuple[str, str]] = []
    for label, later in zip(labels[1:], others, strict=True):
        key = _matching(first, later)
        old = {key(result): result for result in reversed(first.all)}
        new = {key(result): result for result in reversed(later.all)}
        both = (first, later)
        found = [
            _Pair(label, old[name], new[name], "same", both)
            for name in reversed(new)
            if name in old
        ]
        found += [_Pair(label, *pair, "mean", both) for pair in _over_people(old, new, both)]
        found += [_Pair(label, *pair, "strongest", both) for pair in _strongest(*both, found)]
        pairs += found
        copied += [(label, *both_copies) for both_copies in _copied(first, later)]
        costs += costs_between(label, first.record, later.record)
        unmatched += [(labels[0], _text(old[k])) for k in reversed(old) if k not in new]
        unmatched += [(label, _text(new[k])) for k in reversed(new) if k not in old]
    level = shared_confidence(CONFIDENCE, max(1, len(pairs) + len(copied)))
    changes = [_change(pair, level) for pair in pairs]
    changes += [_change_of_copies(*one, level) for one in copied]
    changes.sort(key=lambda c: (c.role != "audited", c.kind == "same", -c.difference.low))
    questions = [
        (label, *line)
        for label, record in zip(labels[1:], records[1:], strict=True)
        for line in question_differences(records[0].question, record.question)
    ]
    return RecordComparison(
        labels, tuple(changes), tuple(dict.fromkeys(unmatched)), tuple(questions), tuple(costs)
    )


def _names(records: Sequence[AuditRecord], names: Sequence[str] | None) -> tuple[str, ...]:
    found = [record.title for record in records] if names is None else [str(n) for n in names]
    if len(found) != len(records):
        raise ConfigError(f"{len(records)} records need as many names, got {len(found)}")
    if len(set(found)) < len(found) or not all(found):
        found = [f"{number}. {name}".strip() for number, name in enumerate(found, 1)]
    return tuple(found)


def _matching(first: Findings, second: Findings) -> Callable[[Finding], _Key]:
    single = all(
        len({r.own.subject for r in findings.audited}) == 1 for findings in (first, second)
    )

    def key(result: Finding) -> _Key:
        alone = single and result.own.role == "audited"
        subject = "audited" if alone else f"{result.own.role} {result.own.subject}"
        return subject, result.own.attack, result.target, result.attribute

    return key


def _over_people(
    old: Mapping[_Key, Finding], new: Mapping[_Key, Finding], both: tuple[Findings, Findings]
) -> Iterator[tuple[Finding, Finding]]:
    """A result of each attack that judged several people in both records."""
    first, later = (
        {(subject, attack): result for (subject, attack, _, _), result in results.items()}
        for results in (old, new)
    )
    for name in first:
        if name in later and later[name].own.role == "audited":
            pair = first[name], later[name]
            means = (_mean(*one, CONFIDENCE) for one in zip(both, pair, strict=True))
            if all(mean is not None for mean in means):
                yield pair


def _mean(findings: Findings, result: Finding, level: float) -> tuple[int, Estimate] | None:
    """How many people the attack of a result judged, and its mean over them."""
    subject = next(one for one in findings.record.subjects if one.name == result.own.subject)
    return mean_over_people(subject, str(result.summary.attack), level)


def _strongest(
    first: Findings, later: Findings, compared: Sequence[_Pair]
) -> list[tuple[Finding, Finding]]:
    """The strongest results, where neither they nor means over people are compared already.

    Of several subjects only where nothing else can be compared.
    """
    old, new = first.farthest, later.farthest
    if old is None or new is None or old.attribute != new.attribute:
        return []
    best = (old, new)
    audited = [pair for pair in compared if pair.new.own.role == "audited"]
    several = any(len(findings.record.audited) > 1 for findings in (first, later))
    known = any(pair.kind == "mean" or (pair.old, pair.new) == best for pair in audited)
    return [] if known or (several and audited) else [best]


def _estimates(pair: _Pair, level: float) -> tuple[str, Estimate, Estimate]:
    """What is measured, before and after, with intervals of this confidence."""
    sides = zip(pair.records, (pair.old, pair.new), strict=True)
    if pair.kind == "mean":
        left, right = (found[1] for one in sides if (found := _mean(*one, level)) is not None)
        return "auc", left, right
    if pair.kind == "strongest":
        level = shared_confidence(level, math.prod(len(one.audited) for one in pair.records))
    before, after = (summary_facts(one.summary, confidence=level) for one in (pair.old, pair.new))
    areas = _area(before), _area(after)
    if areas[0] is not None and areas[1] is not None:
        return "auc", areas[0], areas[1]
    return "accuracy", before.accuracy, after.accuracy


def _area(facts: SummaryFacts) -> Estimate | None:
    """Of whichever way to rank trials without a score tells more, where there are some."""
    return facts.either_way("auc") if trials_without_score(facts.summary).any() else facts.auc


def _compared(pair: _Pair) -> tuple[str, str]:
    """Attack and target as they are called."""
    old, new = pair.old, pair.new
    if pair.kind == "mean":
        sides = zip(pair.records, (old, new), strict=True)
        people = [found[0] for one in sides if (found := _mean(*one, CONFIDENCE)) is not None]
        return new.own.attack, f"mean over targets: {people[0]} before, {people[1]} after"
    if pair.kind == "same":
        return new.own.attack, new.target
    attack = f"{old.own.attack} before, {new.own.attack} after"
    return attack, f"{old.target} before, {new.target} after" if old.target else ""


def _change(pair: _Pair, level: float) -> Change:
    old, new = pair.old, pair.new
    metric, left, right = _estimates(pair, level)
    attack, target = _compared(pair)
    told = [one.turned_up(0.5) if metric == "auc" else one for one in (left, right)]
    difference = told[1].minus(told[0])
    certified = pair.kind != "mean"
    return Change(
        record=pair.label,
        subject=new.own.subject,
        role=new.own.role,
        attack=attack,
        target=target,
        attribute=new.attribute,
        metric=metric,
        before=left,
        after=right,
        difference=difference,
        epsilon_before=_epsilon(old) if certified else None,
        epsilon_after=_epsilon(new) if certified else None,
        state=_state(difference),
        kind=pair.kind,
    )


def _copied(first: Findings, later: Findings) -> Iterator[tuple[str, Copies, Copies]]:
    """Copies of the same release in both, or of the only release of either."""
    old, new = (
        {one.name: one.copies for one in findings.record.audited if one.copies is not None}
        for findings in (first, later)
    )
    if len(old) == len(new) == 1:
        old = dict(zip(new, old.values(), strict=True))
    for name in new:
        if name in old:
            yield name, old[name], new[name]


def _change_of_copies(
    label: str, subject: str, before: Copies, after: Copies, level: float
) -> Change:
    left, right = (_share_copied(copies, level) for copies in (before, after))
    difference = right.minus(left)
    return Change(
        record=label,
        subject=subject,
        role="audited",
        attack="private records in the release",
        target="",
        attribute="",
        metric="copied",
        before=left,
        after=right,
        difference=difference,
        epsilon_before=None,
        epsilon_after=None,
        state=_state(difference),
        kind="copies",
    )


def _share_copied(copies: Copies, level: float) -> Estimate:
    number = copies.members_copied + copies.members_near
    low, high = clopper_pearson(number, copies.members, level)
    return Estimate(number / copies.members, float(low), float(high))


def _state(difference: Estimate) -> Literal["better", "worse", "unclear"]:
    if difference.low > 0:
        return "worse"
    return "better" if difference.high < 0 else "unclear"


def _epsilon(result: Finding) -> float | None:
    bound = result.shared.epsilon
    return None if bound is None else float(bound)


def _text(result: Finding) -> str:
    parts = [result.own.subject, result.own.attack]
    parts += [f"target {result.target}"] if result.target else []
    parts += [result.attribute] if result.attribute else []
    return ", ".join(parts)
