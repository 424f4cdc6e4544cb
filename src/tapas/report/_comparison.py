"""One figure that compares metrics across generators, attacks, datasets or targets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.report._figure import GREY, look, plain, tips, wrapped
from tapas.report._lettering import Lettering
from tapas.report._panel_points import PanelPoint, gather
from tapas.report._sheet import Panel, Sheet
from tapas.results import MEASURES

__all__ = ["AXIS_RANGES", "Comparison", "draw_comparison", "metric_title"]

AXIS_RANGES = {measure.name: measure.axis for measure in MEASURES}
_NOTHING_LEARNT = {m.name: m.chance for m in MEASURES if m.chance is not None}
_TITLES = {measure.name: measure.title for measure in MEASURES}
_MOST_IN_LEGEND = 14
_PANEL, _BESIDE, _BELOW = 2.35, 0.25, 0.7  # a panel's width, and the gaps, in inches


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
    fair
        Whether half of the guesses are right by chance; otherwise no line says what accuracy an
        attack has that learns nothing.
    """

    rows: pd.DataFrame
    points: pd.DataFrame | None
    category: str
    series: str
    metrics: Sequence[str]
    title: str
    note: str
    fair: bool = True

    def nothing_learnt(self, metric: str) -> float | None:
        """The value of an attack that learns nothing, where it is known."""
        is_known = self.fair or metric != "accuracy"
        return _NOTHING_LEARNT.get(metric) if is_known else None


def draw_comparison(comparison: Comparison) -> Sheet:
    """Draw one panel per metric: a line for each category, a marker for each series."""
    rows = comparison.rows
    categories = list(dict.fromkeys(rows[comparison.category]))
    series = list(dict.fromkeys(rows[comparison.series]))
    names = [wrapped(category) for category in categories]
    layout = _Layout.of(names, len(series), comparison)
    sheet = Sheet(layout.width, layout.height)
    _write_around(sheet, layout, comparison)
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
        scale = _Scale.of(metric, points)
        panel = Panel(
            sheet, *layout.corner(number), _PANEL, layout.tall, *scale.ends, len(categories)
        )
        chance = comparison.nothing_learnt(metric)
        _draw_panel(panel, scale, metric, points, len(series), chance)
        if number % layout.columns == 0:
            panel.draw_names(names)
    most = max(_MOST_IN_LEGEND, int((layout.tall - 0.45) / 0.21) - 3)
    left, bottom = layout.corner(len(comparison.metrics))
    _draw_legend(sheet, (left, bottom + layout.tall), comparison, series, most, missing)
    return sheet


@dataclass(frozen=True)
class _Layout:
    """Where panels stand, in inches; the legend has the place after the last."""

    left: float
    top: float
    tall: float
    columns: int
    width: float
    height: float

    @classmethod
    def of(cls, names: list[str], num_series: int, comparison: Comparison) -> "_Layout":
        """Room for so many lines, markers and metrics."""
        columns, lines = _grid(len(comparison.metrics) + 1)
        longest = max(len(part) for name in names for part in name.split("\n"))
        left = 0.3 + 0.075 * min(longest, 40)
        per_line = max(0.34 if len(names) <= 30 else 0.2, 0.115 * min(num_series, 12))
        tall = max(1.25, 0.2 + per_line * len(names))
        legend_tall = 0.45 + 0.19 * (min(num_series, _MOST_IN_LEGEND + 1) + 3)
        tall = min(max(tall, legend_tall), 30.0)
        top = 0.75 if comparison.title else 0.35
        bottom = 0.55 if comparison.note else 0.35
        width = left + columns * _PANEL + (columns - 1) * _BESIDE + 0.2
        height = top + lines * tall + (lines - 1) * _BELOW + bottom
        return cls(left, top, tall, columns, width, height)

    def corner(self, number: int) -> tuple[float, float]:
        """The left end and the bottom of a panel."""
        line, column = divmod(number, self.columns)
        bottom = self.height - self.top - self.tall - line * (self.tall + _BELOW)
        return self.left + column * (_PANEL + _BESIDE), bottom


