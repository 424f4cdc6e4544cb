"""The most exposed records of a release or model, and how slices of its records fare."""

import math
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from numbers import Real

import numpy as np
import pandas as pd

from tapas.report._figure import COLOURS, GREY, new_figure
from tapas.report._page_cells import Cell, estimate_cell, sortable
from tapas.report._page_csv import csv_text
from tapas.report._page_figures import PageFigure
from tapas.report._page_numbers import percent
from tapas.report._page_svg import inline_svg
from tapas.results import (
    LOW_FPR,
    MOST_RECORDS,
    VALUE,
    Estimate,
    ExposedRecords,
    risk_histogram,
)

__all__ = ["RecordsTable", "records_csv", "records_tables"]

_BINS = 20
MOST_CLASSES = 12
_NAMES = {"id": "Record", "row": "Record"}
_TITLES = {
    "member": "Member",
    "guessed_member": "Guessed",
    "score": "Score",
    "same_score": "Same score",
    "false_positive_rate": "Others as high",
    "false_positive_rate_high": "At most",
    "privacy_risk": "Risk",
}
_RISK_ENDS = ("privacy_risk_low", "privacy_risk_high")
_RATES = (
    ("AUC", "auc", False),
    ("Advantage", "advantage", False),
    ("Precision", "precision", True),
    ("Recall", "recall", True),
    (f"TPR at {100 * LOW_FPR:g}% FPR", f"tpr_at_fpr_{LOW_FPR:g}", True),
)


@dataclass(frozen=True)
class RecordsTable:
    """What a page shows of the exposed records of one subject."""

    subject: str
    attack: str
    num_records: int
    columns: tuple[str, ...]
    figure: PageFigure
    risks: PageFigure
    per_class: tuple[tuple[Cell, ...], ...]
    shows_class: bool
    shows_nearest: bool
    shows_told: bool
    read_reversed: bool
    has_ties: bool
    split_is_unfit: bool
    rows: tuple[tuple[Cell, ...], ...]
    slices_attack: str
    slice_columns: tuple[str, ...]
    slices: tuple[tuple[Cell, ...], ...]


def records_tables(
    exposed: Iterable[ExposedRecords], unfit: Collection[str] = ()
) -> list[RecordsTable]:
    """Return the tables of every subject that tells its records apart; some are `unfit` splits."""
    return [_tables(one, number, one.subject in unfit) for number, one in enumerate(exposed)]


def records_csv(exposed: Iterable[ExposedRecords]) -> str:
    """Return all exposed records as CSV, safe to open in a spreadsheet."""
    first = ("subject", "attack", "read_reversed")
    tables = [one.table.assign(**{name: getattr(one, name) for name in first}) for one in exposed]
    for one in tables:
        if "class" in one:
            one["rank_in_class"] = one.groupby("class", dropna=False).cumcount() + 1
    table = pd.concat(tables, ignore_index=True)
    if "row" in table:
        table = table.drop(columns="record")  # a place among those judged, which names nobody
    return csv_text(table, first)


def _tables(exposed: ExposedRecords, number: int, unfit: bool) -> RecordsTable:
    # Who it is stands in one column; whether a member, in its own.
    twice = {"record", "source", *_RISK_ENDS, *({"row"} if "id" in exposed.table else ())}
    about = [name for name in exposed.table if name not in {*_TITLES, *twice}]
    first = [name for name in about if not name.startswith(("released_row", "agrees_on", VALUE))]
    has_ties = bool((exposed.table["same_score"].head(MOST_RECORDS) > 1).any())
    titles = {name: _TITLES[name] for name in _TITLES if has_ties or name != "same_score"}
    if exposed.read_reversed:
        titles["false_positive_rate"] = "Others as low"
    order = [*first, *titles, *(name for name in about if name not in first)]
    by_slice = exposed.slices
    return RecordsTable(
        subject=exposed.subject,
        attack=exposed.attack,
        num_records=len(exposed.table),
        columns=tuple({**titles, **_NAMES}.get(name, name.replace("_", " ")) for name in order),
        figure=_distribution(exposed, number),
        risks=_risks(exposed, number),
        per_class=_per_class(exposed.per_class, order),
        shows_class="class" in order,
        shows_nearest="agrees_on" in order,
        shows_told="told" in order,
        read_reversed=exposed.read_reversed,
        has_ties=has_ties,
        split_is_unfit=unfit,
        rows=_rows(exposed.table.head(MOST_RECORDS), order),
        slices_attack=str(by_slice["attack"].iloc[0]),
        slice_columns=("Records", "Members", "Others", *(title for title, _, _ in _RATES)),
        slices=tuple(_slice(row) for row in by_slice.to_dict("records")),
    )


