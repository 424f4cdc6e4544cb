"""One figure that compares metrics across generators, attacks, datasets or targets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from tapas.report._figure import GREY, look, new_figure, plain, tips, wrapped
from tapas.report._panel_points import PanelPoint, gather
from tapas.results import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["AXIS_RANGES", "Comparison", "draw_comparison", "metric_title"]

AXIS_RANGES = {measure.name: measure.axis for measure in MEASURES}
NOTHING_LEARNT = {m.name: m.chance for m in MEASURES if m.chance is not None}
_TITLES = {measure.name: measure.title for measure in MEASURES}
_MOST_IN_LEGEND = 14
_PANEL = 2.35  # inches


@dataclass(frozen=True, eq=False)
class Comparison:
    """What one figure shows.

    Attributes
    ----------
    rows, points
        Metrics of the figure's summaries (see `tapas.report._panel_points.gather`).
    category, series
        Columns whose values are the lines of a panel and the markers on a line.
    metrics
        One panel for each.
    title, note
        Text above and below the panels.
    chance
        Whether the value of an attack that learns nothing is drawn.
    """

    rows: pd.DataFrame
    points: pd.DataFrame | None
    category: str
    series: str
    metrics: Sequence[str]
    title: str
    note: str
    chance: bool = True


def draw_comparison(comparison: Comparison) -> "Figure":
    """Draw one panel per metric: a line for each category, a marker for each series."""
    rows = comparison.rows
    categories = list(dict.fromkeys(rows[comparison.category]))
    series = list(dict.fromkeys(rows[comparison.series]))
    names = [wrapped(category) for category in categories]
    columns, lines = _grid(len(comparison.metrics) + 1)
    figure, panels = _panels(names, len(series), columns, lines, comparison)
    missing = False
    for number, metric in enumerate(comparison.metrics):
        points = gather(
            rows,
            comparison.points,
            (comparison.category, comparison.series),
            (categories, series),
            metric,
        )
        missing |= any(math.isnan(point.value) for point in points)
        panel = panels[number]
        _draw_panel(panel, metric, points, len(series), comparison.chance)
        _set_categories(panel, names, show=number % columns == 0)
    legend = panels[len(comparison.metrics)]
    height = legend.get_position().height * figure.get_size_inches()[1]
    most = max(_MOST_IN_LEGEND, int((height - 0.45) / 0.21) - 3)
    _draw_legend(legend, comparison, series, most, missing)
    for unused in panels[len(comparison.metrics) + 1 :]:
        unused.set_axis_off()
    return figure


def _grid(points: int) -> tuple[int, int]:
    columns = points if points <= 4 else min((4, 3), key=lambda width: -points % width)
    return columns, -(-points // columns)


def _panels(
    names: list[str], num_series: int, columns: int, lines: int, comparison: Comparison
) -> tuple["Figure", list["Axes"]]:
    longest = max(len(part) for name in names for part in name.split("\n"))
    left = 0.3 + 0.075 * min(longest, 40)
    per_line = max(0.34 if len(names) <= 30 else 0.2, 0.115 * min(num_series, 12))
    tall = max(1.25, 0.2 + per_line * len(names))
    legend_tall = 0.45 + 0.19 * (min(num_series, _MOST_IN_LEGEND + 1) + 3)
    tall = min(max(tall, legend_tall), 30.0)
    gap = 0.7
    top = 0.75 if comparison.title else 0.35
    bottom = 0.55 if comparison.note else 0.35
    width = left + columns * _PANEL + (columns - 1) * 0.25 + 0.2
    height = top + lines * tall + (lines - 1) * gap + bottom
    figure = new_figure(width, height)
    grid = figure.add_gridspec(
        lines,
        columns,
        left=left / width,
        right=1 - 0.2 / width,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=0.25 / _PANEL,
        hspace=gap / tall,
    )
    figure.text(
        0.15 / width,
        1 - 0.12 / height,
        wrapped(comparison.title, int(width * 9.5), 2),
        fontsize=11,
        fontweight="bold",
        va="top",
    )
    figure.text(0.15 / width, 0.08 / height, comparison.note, fontsize=8, color=GREY, va="bottom")
    return figure, [
        figure.add_subplot(grid[n // columns, n % columns]) for n in range(columns * lines)
    ]


def _draw_panel(
    panel: "Axes", metric: str, points: list[PanelPoint], num_series: int, chance: bool
) -> None:
    low, high, infinity = _limits(metric, points)
    panel.set_title(metric_title(metric), fontsize=9.5, loc="left")
    if chance and metric in NOTHING_LEARNT:
        panel.axvline(NOTHING_LEARNT[metric], color=GREY, linestyle=":", linewidth=1.2, zorder=1)
    for series in range(num_series):
        _draw_series(panel, series, num_series, points, (low, infinity))
    edge = infinity if any(math.isinf(v) for c in points for v in (c.value, c.high)) else high
    span = edge - low
    panel.set_xlim(low - 0.04 * span, edge + 0.06 * span)
    _set_ticks(panel, low, high, edge)
    panel.spines[["top", "right", "left"]].set_visible(False)


def _draw_series(
    panel: "Axes", series: int, num_series: int, points: list[PanelPoint], ends: tuple[float, float]
) -> None:
    colour, marker = look(series)
    mine = [point for point in points if point.series == series]
    if not mine:
        return
    table = np.array([(c.category, c.value, c.low, c.high) for c in mine], dtype=np.float64)
    offset = min(0.18, 0.66 / num_series) * (series - (num_series - 1) / 2)
    y, missing = table[:, 0] + offset, np.isnan(table[:, 1])
    x, start, stop = (np.clip(table[:, k], *ends) for k in (1, 2, 3))
    barred = ~np.isnan(start)
    if barred.any():
        panel.hlines(y[barred], start[barred], stop[barred], color=colour, linewidth=1.6, zorder=2)
    endless = np.isinf(table[:, 1])
    # Infinity is an arrow at the end of the axis, where the tick says so; undefined is a cross.
    for these, symbol, edge in (
        (~missing & ~endless, marker, "white"),
        (endless, ">", "white"),
        (missing, "x", colour),
    ):
        if these.any():
            panel.plot(
                np.where(missing, ends[0], x)[these],
                y[these],
                linestyle="",
                marker=symbol,
                color=colour,
                markersize=5.5 if num_series <= 8 else 4,
                markeredgecolor=edge if num_series <= 8 else colour,
                markeredgewidth=1.2 if symbol == "x" else 0.5,
                zorder=3,
                gid=tips(
                    _reading(point) for point, shown in zip(mine, these, strict=True) if shown
                ),
            )


def _reading(point: PanelPoint) -> str:
    if math.isnan(point.value):
        return "undefined"
    if math.isnan(point.low):
        return f"{point.value:.3g}"
    return f"{point.value:.3g} ({point.low:.3g} to {point.high:.3g})"


def metric_title(metric: str) -> str:
    """Return the name of a metric as people write it."""
    return _TITLES.get(metric, metric.replace("_", " ").capitalize())


def _limits(metric: str, points: list[PanelPoint]) -> tuple[float, float, float]:
    """Return the ends of the finite axis, and the place where infinity is drawn."""
    low, high = AXIS_RANGES.get(metric, (0.0, 1.0))
    values = [
        v for point in points for v in (point.value, point.low, point.high) if math.isfinite(v)
    ]
    low, high = min([low, *values]), max([high, *values])
    return low, high, high + 0.15 * (high - low)


def _set_ticks(panel: "Axes", low: float, high: float, edge: float) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator

    ticks = [
        t
        for t in MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        if low <= t <= high + 1e-9
    ]
    if edge > high:
        ticks = [t for t in ticks if t < edge - 0.12 * (edge - low)] + [edge]
    panel.xaxis.set_major_locator(FixedLocator(ticks))
    panel.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: "∞" if x == edge and edge > high else f"{x:.3g}")
    )
    panel.tick_params(axis="x", labelsize=8)
    panel.grid(axis="x", color="#e6e6e6", linewidth=0.7)
    panel.set_axisbelow(True)


def _set_categories(panel: "Axes", names: list[str], *, show: bool) -> None:
    panel.set_ylim(len(names) - 0.5, -0.5)
    if show:
        panel.set_yticks(range(len(names)), names, fontsize=8.5)
        panel.tick_params(axis="y", length=0)
    else:
        panel.yaxis.set_visible(False)
    panel.hlines(
        [line - 0.5 for line in range(1, len(names))],
        *panel.get_xlim(),
        color="#efefef",
        linewidth=0.8,
        zorder=0,
    )


def _draw_legend(
    panel: "Axes", comparison: Comparison, series: list[Any], most: int, missing: bool
) -> None:
    from matplotlib.lines import Line2D

    panel.set_axis_off()
    handles: list[Any] = []
    for index, name in enumerate(series[:most]):
        colour, marker = look(index)
        label = wrapped(name, 26, 2)
        handles.append(
            Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, label=label)
        )
    rest = len(series) - most
    if rest > 0:
        handles.append(Line2D([], [], linestyle="", label=f"… and {rest} more"))
    if comparison.chance and any(metric in NOTHING_LEARNT for metric in comparison.metrics):
        handles.append(Line2D([], [], color=GREY, linestyle=":", label="nothing learnt"))
    if missing:
        handles.append(
            Line2D([], [], color=GREY, marker="x", linestyle="", markersize=5, label="undefined")
        )
    panel.legend(
        handles=handles,
        title=plain(comparison.series.replace("_id", "")),
        loc="upper left",
        bbox_to_anchor=(0.0, 1.0),
        frameon=False,
        fontsize=8.5,
        title_fontsize=9,
        alignment="left",
    )
