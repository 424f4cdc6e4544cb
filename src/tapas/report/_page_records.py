"""The most exposed records of a release or model, and how slices of its records fare."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real

import pandas as pd

from tapas.report._page_cells import Cell, estimate_cell, sortable
from tapas.report._page_numbers import percent
from tapas.results import LOW_FPR, Estimate, ExposedRecords, spreadsheet_safe

__all__ = ["RecordsTable", "records_csv", "records_tables"]

_MOST_RECORDS = 20
_TITLES = {
    "member": "Member",
    "guessed_member": "Guessed",
    "score": "Score",
    "false_positive_rate": "Others as high",
}
_RATES = (
    ("AUC", "auc", False),
    ("Advantage", "advantage", False),
    (f"TPR at {100 * LOW_FPR:g}% FPR", f"tpr_at_fpr_{LOW_FPR:g}", True),
)


@dataclass(frozen=True)
class RecordsTable:
    """What a page shows of the exposed records of one subject."""

    subject: str
    attack: str
    num_records: int
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    slice_columns: tuple[str, ...]
    slices: tuple[tuple[Cell, ...], ...]


def records_tables(exposed: Iterable[ExposedRecords]) -> list[RecordsTable]:
    """Return the tables of every subject that tells its records apart."""
    return [_tables(one) for one in exposed]


def records_csv(exposed: Iterable[ExposedRecords]) -> str:
    """Return all exposed records as CSV, safe to open in a spreadsheet."""
    tables = [one.table.assign(subject=one.subject, attack=one.attack) for one in exposed]
    table = pd.concat(tables, ignore_index=True)
    first = ["subject", "attack"]
    ordered = table[first + [name for name in table.columns if name not in first]]
    return spreadsheet_safe(ordered).to_csv(index=False, lineterminator="\n")


def _tables(exposed: ExposedRecords) -> RecordsTable:
    shown = exposed.table.drop(columns="record").head(_MOST_RECORDS)
    about = [name for name in shown.columns if name not in _TITLES]
    order = [*about, *_TITLES]
    by_slice = exposed.slices
    return RecordsTable(
        subject=exposed.subject,
        attack=exposed.attack,
        num_records=len(exposed.table),
        columns=(*about, *_TITLES.values()),
        rows=tuple(
            tuple(_cell(name, value) for name, value in zip(order, row, strict=True))
            for row in shown[order].itertuples(index=False, name=None)
        ),
        slice_columns=("Records", "Members", "Others", *(title for title, _, _ in _RATES)),
        slices=tuple(_slice(row) for row in by_slice.to_dict("records")),
    )


def _cell(name: str, value: object) -> Cell:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell("–", kind="text")
    if name == "false_positive_rate":
        rate = float(str(value))
        return Cell(percent(rate, 2), sort=sortable(rate))
    if isinstance(value, (bool, str)) or not isinstance(value, Real):
        return Cell({"True": "yes", "False": "no"}.get(str(value), str(value)), kind="text")
    return Cell(f"{value:.4g}" if name == "score" else str(value), sort=sortable(float(value)))


def _slice(row: dict[str, object]) -> tuple[Cell, ...]:
    name = "all" if row["slice"] == "all" else f"{row['slice']}: {row['value']}"
    return (
        Cell(name, kind="text"),
        Cell(f"{row['members']:,}", sort=str(row["members"]), kind="count"),
        Cell(f"{row['non_members']:,}", sort=str(row["non_members"]), kind="count"),
        *(_estimate(row, key, share) for _, key, share in _RATES),
    )


def _estimate(row: dict[str, object], key: str, share: bool) -> Cell:
    value, low, high = (float(str(row[name])) for name in (key, f"{key}_low", f"{key}_high"))
    if math.isnan(value):
        return Cell("–", title="members or others are missing")
    return estimate_cell(Estimate(value, low, high), share=share)
