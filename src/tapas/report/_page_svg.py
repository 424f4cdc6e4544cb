"""Figures as SVG inside a page: no style attributes, themed colours, texts on hover."""

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from tapas.report._figure import COLOURS, GREY, TIP

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["inline_svg"]

# A page without inline styles may not set them in a figure either; the page's style sheet gives
# these classes their colours, light and dark.
_INKS = {
    **{colour.lower(): f"c{number}" for number, colour in enumerate(COLOURS)},
    "#000000": "ink",
    GREY: "grey",
    "#e6e6e6": "grid",
    "#efefef": "grid",
    "#ffffff": "paper",
}
_KEPT = {
    "fill",
    "fill-opacity",
    "font-size",
    "font-style",
    "font-weight",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"#([\w-]+)")
_DRAWN = {"use", "line", "polygon", "rect"}
_SCALE = 1.28


def inline_svg(figure: "Figure", name: str, description: str) -> str:
    """Return the figure as an ``<svg>`` element for an HTML page; equal figures give equal text.

    Parameters
    ----------
    figure
        The figure; its texts are drawn literally.
    name
        Prefix of the element's ids, different for each figure of a page.
    description
        What the figure shows, for readers who cannot see it.
    """
    root = ElementTree.fromstring(_written(figure))
    for child in [c for c in root if not c.tag.endswith("}g")]:
        if child.tag.endswith("}metadata") or not _holds_clip(child):
            root.remove(child)
    kept = _referenced(root)
    for element in list(root.iter()):
        _settle(element, name, kept)
    _drop_background(root)
    for old in ("height", "version"):
        root.attrib.pop(old, None)
    # The same scale for all figures gives them the same letters.
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib["width"] = f"{_SCALE * width:.0f}"
    spoken = "".join(c if c.isprintable() else " " for c in description)
    root.attrib |= {"class": "chart", "role": "img", "aria-label": spoken}
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _written(figure: "Figure") -> str:
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_text(text.get_text().replace(r"\$", "$"))
    settings = {"svg.fonttype": "none", "svg.hashsalt": "tapas", "path.simplify": True}
    buffer = io.StringIO()
    with warnings.catch_warnings(), matplotlib.rc_context(settings):
        warnings.filterwarnings("ignore", message=r".*[Gg]lyph.*")
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _holds_clip(element: ElementTree.Element) -> bool:
    return any(child.tag.endswith("}clipPath") for child in element.iter())


def _referenced(root: ElementTree.Element) -> set[str]:
    return {
        found
        for element in root.iter()
        for key, value in element.attrib.items()
        if key.endswith("href") or key == "clip-path"
        for found in _REFERENCE.findall(value)
    }


def _settle(element: ElementTree.Element, name: str, kept: set[str]) -> None:
    """Rewrite one element: plain tag, prefixed ids, classes for colours, texts on hover."""
    element.tag = element.tag.rpartition("}")[2]
    attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
    style = attributes.pop("style", "")
    mark = attributes.pop("id", "")
    if mark in kept:
        attributes["id"] = f"{name}-{mark}"
    for key in ("href", "clip-path"):
        if key in attributes:
            attributes[key] = attributes[key].replace("#", f"#{name}-")
    for key in ("d", "x", "y", "transform", "width", "height", "points"):
        if key in attributes:
            attributes[key] = " ".join(_LONG_NUMBER.sub(_rounded, attributes[key]).split())
    element.attrib.clear()
    element.attrib |= attributes | _presentation(style, element.tag)
    if mark.startswith(TIP):
        _add_tips(element, mark.split(TIP)[1:])
    if element.tag not in ("text", "tspan", "title"):
        element.text = None
    element.tail = None


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")


def _presentation(style: str, tag: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    classes = ["f-ink"] if tag == "text" and "fill:" not in style else []
    for declaration in filter(None, (part.strip() for part in style.split(";"))):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        size = re.search(r"[\d.]+px", value)
        if key == "font" and size:
            key, value = "font-size", size.group()
        ink = _INKS.get(value.lower())
        if key in ("fill", "stroke") and ink is not None:
            classes.append(f"{key[0]}-{ink}")
        elif key in _KEPT:
            attributes[key] = value
    return attributes | ({"class": " ".join(classes)} if classes else {})


def _add_tips(element: ElementTree.Element, texts: list[str]) -> None:
    drawn = [child for child in element.iter() if child.tag.rpartition("}")[2] in _DRAWN]
    places = drawn if len(drawn) == len(texts) > 1 else [element]
    for place, text in zip(places, texts, strict=False):
        title = ElementTree.Element("title")
        title.text = text
        place.insert(0, title)


def _drop_background(root: ElementTree.Element) -> None:
    """Remove the white sheet behind the figure: the page has its own."""
    figure = root.find("g")
    if figure is not None and len(figure) and figure[0].find("path") is not None:
        figure.remove(figure[0])
