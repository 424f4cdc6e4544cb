"""What an audit was given: files, sizes, and what was left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tapas._validate import listing
from tapas.report._page_numbers import counted
from tapas.results import AuditRecord, Findings, dropped_columns

__all__ = ["InputRow", "input_rows", "inputs_sentences", "left_out_words"]

FEW_RECORDS = 100
_ROLES = {
    "data.sample": "built-in sample",
    "data.holdout": "records that were not used",
    "release.file": "released table",
    "release.reference": "further records that were not used",
}
_KINDS = {
    "category": "categories",
    "ordered": "ordered categories",
    "integer": "whole numbers",
    "real": "numbers",
    "date": "dates",
    "datetime": "times",
    "string": "free text",
}


@dataclass(frozen=True)
class InputRow:
    """One table that was read, in words."""

    role: str
    file: str
    sha256: str
    rows: str
    columns: str
    dropped: str
    read: str


def input_rows(record: AuditRecord) -> list[InputRow]:
    """Return every table of the audit."""
    roles = {**_ROLES, "data.table": f"{Findings(record).used} table"}
    named = "named in data.drop" if record.provenance.get("audit_file") else "left out by --drop"
    return [
        InputRow(
            role="what the model said" if "scores" in table else roles.get(key, key),
            file=str(table.get("file", "")),
            sha256=str(table.get("sha256", "–")),
            rows=f"{int(table.get('rows', 0)):,}",
            columns=_columns(table.get("columns", {})),
            dropped="; ".join(
                f"{name}: {named if 'data.drop' in why else why}"
                for name, why in table.get("dropped", {}).items()
            )
            or "nothing",
            read="; ".join(table.get("read", ())) or "plainly",
        )
        for key, table in _inputs(record).items()
    ]


def inputs_sentences(record: AuditRecord) -> list[str]:
    """Return what must stand beside the verdict: what was not audited, and how small it was."""
    said = _scores_read(record)
    dropped = dropped_columns(record)
    if dropped:
        said.append(f"Not audited, because left out: {listing(dropped, show='“{}”'.format)}.")
    rows = _rows(record)
    simulated = _simulated(record)
    if rows is not None and simulated is not None and simulated < rows:
        said.append(
            f"Private datasets of {simulated:,} records were simulated; the table has {rows:,}."
        )
    if rows is not None and rows < FEW_RECORDS:
        said.append(
            f"The table has {rows:,} records only: with so few, each of them weighs more than it "
            "would in a larger one."
        )
    return said


def left_out_words(record: AuditRecord) -> list[str]:
    """Return which records could not be compared, and why."""
    repeated = "" if record.question.get("release") else ", or because they repeat others of theirs"
    counts = dict.fromkeys(one.left_out for one in record.audited if any(one.left_out))
    return [
        f"Left out of the comparison: {counted(members, 'member')} and "
        f"{counted(others, 'non-member')}, because their values occur on both sides, so that "
        "nobody could say to which they belong, or, repeated on the larger side, to make up for "
        f"that{repeated}."
        for members, others in counts
    ]


def _scores_read(record: AuditRecord) -> list[str]:
    """As what scores that were written down were read, and which column is what."""
    read = _inputs(record).get("data.table", {}).get("scores") or {}
    columns = [f"“{name}” {what}" for name, what in read.get("columns", {}).items()]
    if not columns:
        return []
    said = listing(columns, show=str).replace("” ", "” is ", 1)
    return [f"Scores were read as {read['read_as']}: {said}."]


def _inputs(record: AuditRecord) -> Mapping[str, Mapping[str, Any]]:
    found = record.question.get("inputs")
    return found if isinstance(found, dict) else {}


def _rows(record: AuditRecord) -> int | None:
    for key in ("data.table", "data.sample"):
        if key in _inputs(record):
            return int(_inputs(record)[key].get("rows", 0))
    return None


def _simulated(record: AuditRecord) -> int | None:
    knowledge = record.question.get("knowledge")
    if not record.question.get("generator") or not isinstance(knowledge, dict):
        return None
    return None if knowledge.get("records") is None else int(knowledge["records"])


def _columns(kinds: Mapping[str, int]) -> str:
    total = sum(kinds.values())
    parts = ", ".join(f"{_KINDS.get(kind, kind)}: {number}" for kind, number in kinds.items())
    return f"{total} ({parts})"
