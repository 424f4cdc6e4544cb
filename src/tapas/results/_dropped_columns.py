"""Columns that were left out of an audit, and what that leaves to compare."""

from tapas.results._audit_record import AuditRecord

__all__ = ["compared_columns", "dropped_columns"]


def dropped_columns(record: AuditRecord) -> list[str] | None:
    """Columns of the tables that were not audited; None where the record does not say."""
    inputs = record.question.get("inputs")
    if not isinstance(inputs, dict):
        return None
    return sorted({name for table in inputs.values() for name in table.get("dropped", {})})


def compared_columns(record: AuditRecord) -> str:
    """The words for the columns that records are compared in, where some were left out."""
    if not dropped_columns(record):
        return ""
    table = record.question["inputs"].get("data.table", {})
    number = sum(table.get("columns", {}).values())
    if not number:
        return "the columns compared"
    return "the one column compared" if number == 1 else f"the {number:,} columns compared"
