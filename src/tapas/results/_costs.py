"""What a remedy costs: the accuracy of models on records that they were not trained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapas.results._audit_record import AuditRecord
from tapas.results._audited_subject import AuditedSubject
from tapas.results._estimate import Estimate
from tapas.results._rounding import rounded

__all__ = ["Cost", "costs_between", "costs_in_words"]

_MOST_SAID = 3


@dataclass(frozen=True)
class Cost:
    """Accuracy of a model on records that it was not trained on, before and after.

    Attributes
    ----------
    record, subject
        Name of the later record, and of the model in it.
    part
        ``all``, or those of a class (accuracy is then its recall) or subgroup.
    before, after, difference : Estimate
        Intervals hold together over all parts of a model, with about 95 % confidence.
    """

    record: str
    subject: str
    part: str
    before: Estimate
    after: Estimate
    difference: Estimate


def costs_between(label: str, first: AuditRecord, later: AuditRecord) -> Iterator[Cost]:
    """The costs of models that both records have, or of the only model of either."""
    old, new = (
        {one.name: _by_part(one) for one in record.audited if one.performance}
        for record in (first, later)
    )
    if len(old) == len(new) == 1:
        old = dict(zip(new, old.values(), strict=True))
    for name in new:
        for part, after in new[name].items():
            before = old.get(name, {}).get(part)
            if before is not None:
                yield Cost(label, name, part, before, after, after.minus(before))


def costs_in_words(costs: Sequence[Cost]) -> str:
    """One sentence: over all records, and the classes or subgroups that lost most."""
    found = []
    for whole in (cost for cost in costs if cost.part == "all"):
        parts = [one for one in costs if one.subject == whole.subject and one.part != "all"]
        worst = sorted(parts, key=lambda one: one.difference.value)[:_MOST_SAID]
        said = "; ".join(f"of {one.part.replace(': ', ' ', 1)}: {_change(one)}" for one in worst)
        found.append(
            f" On records that it was not trained on, {whole.subject} is right in "
            f"{_change(whole)}" + (f" ({said})." if said else ".")
        )
    return "".join(found)


def _by_part(subject: AuditedSubject) -> dict[str, Estimate]:
    table = {name: list(values) for name, values in (subject.performance or {}).items()}
    names = zip(table["slice"], table["value"], strict=True)
    ends = ("test_accuracy", "test_accuracy_low", "test_accuracy_high")
    rows = zip(*(table[end] for end in ends), strict=True)
    return {
        "all" if kind == "all" else f"{kind}: {value}": Estimate(*map(float, row))
        for (kind, value), row in zip(names, rows, strict=True)
        if row[0] is not None
    }


def _change(cost: Cost) -> str:
    before, after = (f"{rounded(100 * one.value, 1)}%" for one in (cost.before, cost.after))
    return f"{before} before, {after} after"
