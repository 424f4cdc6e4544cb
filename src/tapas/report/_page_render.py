"""Pages from templates: one self-contained file that may load and run nothing but itself."""

import base64
import functools
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tapas._files import write_text
from tapas.errors import StoreError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render", "write_page"]

# Characters that end a line of text early, hide it, or turn it round.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PARTS = re.compile(r"[^(,_/:.=|]+[(,_/:.=|]*|[(,_/:.=|]+")
_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **content: Any) -> str:
    """Return the page; every string of `content` is escaped, SVG passed through `safe` is not."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template(template)
        .render(style=style, script=script, policy=policy, **content)
    )


def write_page(folder: str | Path, name: str, text: str) -> Path:
    """Write a page, or a file beside it, into a folder, made if needed; whole or not at all."""
    place = Path(folder)
    try:
        write_text(place / name, text)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(
            f"{place / name} cannot be written: {reason}; choose another folder"
        ) from error
    return place / name


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["breakable"] = _breakable
    return environment


def _visible(value: Any) -> Any:
    """Show what would not be seen; templates' own text and SVG come here as markup."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", value)
    return value


def _breakable(text: str) -> Any:
    """Return escaped text that may break after punctuation rather than inside a word."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _PARTS.findall(_visible(text)))


def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
