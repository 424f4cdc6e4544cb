"""How exposure is spread over people: a picture, and a list."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.report._figure import COLOURS, GREY, new_figure
from tapas.report._page_cells import Cell, estimate_cell, sortable
from tapas.report._page_csv import csv_text
from tapas.report._page_figures import PageFigure
from tapas.report._page_svg import inline_svg
from tapas.results import (
    CONFIDENCE,
    MOST_RECORDS,
    VALUE,
    AuditedSubject,
    Estimate,
    ExposureMap,
    Findings,
    People,
)

__all__ = [
    "map_csv",
    "map_figures",
    "map_tables",
    "people_csv",
    "people_figures",
    "people_tables",
    "told_on_maps",
]

_CERTAIN = 0.05
_TITLES = {
    "target": "Target",
    "auc": "AUC",
    "p_value": "p-value",
    "agrees_on": "Agrees on",
    "agreed_with": "Columns agreed, with",
    "agreed_without": "Without",
    "released_trial": "Test trial",
    "released_row": "Released row",
}
_BINS = 35
_NAMED = 5
_ABOUT = ("auc", "either_way", "low", "high", "epsilon", "p_value")


def people_csv(people: Sequence[People]) -> str:
    """All people as CSV, most exposed first, safe to open in a spreadsheet."""
    tables = [one.table.assign(subject=one.subject, attack=one.attack) for one in people]
    table = pd.concat(tables, ignore_index=True)
    return csv_text(table, ("subject", "attack", "target", *_ABOUT))


@dataclass(frozen=True)
class PeopleTable:
    """What a page shows of the most exposed people of one subject."""

    subject: str
    attack: str
    num_people: int
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    rarest: str
    part_columns: tuple[str, ...]
    parts: tuple[tuple[Cell, ...], ...]


def people_tables(people: Sequence[People]) -> list[PeopleTable]:
    """The most exposed people of every subject, and the means over subgroups."""
    return [_table(one) for one in people]


def _table(people: People) -> PeopleTable:
    shown = people.table.head(MOST_RECORDS)
    order = [name for name in shown if name in _TITLES or name.startswith(VALUE)]
    order = [name for name in order if shown[name].notna().any()]
    return PeopleTable(
        subject=people.subject,
        attack=people.attack,
        num_people=len(people.table),
        columns=tuple(_TITLES.get(name, name) for name in order),
        rows=tuple(
            tuple(_cell(name, value) for name, value in zip(order, row, strict=True))
            for row in shown[order].itertuples(index=False, name=None)
        ),
        rarest=_rarest(people),
        part_columns=("People", "Number", "Mean AUC"),
        parts=tuple(
            (
                Cell(f"{part['slice']}: {part['value']}", kind="text"),
                Cell(str(part["people"]), sort=str(part["people"]), kind="count"),
                estimate_cell(Estimate(part["auc"], part["low"], part["high"])),
            )
            for part in people.parts.to_dict("records")
        ),
    )


def _rarest(people: People) -> str:
    """Where the most exposed stand out in the private table, in words."""
    if not people.rare_columns:
        return ""
    said = []
    for one in people.rare_columns:
        first, *same = (f"“{name}”" for name in one.columns)
        repeated = f" ({', '.join(same)}: the same, one to one)" if same else ""
        said.append(f"{first}{repeated} {', '.join(map(str, sorted(one.held_by)))}")
    rarest = people.rare_columns[0]
    return (
        f"Of {rarest.records:,} private records, so many hold the values of the "
        f"{len(rarest.held_by)} most exposed, where these are rarest (numbers: lie within a "
        f"twentieth of the range): {'; '.join(said)}."
    )


def _cell(name: str, value: object) -> Cell:
    if value is None or value != value:
        return Cell("–", kind="text")
    if isinstance(value, str) or name in ("target", "agrees_on"):
        return Cell(str(value), kind="text")
    number = float(str(value))
    if name == "p_value":
        return Cell("< 0.0001" if number < 0.0001 else f"{number:.4f}", sort=sortable(number))
    if name in ("released_trial", "released_row"):
        return Cell(f"{number:.0f}", sort=sortable(number))
    return Cell(f"{number:.3f}" if name == "auc" else f"{number:g}", sort=sortable(number))


def people_figures(people: Sequence[People]) -> list[PageFigure]:
    """The AUC of every person in ascending order, of the subject that exposes them most."""
    worst = sorted(people, key=lambda one: one.mean.value, reverse=True)[:1]
    return [_figure(one, "people") for one in worst]


def _figure(people: People, name: str) -> PageFigure:
    ascending = people.table.sort_values("either_way", ignore_index=True)
    areas, certain = ascending["either_way"].to_numpy(), ascending["p_value"].to_numpy() <= _CERTAIN
    place = np.arange(1, len(areas) + 1)
    figure = new_figure(6.4, 3.0)
    axes = figure.add_subplot()
    axes.axhline(0.5, color=GREY, linewidth=1)
    low, high = (np.sort(ascending[end].to_numpy()) for end in ("low", "high"))
    axes.fill_between(place, low, high, color=COLOURS[0], alpha=0.15, linewidth=0, step="mid")
    axes.plot(place[~certain], areas[~certain], "o", color=COLOURS[0], markersize=4)
    axes.plot(place[certain], areas[certain], "^", color=COLOURS[1], markersize=5)
    axes.set_xlabel("People, by AUC")
    axes.set_ylabel("AUC, either way round")
    axes.set_ylim(0.48, 1.02)
    figure.tight_layout()
    what = f"AUC of {people.attack} for each of {len(areas)} people in {people.subject}"
    caption = (
        f"{what}, one mark each, whichever way round its scores tell more (.2 counts as .8, so "
        f"that chance alone lies a little above 0.5). Triangles: exposed by how attacks rank "
        f"trials (95% confidence about all people together). Shaded: between what each place in "
        f"this order is at least and at most, by the attack that tells most, with 95% confidence "
        f"for all places together."
    )
    return PageFigure(people.subject, (inline_svg(figure, name, what),), caption)


def told_on_maps(findings: Findings) -> list[str]:
    """Who is told for certain and was no target, by subject."""
    said = []
    for name, records in findings.shown_on_maps.items():
        number = len(records)
        who = "record that is no target is" if number == 1 else "records that are no targets are"
        named = listing(records, _NAMED, show=str)
        said.append(
            f"On the exposure map of {name}, {number:,} {who} told apart for certain ({named}; "
            f"{100 * CONFIDENCE:g}% over all records of the map and all other ways to show a "
            "leak): make the first of the map the targets, to say how much it tells."
        )
    return said


def map_csv(subjects: Sequence[AuditedSubject]) -> str:
    """Every record that was judged as CSV, most exposed first, safe to open in a spreadsheet."""
    tables = [
        one.exposure.ranked.assign(subject=one.name) for one in subjects if one.exposure is not None
    ]
    table = pd.concat(tables, ignore_index=True)
    return csv_text(table, ("subject",))


@dataclass(frozen=True)
class MapTable:
    """The first of a map, as a page lists them."""

    subject: str
    total: int
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def map_tables(subjects: Sequence[AuditedSubject]) -> list[MapTable]:
    """The records that stand first on the map of every subject."""
    return [_map_table(one.name, one.exposure) for one in subjects if one.exposure is not None]


def _map_table(subject: str, found: ExposureMap) -> MapTable:
    rows = tuple(
        (
            Cell(str(row["record"]), kind="text"),
            Cell(f"{row['expected']:.3f}", sort=sortable(row["expected"])),
            estimate_cell(Estimate(row["auc"], row["low"], row["high"])),
            Cell("yes" if row["is_target"] else "no", kind="text"),
        )
        for row in found.ranked.head(MOST_RECORDS).to_dict("records")
    )
    return MapTable(subject, len(found), ("Record", "Expected AUC", "AUC", "Target"), rows)


def map_figures(subjects: Sequence[AuditedSubject]) -> list[PageFigure]:
    """How many records have which AUC, of every subject with a map."""
    return [
        _map_figure(one.name, one.exposure, f"map{number}")
        for number, one in enumerate(subjects)
        if one.exposure is not None
    ]


def _map_figure(subject: str, found: ExposureMap, name: str) -> PageFigure:
    measured, expected = found.ranked["auc"], found.ranked["expected"]
    edges = np.linspace(min(0.3, measured.min()), 1.0, _BINS + 1)
    figure = new_figure(6.4, 3.0)
    axes = figure.add_subplot()
    axes.axvline(0.5, color=GREY, linewidth=1)
    for values, label, colour in ((measured, "measured", 0), (expected, "without chance", 1)):
        heights = 100 * np.histogram(values, edges)[0] / len(values)
        axes.stairs(heights, edges, label=label, color=COLOURS[colour], linewidth=2)
    axes.set_xlabel("AUC")
    axes.set_ylabel("share of records (%)")
    axes.legend(frameon=False)
    figure.tight_layout()
    what = f"Exposure of {len(found):,} records of {subject}"
    caption = (
        f"{what}: how many have which AUC, as measured, and as expected in further trials, when "
        f"what chance added is taken off. Guessing is 0.5."
    )
    return PageFigure(subject, (inline_svg(figure, name, what),), caption)
