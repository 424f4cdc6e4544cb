"""Limits on the columns that are left out, where advice leaves out more of them."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from tapas.results import AuditRecord, Gate, dropped_columns

__all__ = ["raised_gates", "raised_in_file", "raised_words"]


def raised_gates(record: AuditRecord, columns: Sequence[str]) -> tuple[Gate, ...]:
    """The gates of an audit, none of which fails only because these columns are left out as well.

    What failed already does so still.
    """
    left_out = set(dropped_columns(record) or ())
    more = len(set(columns) - left_out)
    return tuple(_raised(gate, len(left_out), more) for gate in record.gates)


def raised_in_file(record: AuditRecord, columns: Sequence[str]) -> dict[str, object]:
    """What an audit file must say then; nothing where its gates allow it."""
    raised = raised_gates(record, columns)
    return {} if raised == record.gates else {"gates": [_stated(gate) for gate in raised]}


def raised_words(record: AuditRecord, columns: Sequence[str]) -> str:
    """That a limit counts these columns, and what it is with them."""
    raised = zip(record.gates, raised_gates(record, columns), strict=True)
    changed = [(before.at_most, after.at_most) for before, after in raised if before != after]
    return "".join(
        f" The gate on dropped_columns (at most {before:g}) counts that, so it is {after:g} here."
        for before, after in changed[:1]
    )


def _raised(gate: Gate, left_out: int, more: int) -> Gate:
    if gate.metric != "dropped_columns":
        return gate
    allowed = min(left_out, gate.at_most) + more
    return replace(gate, at_most=max(gate.at_most, allowed))


def _stated(gate: Gate) -> dict[str, object]:
    """As an audit file has it, without what it says by default."""
    usual = asdict(Gate(gate.metric, gate.at_most))
    return {
        name: value
        for name, value in asdict(gate).items()
        if name in ("metric", "at_most") or value != usual[name]
    }
