"""Tables beside a page, for spreadsheets: every result, and how it divides over slices."""

import pandas as pd

from tapas.results import (
    MEASURES,
    AuditRecord,
    ExposedRecords,
    Finding,
    Findings,
    People,
    spreadsheet_safe,
)

__all__ = ["csv_text", "results_csv", "slices_csv"]

_OF_PEOPLE = {"low": "auc_low", "high": "auc_high"}


def csv_text(table: pd.DataFrame, first: tuple[str, ...] = ()) -> str:
    """A table as CSV with these columns first, safe to open in a spreadsheet."""
    ordered = table[[*first, *(name for name in table if name not in first)]]
    return spreadsheet_safe(ordered).to_csv(index=False, lineterminator="\n")


def results_csv(record: AuditRecord) -> str:
    """Every attack on every target; each interval holds with 95 % confidence on its own."""
    return csv_text(pd.DataFrame([_result(finding) for finding in Findings(record).all]))


def slices_csv(exposed: list[ExposedRecords], people: list[People]) -> str:
    """The strongest attack by class and subgroup: of records, and the mean over people."""
    tables = [one.slices.assign(subject=one.subject) for one in exposed]
    tables += [
        one.parts.rename(columns=_OF_PEOPLE).assign(subject=one.subject, attack=one.attack)
        for one in people
        if len(one.parts)
    ]
    if not tables:
        return ""
    return csv_text(pd.concat(tables, ignore_index=True), ("subject", "attack"))


def _result(finding: Finding) -> dict[str, object]:
    facts = finding.own
    row: dict[str, object] = {
        "subject": _writable(facts.subject),
        "role": facts.role,
        "attack": _writable(facts.attack),
        "target": _writable(facts.target),
        "attribute": _writable(str(facts.summary.sensitive_attribute)),
        "trials": facts.trials,
        "dependence": str(facts.dependence),
    }
    for name in (measure.fact for measure in MEASURES if measure.fact):
        found = facts.measured(name)
        ends = (None,) * 3 if found is None else (found.value, found.low, found.high)
        row |= zip((name, f"{name}_low", f"{name}_high"), ends, strict=True)
    bound = finding.shared.epsilon
    return row | {
        "epsilon_over_all": None if bound is None else float(bound),
        "epsilon_conditions": None if bound is None else bound.conditions,
    }


def _writable(name: str) -> str:
    """The same with marks in place of halves of characters, which no file can hold."""
    return name.encode("utf-8", "replace").decode("utf-8")
