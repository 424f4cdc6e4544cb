"""Text as outlines that are made once: laying text out anew is what figures spend most time on."""

import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.path import Path

__all__ = ["Lettering"]

_POINT = 1 / 72  # inches
_LINE_SPACING = 1.2


@dataclass(frozen=True)
class Lettering:
    """Text at a place, in inches.

    Attributes
    ----------
    x, y : float
    text : str
        With line breaks, and formulae between dollar signs.
    size : float
        In points.
    across, up : str
        Which part of the text stands at the place.
    colour : str
    bold : bool
    """

    x: float
    y: float
    text: str
    size: float
    across: Literal["left", "center", "right"] = "left"
    up: Literal["top", "center", "baseline", "bottom"] = "baseline"
    colour: str = "black"
    bold: bool = False

    def outlines(self) -> "list[Path]":
        """The outline of each line."""
        from matplotlib.path import Path

        lines = self.text.split("\n")
        drop = _LINE_SPACING * self.size * _POINT
        top, bottom = (self.size * _POINT * end for end in _letter_ends(self.bold))
        tall = top - bottom + drop * (len(lines) - 1)
        first = {
            "top": self.y - top,
            "center": self.y + tall / 2 - top,
            "baseline": self.y,
            "bottom": self.y + tall - top,
        }[self.up]
        found = []
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            vertices, codes, width = _outline(line, self.bold)
            scale = self.size * _POINT
            left = {"left": 0.0, "center": width / 2, "right": width}[self.across] * scale
            corner = np.array([self.x - left, first - number * drop])
            found.append(Path(vertices * scale + corner, codes))
        return found


@lru_cache(maxsize=4096)
def _outline(line: str, bold: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """A line of size 1 that starts at 0, and its width; what the font lacks is drawn as boxes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(weight="bold" if bold else "normal")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*[Gg]lyph.*")
        made = TextPath((0, 0), line, size=100, prop=font)
    vertices = np.array(made.vertices).reshape(-1, 2) / 100
    return vertices, np.array(made.codes, dtype=np.uint8), float(vertices[:, 0].max(initial=0.0))


@lru_cache(maxsize=2)
def _letter_ends(bold: bool) -> tuple[float, float]:
    """How far letters reach above and below their line."""
    heights = _outline("lp", bold)[0][:, 1]
    return float(heights.max()), float(heights.min())
