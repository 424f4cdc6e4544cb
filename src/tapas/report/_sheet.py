"""Many small panels on one sheet: matplotlib spends most of its time on making and drawing axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tapas.report._figure import GREY, new_figure

if TYPE_CHECKING:
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
    axes : Axes
        Bare, over all of the figure.
    """

    def __init__(self, width: float, height: float) -> None:
        self.figure = new_figure(width, height)
        self.axes = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), frameon=False)
        self.axes.set(xlim=(0, width), ylim=(0, height), xticks=[], yticks=[])
        self._lines: dict[Look, list[np.ndarray]] = {}

    def text(self, x: float, y: float, text: str, **properties: object) -> None:
        """Write somewhere."""
        self.axes.text(x, y, text, **properties)  # type: ignore[arg-type]

    def lines(
        self, x: ArrayLike, y: ArrayLike, to_x: ArrayLike, to_y: ArrayLike, look: Look
    ) -> None:
        """Draw lines from points to others."""
        ends = np.stack(np.broadcast_arrays(x, y, to_x, to_y), axis=-1)
        self._lines.setdefault(look, []).append(ends.reshape(-1, 2, 2))

    def finished(self) -> "Figure":
        """The figure, with all lines."""
        from matplotlib.collections import LineCollection

        for look, parts in self._lines.items():
            colour, width, order, style = look
            segments = list(np.concatenate(parts))
            lines = LineCollection(
                segments, colors=colour, linewidths=width, zorder=order, linestyles=style
            )
            self.axes.add_collection(lines, autolim=False)
        return self.figure


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
        self.sheet.text(self.left, self.top + 0.085, title, fontsize=9.5, va="baseline")

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
            self.sheet.text(place, below, label, fontsize=8, ha="center", va="top")

    def draw_names(self, names: Sequence[str]) -> None:
        """Write the categories to the left."""
        for place, name in zip(self.y(np.arange(len(names))), names, strict=True):
            self.sheet.text(self.left - 0.06, place, name, fontsize=8.5, ha="right", va="center")

    def draw_chance(self, value: float) -> None:
        """Mark what an attack that learns nothing has."""
        at = self.x(np.array([value]))
        self.sheet.lines(at, self.bottom, at, self.top, _CHANCE)
