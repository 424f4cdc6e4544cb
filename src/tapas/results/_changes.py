"""What changed between audits, each difference with its interval."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tapas.errors import ConfigError
from tapas.results._audit_record import AuditRecord
from tapas.results._estimate import Estimate
from tapas.results._facts import summary_facts
from tapas.results._findings import CONFIDENCE, Finding, Findings
from tapas.stats import shared_confidence

__all__ = ["Change", "RecordComparison", "compare_records"]

_Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Change:
    """One attack on one target, in the first record and in a later one.

    Attributes
    ----------
    record
        Name of the later record.
    subject, role, attack, target, attribute
        What was attacked, and how.
    metric : {"auc", "accuracy"}
        Higher is worse for privacy.
    before, after, difference : Estimate
        Intervals hold together over all changes of the comparison.
    epsilon_before, epsilon_after : float or None
        Certified lower bounds, each with 95 % confidence on its own; their difference
        bounds nothing.
    state : {"better", "worse", "unclear"}
        Whether the interval of the difference lies below 0, above 0, or around it.
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
    confidence : float
        Of all intervals of differences together.
    """

    names: tuple[str, ...]
    changes: tuple[Change, ...]
    unmatched: tuple[tuple[str, str], ...]
    questions: tuple[tuple[str, str, str, str], ...]
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
        results = "result" if total == 1 else "results"
        return (
            f"{name} against {self.names[0]}: of {total:,} {results} in common, "
            f"{self.count(name, 'worse')} got worse (more leaks), {self.count(name, 'better')} got "
            f"better, {self.count(name, 'unclear')} did not change clearly."
        )


def compare_records(
    records: Sequence[AuditRecord], names: Sequence[str] | None = None
) -> RecordComparison:
    """Say what got better or worse since the first record.

    Results are matched by subject, attack, target and attribute; where each of two
    records has one audited subject, these are compared whatever their names.

    Notes
    -----
    Assumes: the trials of different records are independent, or, where seeds are shared,
    not negatively dependent. Guarantees: the intervals of all differences hold together with
    about 95 % confidence. They join the intervals of the two estimates by squaring and adding
    the distances to their ends (Zou and Donner 2008), each at a level that shares the error
    between all changes.
    """
    if len(records) < 2:
        raise ConfigError(f"a comparison needs at least two records, got {len(records)}")
    labels = _names(records, names)
    first, *others = (Findings(record) for record in records)
    pairs: list[tuple[str, Finding, Finding]] = []
    unmatched: list[tuple[str, str]] = []
    for label, later in zip(labels[1:], others, strict=True):
        key = _matching(first, later)
        old = {key(result): result for result in reversed(first.all)}
        new = {key(result): result for result in reversed(later.all)}
        pairs += [(label, old[name], new[name]) for name in reversed(new) if name in old]
        unmatched += [(labels[0], _text(old[k])) for k in reversed(old) if k not in new]
        unmatched += [(label, _text(new[k])) for k in reversed(new) if k not in old]
    level = shared_confidence(CONFIDENCE, max(1, len(pairs)))
    changes = [_change(label, old, new, level) for label, old, new in pairs]
    changes.sort(key=lambda c: (c.role != "audited", -c.difference.low))
    questions = [
        (label, *line)
        for label, record in zip(labels[1:], records[1:], strict=True)
        for line in _differences(*_without_digests(records[0].question, record.question))
    ]
    return RecordComparison(
        labels, tuple(changes), tuple(dict.fromkeys(unmatched)), tuple(questions)
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


def _change(label: str, old: Finding, new: Finding, level: float) -> Change:
    before, after = (summary_facts(result.summary, confidence=level) for result in (old, new))
    left, right, metric = before.accuracy, after.accuracy, "accuracy"
    if before.auc is not None and after.auc is not None:
        left, right, metric = before.auc, after.auc, "auc"
    difference = _difference(left, right)
    state: Literal["better", "worse", "unclear"] = "unclear"
    if difference.low > 0:
        state = "worse"
    elif difference.high < 0:
        state = "better"
    return Change(
        record=label,
        subject=new.own.subject,
        role=new.own.role,
        attack=new.own.attack,
        target=new.target,
        attribute=new.attribute,
        metric=metric,
        before=left,
        after=right,
        difference=difference,
        epsilon_before=None if old.own.epsilon is None else float(old.own.epsilon),
        epsilon_after=None if new.own.epsilon is None else float(new.own.epsilon),
        state=state,
    )


def _difference(before: Estimate, after: Estimate) -> Estimate:
    value = after.value - before.value
    if math.isnan(value):
        return Estimate(value, -1.0, 1.0)
    down = math.hypot(after.value - after.low, before.high - before.value)
    up = math.hypot(after.high - after.value, before.value - before.low)
    return Estimate(value, value - down, value + up)


def _text(result: Finding) -> str:
    parts = [result.own.subject, result.own.attack]
    parts += [f"target {result.target}"] if result.target else []
    parts += [result.attribute] if result.attribute else []
    return ", ".join(parts)


def _differences(before: object, after: object, path: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(before.get(name), after.get(name), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (left, right) in enumerate(zip(before, after, strict=True)):
            yield from _differences(left, right, f"{path}[{place}]")
    elif before != after:
        yield path, _short(before), _short(after)


def _without_digests(
    before: dict[str, Any], after: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Questions without digests of tables as they were encoded, where both have those of files.

    The encoding of one table depends on the others that it is described with.
    """
    if not (before.get("inputs") and after.get("inputs")):
        return before, after
    return _without_digest(before), _without_digest(after)


def _without_digest(question: dict[str, Any]) -> dict[str, Any]:
    data = question.get("data")
    if not isinstance(data, dict):
        return question
    return {**question, "data": {key: data[key] for key in data if key != "digest"}}


def _short(value: object) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 120 else text[:119] + "…"
