"""How exposure is spread over people: a picture, and a list."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tapas.report._figure import COLOURS, GREY, new_figure
from tapas.report._page_figures import PageFigure
from tapas.report._page_svg import inline_svg
from tapas.results import AuditedSubject, ExposureMap, People, spreadsheet_safe

__all__ = ["map_csv", "map_figures", "people_csv", "people_figures"]

_CERTAIN = 0.05
_BINS = 35


def people_csv(people: Sequence[People]) -> str:
    """All people as CSV, most exposed first, safe to open in a spreadsheet."""
    tables = [one.table.assign(subject=one.subject, attack=one.attack) for one in people]
    table = pd.concat(tables, ignore_index=True)
    ordered = table[["subject", "attack", "target", "auc", "p_value"]]
    return spreadsheet_safe(ordered).to_csv(index=False, lineterminator="\n")


def people_figures(people: Sequence[People]) -> list[PageFigure]:
    """The AUC of every person in ascending order, of the subject that exposes them most."""
    worst = sorted(people, key=lambda one: one.mean.value, reverse=True)[:1]
    return [_figure(one, "people") for one in worst]


def _figure(people: People, name: str) -> PageFigure:
    ascending = people.table.iloc[::-1]
    areas, certain = ascending["auc"].to_numpy(), ascending["p_value"].to_numpy() <= _CERTAIN
    place = np.arange(1, len(areas) + 1)
    figure = new_figure(6.4, 3.0)
    axes = figure.add_subplot()
    axes.axhline(0.5, color=GREY, linewidth=1)
    axes.plot(place[~certain], areas[~certain], "o", color=COLOURS[0], markersize=4)
    axes.plot(place[certain], areas[certain], "^", color=COLOURS[1], markersize=5)
    axes.set_xlabel("People, from the least to the most exposed")
    axes.set_ylabel("AUC")
    axes.set_ylim(min(0.4, areas.min() - 0.02), 1.02)
    figure.tight_layout()
    what = f"AUC of {people.attack} for each of {len(areas)} people in {people.subject}"
    caption = (
        f"{what}, one mark each. Triangles: exposed beyond doubt (95% confidence about all people "
        f"together). Guessing is 0.5."
    )
    return PageFigure(people.subject, (inline_svg(figure, name, what),), caption)


def map_csv(subjects: Sequence[AuditedSubject]) -> str:
    """Every record that was judged as CSV, most exposed first, safe to open in a spreadsheet."""
    tables = [
        one.exposure.ranked.assign(subject=one.name) for one in subjects if one.exposure is not None
    ]
    table = pd.concat(tables, ignore_index=True)
    ordered = table[["subject", *(name for name in table.columns if name != "subject")]]
    return spreadsheet_safe(ordered).to_csv(index=False, lineterminator="\n")


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
