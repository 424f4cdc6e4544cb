"""Many small panels on one sheet, without axes: making and drawing those takes most of the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tapas.report._figure import GREY, new_figure
from tapas.report._lettering import Lettering

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["Panel", "Sheet"]

Look = tuple[str, float, float, str]  # colour, width, order, style

_BETWEEN: Look = ("#efefef", 0.8, 0, "-")
_GRID: Look = ("#e6e6e6", 0.7, 0.5, "-")
_CHANCE: Look = (GREY, 1.2, 1, ":")
_AXIS: Look = ("black", 0.8, 2.5, "-")
_MARK = 0.045  # inches


class Sheet:
    """A figure whose units are inches, on which lines of one look are drawn together.

    Parameters
    ----------
    width, height : float

    Attributes
    ----------
    figure : Figure
    written : list of Lettering
    """

    def __init__(self, width: float, height: float) -> None:
        self.figure = new_figure(width, height)
        self.written: list[Lettering] = []
        self._lines: dict[Look, list[np.ndarray]] = {}

    def text(self, lettering: Lettering) -> None:
        """Write somewhere."""
        self.written.append(lettering)

    def lines(
        self, x: ArrayLike, y: ArrayLike, to_x: ArrayLike, to_y: ArrayLike, look: Look
    ) -> None:
        """Draw lines from points to others."""
        ends = np.stack(np.broadcast_arrays(x, y, to_x, to_y), axis=-1)
        self._lines.setdefault(look, []).append(ends.reshape(-1, 2, 2))

    def mark(self, x: ArrayLike, y: ArrayLike, marker: str, **properties: object) -> None:
        """Draw markers."""
        from matplotlib.lines import Line2D

        marks = Line2D(x, y, linestyle="", marker=marker, **properties)  # type: ignore[arg-type]
        self._add(marks)

    def finished(self, *, as_text: bool = False) -> "Figure":
        """The figure with all lines and texts, these as outlines or as text that stays text."""
        from matplotlib.collections import LineCollection

        for look, parts in self._lines.items():
            colour, width, order, style = look
            segments = list(np.concatenate(parts))
            lines = LineCollection(
                segments, colors=colour, linewidths=width, zorder=order, linestyles=style
            )
            self._add(lines)
        if as_text:
            self._write()
        else:
            self._draw_letters()
        return self.figure

    def _write(self) -> None:
        for one in self.written:
            self.figure.text(
                one.x,
                one.y,
                one.text,
                fontsize=one.size,
                ha=one.across,
                va=one.up,
                color=one.colour,
                fontweight="bold" if one.bold else "normal",
                transform=self.figure.dpi_scale_trans,
            )

    def _draw_letters(self) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        for colour in {one.colour: None for one in self.written}:
            outlines = [path for o in self.written if o.colour == colour for path in o.outlines()]
            if outlines:
                whole = Path.make_compound_path(*outlines)
                self._add(PathPatch(whole, facecolor=colour, linewidth=0, zorder=4))

    def _add(self, artist: "Artist") -> None:
        artist.set_transform(self.figure.dpi_scale_trans)
        self.figure.add_artist(artist)


@dataclass(frozen=True, eq=False)
class Panel:
    """A place on a sheet, with a scale of its own and one line for each category.

    Attributes
    ----------
    sheet : Sheet
    left, bottom, width, height : float
        In inches.
    low, high : float
        Values at the left and the right end.
    lines : int
        Number of categories, from the top down.
    """

    sheet: Sheet
    left: float
    bottom: float
    width: float
    height: float
    low: float
    high: float
    lines: int

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.bottom + self.height

    def x(self, values: np.ndarray) -> np.ndarray:
        """Where values stand."""
        return self.left + self.width * (values - self.low) / (self.high - self.low)

    def y(self, lines: np.ndarray) -> np.ndarray:
        """Where lines stand; parts of a line are between it and the next."""
        return self.top - self.height * (lines + 0.5) / self.lines

    def draw_title(self, title: str) -> None:
        """Write a title above."""
        self.sheet.text(Lettering(self.left, self.top + 0.085, title, 9.5))

    def draw_scale(self, ticks: Sequence[float], labels: Sequence[str]) -> None:
        """Draw the axis with its ticks, and pale lines behind the points."""
        at, right = self.x(np.array(ticks)), self.left + self.width
        between = self.y(np.arange(1, self.lines) - 0.5)
        self.sheet.lines(at, self.bottom, at, self.top, _GRID)
        self.sheet.lines(self.left, between, right, between, _BETWEEN)
        self.sheet.lines(self.left, self.bottom, right, self.bottom, _AXIS)
        self.sheet.lines(at, self.bottom - _MARK, at, self.bottom, _AXIS)
        for place, label in zip(at, labels, strict=True):
            below = self.bottom - 2 * _MARK
            self.sheet.text(Lettering(place, below, label, 8, "center", "top"))

    def draw_names(self, names: Sequence[str]) -> None:
        """Write the categories to the left."""
        for place, name in zip(self.y(np.arange(len(names))), names, strict=True):
            self.sheet.text(Lettering(self.left - 0.06, place, name, 8.5, "right", "center"))

    def draw_chance(self, value: float) -> None:
        """Mark what an attack that learns nothing has."""
        at = self.x(np.array([value]))
        self.sheet.lines(at, self.bottom, at, self.top, _CHANCE)