def _grid(points: int) -> tuple[int, int]:
    columns = points if points <= 4 else min((4, 3), key=lambda width: -points % width)
    return columns, -(-points // columns)


def _write_around(sheet: Sheet, layout: _Layout, comparison: Comparison) -> None:
    title = wrapped(comparison.title, int(layout.width * 9.5), 2)
    sheet.text(Lettering(0.15, layout.height - 0.12, title, 11, up="top", bold=True))
    sheet.text(Lettering(0.15, 0.08, comparison.note, 8, up="bottom", colour=GREY))


@dataclass(frozen=True)
class _Scale:
    """Values from the least to the most, and the place of infinity, where `edge` is."""

    low: float
    high: float
    infinity: float
    edge: float

    @classmethod
    def of(cls, metric: str, points: list[PanelPoint]) -> "_Scale":
        """The scale of a metric, wide enough for its points."""
        low, high = AXIS_RANGES.get(metric, (0.0, 1.0))
        values = [v for point in points for v in (point.value, point.low, point.high)]
        finite = [value for value in values if math.isfinite(value)]
        low, high = min([low, *finite]), max([high, *finite])
        infinity = high + 0.15 * (high - low)
        endless = any(math.isinf(v) for point in points for v in (point.value, point.high))
        return cls(low, high, infinity, infinity if endless else high)

    @property
    def ends(self) -> tuple[float, float]:
        """Values at the ends of the panel."""
        span = self.edge - self.low
        return self.low - 0.04 * span, self.edge + 0.06 * span

    def ticks(self) -> list[float]:
        """Round values, and infinity where it occurs."""
        from matplotlib.ticker import MaxNLocator

        all_ticks = MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]).tick_values(self.low, self.high)
        ticks = [tick for tick in all_ticks if self.low <= tick <= self.high + 1e-9]
        if self.edge == self.high:
            return ticks
        return [t for t in ticks if t < self.edge - 0.12 * (self.edge - self.low)] + [self.edge]


def _draw_panel(
    panel: Panel,
    scale: _Scale,
    metric: str,
    points: list[PanelPoint],
    num_series: int,
    chance: float | None,
) -> None:
    panel.draw_title(metric_title(metric))
    ticks = scale.ticks()
    panel.draw_scale(ticks, ["∞" if t > scale.high + 1e-9 else f"{t:.3g}" for t in ticks])
    if chance is not None:
        panel.draw_chance(chance)
    for series in range(num_series):
        _draw_series(panel, series, num_series, points, (scale.low, scale.infinity))


def _draw_series(
    panel: Panel, series: int, num_series: int, points: list[PanelPoint], ends: tuple[float, float]
) -> None:
    colour, marker = look(series)
    mine = [point for point in points if point.series == series]
    if not mine:
        return
    table = np.array([(c.category, c.value, c.low, c.high) for c in mine], dtype=np.float64)
    offset = min(0.18, 0.66 / num_series) * (series - (num_series - 1) / 2)
    y, missing = panel.y(table[:, 0] + offset), np.isnan(table[:, 1])
    shown = np.where(missing, ends[0], table[:, 1])
    x, start, stop = (
        panel.x(np.clip(values, *ends)) for values in (shown, table[:, 2], table[:, 3])
    )
    barred = ~np.isnan(start)
    if barred.any():
        bars = start[barred], y[barred], stop[barred], y[barred]
        panel.sheet.lines(*bars, (colour, 1.6, 2, "-"))
    endless = np.isinf(table[:, 1])
    # Infinity is an arrow at the end of the axis, where the tick says so; undefined is a cross.
    for these, symbol, edge in (
        (~missing & ~endless, marker, "white"),
        (endless, ">", "white"),
        (missing, "x", colour),
    ):
        if these.any():
            panel.sheet.mark(
                x[these],
                y[these],
                symbol,
                color=colour,
                markersize=5.5 if num_series <= 8 else 4,
                markeredgecolor=edge if num_series <= 8 else colour,
                markeredgewidth=1.2 if symbol == "x" else 0.5,
                zorder=3,
                gid=tips(
                    _reading(point) for point, is_one in zip(mine, these, strict=True) if is_one
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


def _draw_legend(
    sheet: Sheet,
    corner: tuple[float, float],
    comparison: Comparison,
    series: list[str],
    most: int,
    missing: bool,
) -> None:
    """Names beside their markers, from the corner down."""
    entries = [(wrapped(name, 26, 2), *look(index)) for index, name in enumerate(series[:most])]
    rest = len(series) - most
    if rest > 0:
        entries.append((f"… and {rest} more", GREY, ""))
    if any(comparison.nothing_learnt(metric) is not None for metric in comparison.metrics):
        entries.append(("nothing learnt", GREY, ":"))
    if missing:
        entries.append(("undefined", GREY, "x"))
    left, top = corner[0] + 0.1, corner[1] - 0.12
    sheet.text(Lettering(left, top, plain(comparison.series.replace("_id", "")), 9, up="center"))
    for label, colour, marker in entries:
        tall = 0.19 + 0.14 * label.count("\n")
        middle = top - 0.02 - tall / 2 - 0.095
        top -= tall
        if marker == ":":
            sheet.lines(left, middle, left + 0.24, middle, (colour, 1.5, 2, ":"))
        elif marker:
            sheet.mark([left + 0.12], [middle], marker, color=colour, markersize=5)
        sheet.text(Lettering(left + 0.34, middle, label, 8.5, up="center"))
