"""Private records that a release holds."""

from collections.abc import Sequence

import pandas as pd

from tapas.report._page_cells import Cell
from tapas.report._page_csv import csv_text
from tapas.results import MOST_RECORDS, AuditedSubject, Copies, Findings, compared_columns

__all__ = ["COPIES_COLUMNS", "copies_csv", "copies_rows", "copies_sentences", "with_copies"]

COPIES_COLUMNS = ("Subject", "Private row", "Label", "Released row", "Differs in")


def with_copies(subjects: Sequence[AuditedSubject]) -> list[tuple[str, Copies]]:
    """Names and copies of those whose copies were counted."""
    return [(one.name, one.copies) for one in subjects if one.copies is not None]


def copies_sentences(findings: Findings) -> list[str]:
    """What was found in each release; named where there are several."""
    found = with_copies(findings.record.audited)
    beyond = {one.name for one in findings.copied}
    columns = compared_columns(findings.record)
    said = [(name, one.words(beyond_chance=name in beyond, columns=columns)) for name, one in found]
    return [f"{name}: {words}" if len(found) > 1 else words for name, words in said]


def copies_rows(subjects: Sequence[AuditedSubject]) -> list[tuple[Cell, ...]]:
    """The first copied records of each release."""
    return [
        (
            Cell(str(row.subject), kind="text"),
            Cell(str(row.row), sort=str(row.row)),
            Cell(str(row.id or "–"), kind="text"),
            Cell(str(row.released_row), sort=str(row.released_row)),
            Cell(str(row.differs_in), kind="text"),
        )
        for row in _listed(subjects).groupby("subject", sort=False).head(MOST_RECORDS).itertuples()
    ]


def copies_csv(subjects: Sequence[AuditedSubject]) -> str:
    """All of them as CSV, safe to open in a spreadsheet."""
    table = _listed(subjects)
    if not table["id"].any():
        table = table.drop(columns="id")
    return csv_text(table)


def _listed(subjects: Sequence[AuditedSubject]) -> pd.DataFrame:
    rows = [
        (name, row, label, released, column or "nothing")
        for name, one in with_copies(subjects)
        for row, released, column, label in one.listed
    ]
    return pd.DataFrame(rows, columns=["subject", "row", "id", "released_row", "differs_in"])
