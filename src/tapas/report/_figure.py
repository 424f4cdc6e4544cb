"""Figures without global state: canvas, colours and text that cannot crash a report."""

import functools
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "GREY",
    "MARKERS",
    "TIP",
    "look",
    "new_figure",
    "plain",
    "save",
    "tips",
    "wrapped",
]

# Okabe and Ito's palette, told apart with every common kind of colour blindness; its yellow is
# left out because it is too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
GREY = "#767676"
DPI = 110
# Marks and parts the texts that a drawn thing shows on hover, where the figure becomes SVG. No
# text that passed `plain` holds it.
TIP = "\ue000"
# Labels such as "Closest(Hamming, accuracy)" break after punctuation rather than inside a word.
_WORDS = re.compile(r"\$[^$]*\$|[^\s(,_/|$-]+[\s(,_/|-]*|[\s(,_/|-]+|\$")


def look(index: int) -> tuple[str, str]:
    """Return the colour and marker of the series at `index`; 56 differ."""
    return COLOURS[index % len(COLOURS)], MARKERS[(index + index // 56) % len(MARKERS)]


def new_figure(width: float, height: float) -> "Figure":
    """Return a figure of that size in inches, on its own canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI)
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", path: Path) -> Path:
    """Write the figure; characters that the font lacks are drawn as boxes, without warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*[Gg]lyph.*")
        figure.savefig(path, dpi=DPI)
    return path


def tips(texts: Iterable[str]) -> str:
    """Return the group id that gives each of the things drawn together its text on hover."""
    return "".join(TIP + plain(text).replace(r"\$", "$") for text in texts)


@functools.lru_cache(maxsize=4096)
def plain(text: object) -> str:
    """Return `text` fit for drawing: formulae where they can be read, literal text where not."""
    line = "".join(c if c.isprintable() else " " for c in str(text))
    if "$" not in line or _is_readable_formula(line):
        return line
    return line.replace("$", r"\$")


def wrapped(text: object, width: int = 22, lines: int = 3) -> str:
    """Return `text` over at most so many lines; a formula is never broken."""
    line = plain(text)
    if _length(line) <= width:
        return line
    pieces = [""]
    for word in _WORDS.findall(line):
        cuts = range(0, len(word), len(word) if "$" in word else width)
        for part in [word[i : cuts.step + i] for i in cuts]:
            if pieces[-1] and _length(pieces[-1]) + _length(part.rstrip()) > width:
                pieces.append("")
            pieces[-1] += part
    if len(pieces) > lines:
        # Long names often differ at their ends only.
        tail = pieces[-1] if "$" in line else line[1 - width :]
        pieces = [*pieces[: lines - 1], "…" + tail]
    return "\n".join(piece.strip() for piece in pieces)


def _length(text: str) -> int:
    # A formula is drawn about half as wide as its source.
    return len(text) - sum(len(formula) // 2 for formula in re.findall(r"\$[^$]*\$", text))


def _is_readable_formula(line: str) -> bool:
    from matplotlib.mathtext import MathTextParser

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MathTextParser("agg").parse(line)
    except (ValueError, RuntimeError, KeyError):
        return False
    return True
