"""How well a model does on the records that it was trained on, and on others."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tapas.report._page_cells import Cell, estimate_cell, sortable
from tapas.report._page_csv import csv_text
from tapas.report._page_numbers import percent
from tapas.results import AuditedSubject, Estimate, rounded_down, with_ratio

__all__ = ["PerformanceTable", "performance_csv", "performance_tables"]


_COUNTS = ("train_records", "test_records")
_COLUMNS = (
    "Records",
    "Trained on",
    "Others",
    "Right, trained on",
    "Right, others",
    "Gap",
    "Ratio",
    "Precision",
    "Recall",
)


@dataclass(frozen=True)
class PerformanceTable:
    """What a page shows of the accuracy of one model."""

    subject: str
    words: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def performance_csv(subjects: Sequence[AuditedSubject]) -> str:
    """The accuracies of all models as CSV, safe to open in a spreadsheet."""
    tables = [_frame(one).assign(subject=one.name) for one in subjects if one.performance]
    table = pd.concat(tables, ignore_index=True)
    return csv_text(table, ("subject",))


def performance_tables(
    subjects: Sequence[AuditedSubject], unfit: Collection[str] = ()
) -> list[PerformanceTable]:
    """The accuracies of every audited model; of those whose split is `unfit`, with a caution."""
    return [_table(one, one.name in unfit) for one in subjects if one.performance]


def _frame(subject: AuditedSubject) -> pd.DataFrame:
    return with_ratio(subject.performance or {})


def _table(subject: AuditedSubject, unfit: bool) -> PerformanceTable:
    rows = _frame(subject).to_dict("records")
    whole = rows[0]
    words = (
        f"{subject.name} is right about {percent(whole['train_accuracy'], 1)} of the records it "
        f"was trained on and {percent(whole['test_accuracy'], 1)} of others. "
        + _gap_words(whole["gap_low"], whole["gap_high"], unfit)
        + _doubt_words(rows) * (not subject.right_when)
        + f" Right means here: {subject.right_when}." * bool(subject.right_when)
    )
    return PerformanceTable(
        subject=subject.name,
        words=words,
        columns=_COLUMNS,
        rows=tuple(_row(row) for row in rows),
    )


def _gap_words(low: float, high: float, unfit: bool) -> str:
    if unfit and not low <= 0 <= high:
        return (
            "They differ for certain, but as the two do not come from one distribution, the "
            "difference need not be the model's doing."
        )
    if high < 0:
        return (
            f"It is right about fewer of the former, by at least {rounded_down(-100 * high, 1)}%, "
            "which alone tells members from others as well: whoever sees whether an answer is "
            "right gains that much."
        )
    if low > 0:
        return (
            f"The gap, at least {rounded_down(100 * low, 1)}%, alone tells members from others: "
            "whoever sees whether an answer is right gains that much."
        )
    return "That the two differ at all is not certain."


def _doubt_words(rows: Sequence[Mapping[Hashable, object]]) -> str:
    """A hint where a model is right about fewer of its training records than guessing would be."""
    classes = sum(row["slice"] == "class" for row in rows)
    if classes < 2 or not float(str(rows[0]["train_accuracy_high"])) < 1 / classes:
        return ""
    return (
        " Guessing would be right about more of the records it was trained on: its classes may be "
        "in the wrong order, or these may be other records."
    )


def _row(row: Mapping[str, object]) -> tuple[Cell, ...]:
    name = "all" if row["slice"] == "all" else f"{row['slice']}: {row['value']}"
    return (
        Cell(name, kind="text"),
        *(Cell(f"{row[n]:,}", sort=str(row[n]), kind="count") for n in _COUNTS),
        *(_estimate(row, key) for key in ("train_accuracy", "test_accuracy", "gap")),
        _estimate(row, "ratio", share=False),
        *(_share(row[key]) for key in ("precision", "recall")),
    )


def _estimate(row: Mapping[str, object], key: str, *, share: bool = True) -> Cell:
    if pd.isna(row[key]):
        return Cell("–", title="there are no such records")
    value, low, high = (float(str(row[name])) for name in (key, f"{key}_low", f"{key}_high"))
    return estimate_cell(Estimate(value, low, high), share=share)


def _share(value: object) -> Cell:
    if pd.isna(value):
        return Cell("–", title="of classes only")
    share = float(str(value))
    return Cell(percent(share, 1), sort=sortable(share))