def _per_class(top: pd.DataFrame, order: list[str]) -> tuple[tuple[Cell, ...], ...]:
    """The most exposed members of each class, where there are classes and not too many."""
    if top.empty or top["class"].nunique() > MOST_CLASSES:
        return ()
    return _rows(top, order)


def _rows(table: pd.DataFrame, order: list[str]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        tuple(_risk(row) if name == "privacy_risk" else _cell(name, row[name]) for name in order)
        for row in table.to_dict("records")
    )


def _risk(row: dict[Hashable, float]) -> Cell:
    value, low, high = (row[name] for name in ("privacy_risk", *_RISK_ENDS))
    return (
        Cell("–", kind="text")
        if math.isnan(value)
        else estimate_cell(Estimate(value, low, high), share=True)
    )


def _risks(exposed: ExposedRecords, number: int) -> PageFigure:
    """How many members and others have which privacy risk."""
    counts = risk_histogram(exposed.table["privacy_risk"], exposed.table["member"])
    figure = new_figure(6.4, 2.6)
    axes = figure.subplots()
    for name, colour in (("members", 1), ("others", 0)):
        edges = np.linspace(0, 100, len(counts[name]) + 1)
        shares = 100 * np.array(counts[name]) / max(sum(counts[name]), 1)
        axes.stairs(shares, edges, label=name, color=COLOURS[colour], linewidth=2)
    axes.axvline(50, color=GREY, linewidth=1, linestyle="--")
    axes.set_xlabel("privacy risk (%)")
    axes.set_ylabel("share of records (%)")
    axes.legend(frameon=False)
    figure.tight_layout()
    words = "Share of members and of others by their privacy risk"
    caption = (
        f"{words}: the probability of membership that follows from the score of the attack, if "
        "members and others are equally common. At 50 % (dashed) the score says nothing."
    )
    return PageFigure("Privacy risk", (inline_svg(figure, f"risk{number}", words),), caption)


def _distribution(exposed: ExposedRecords, number: int) -> PageFigure:
    """Where the attack ranks members and others: apart if it tells them apart."""
    members = exposed.table["member"].to_numpy(dtype=bool)
    places = 100 * (1 - (exposed.table["rank"].to_numpy() - 0.5) / len(members))
    figure = new_figure(6.4, 2.6)
    axes = figure.subplots()
    edges = np.linspace(0, 100, _BINS + 1)
    for group, name, colour in ((members, "members", 1), (~members, "others", 0)):
        if group.any():
            heights = np.histogram(places[group], edges)[0] / group.sum()
            axes.stairs(100 * heights, edges, label=name, color=COLOURS[colour], linewidth=2)
    axes.axhline(100 / _BINS, color=GREY, linewidth=1, linestyle="--")
    axes.set_xlabel("place in the order of the attack, 100: most exposed")
    axes.set_ylabel("share of records (%)")
    axes.legend(frameon=False)
    figure.tight_layout()
    words = "Share of members and of others at each place in the order of the attack's scores"
    caption = (
        f"{words}. If the attack told nothing, both would follow the dashed line; the further "
        "members stand to the right of the others, the more of them are exposed."
    )
    return PageFigure(
        "Distribution of exposure", (inline_svg(figure, f"exp{number}", words),), caption
    )


def _cell(name: str, value: object) -> Cell:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell("–", kind="text")
    if name in ("false_positive_rate", "false_positive_rate_high"):
        rate = float(str(value))
        return Cell(percent(rate, 2), sort=sortable(rate))
    if isinstance(value, (bool, str)) or not isinstance(value, Real):
        return Cell({"True": "yes", "False": "no"}.get(str(value), str(value)), kind="text")
    number = float(value) + 0.0  # no minus before a zero
    shown = f"{number:.4g}" if name == "score" or number != int(number) else str(value)
    return Cell(shown, sort=sortable(number))


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
