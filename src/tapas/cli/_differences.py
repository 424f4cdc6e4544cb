"""What changed between runs, in lines for a terminal."""

from collections.abc import Sequence

from tapas.results import AuditRecord, Estimate, SummaryFacts, decide, record_facts


def difference_lines(records: Sequence[AuditRecord], names: Sequence[str]) -> list[str]:
    """The strongest attack of each run, and whether it is better or worse than the first's.

    Runs are said to differ only where their intervals are apart.
    """
    best = [_strongest(record) for record in records]
    lines = []
    for record, name, facts in zip(records, names, best, strict=True):
        verdict = decide(record)
        what = "nothing was measured" if facts is None else _words(facts)
        lines.append(f"{name}: {what}; gates: {verdict.words}")
    first = best[0]
    for name, facts in zip(names[1:], best[1:], strict=True):
        if first is None or facts is None:
            continue
        lines.append(f"{name} against {names[0]}: {_change(_measure(first), _measure(facts))}")
    return lines


def _strongest(record: AuditRecord) -> SummaryFacts | None:
    found = [facts for facts in record_facts(record) if facts.role == "audited"]
    return max(found, key=lambda facts: _measure(facts).low, default=None)


def _measure(facts: SummaryFacts) -> Estimate:
    return facts.accuracy if facts.auc is None else facts.auc


def _words(facts: SummaryFacts) -> str:
    measure, name = _measure(facts), "accuracy" if facts.auc is None else "AUC"
    return (
        f"strongest attack {facts.attack} on target {facts.target}: {name} {measure.value:.3f} "
        f"({measure.low:.3f} to {measure.high:.3f})"
    )


def _change(before: Estimate, after: Estimate) -> str:
    if after.low > before.high:
        return "worse: more leaks (the intervals are apart)"
    if after.high < before.low:
        return "better: less leaks (the intervals are apart)"
    return "no clear difference (the intervals overlap)"
