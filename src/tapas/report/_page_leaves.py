"""What the leaves of released trees hold."""

from collections.abc import Sequence
from dataclasses import dataclass

from tapas.report._page_cells import Cell
from tapas.results import AuditedSubject, Leaves

__all__ = ["LEAVES_COLUMNS", "LeavesTable", "leaves_tables"]

LEAVES_COLUMNS = ("Training row", "Record", "Records of its smallest leaf")


@dataclass(frozen=True)
class LeavesTable:
    """What a page shows of the leaves of one model."""

    subject: str
    words: str
    rows: tuple[tuple[Cell, ...], ...]


def leaves_tables(subjects: Sequence[AuditedSubject]) -> list[LeavesTable]:
    """The leaves of every audited model that shows trees."""
    return [
        LeavesTable(one.name, one.leaves.words(), tuple(_rows(one.leaves)))
        for one in subjects
        if one.leaves is not None
    ]


def _rows(leaves: Leaves) -> list[tuple[Cell, ...]]:
    return [
        (
            Cell(str(row), sort=str(row)),
            Cell(label or "–", kind="text"),
            Cell(str(size), sort=str(size)),
        )
        for row, label, size in leaves.listed
    ]
