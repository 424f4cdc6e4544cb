"""Write docs/library-of-attacks.md from the docstrings of the attacks.

Run with ``python docs/make_library.py``; a test fails while the page is out of date.
"""

import inspect
import re
from pathlib import Path

import tapas.attacks
from tapas.attacks import Attack, DensityEstimator, DistanceMetric, SetClassifier, SetFeature

PAGE = Path(__file__).with_name("library-of-attacks.md")
INTRODUCTION = """\
# Library of attacks

This page is written from the docstrings by `python docs/make_library.py`.

Every attack accepts `label=`, its display name. *D* is the released table, the *target* is the
record that the attacker wants to know about. Scores are higher where the positive secret
(membership, or the second attribute value) is likelier. `criterion=` says how a threshold on the
score is chosen: `"accuracy"`, `("tp", rate)`, `("fp", rate)` or `("threshold", value)`; the last
needs no training trials and is the only one that a no-box attacker can use. How to write your own
is told in [implementing-attacks.md](implementing-attacks.md).
"""
GROUPS = (
    ("Attacks", Attack),
    ("Distances between records", DistanceMetric),
    ("Features of a table", SetFeature),
    ("Classifiers of tables", SetClassifier),
    ("Density estimators", DensityEstimator),
)
_FIELD = re.compile(r"^(Idea|Needs|Score|Reference)(?::\s*|$)", re.MULTILINE)


def page() -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION]
    for title, base in GROUPS:
        classes = _public(base)
        parts.append(f"## {title}\n\n{_overview(classes)}\n")
        parts += [_section(cls) for cls in classes]
    return "\n".join(parts)


def _public(base: type) -> list[type]:
    named = (getattr(tapas.attacks, name) for name in tapas.attacks.__all__)
    return sorted(
        (c for c in named if inspect.isclass(c) and issubclass(c, base)),
        key=lambda c: (c is not base, c.__name__.lower()),
    )


def _overview(classes: list[type]) -> str:
    rows = [f"| [`{c.__name__}`](#{c.__name__.lower()}) | {_first_line(c)} |" for c in classes]
    return "\n".join(["| class | |", "|---|---|", *rows])


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _section(cls: type) -> str:
    text = inspect.getdoc(cls) or ""
    return f"### {cls.__name__}\n\n```python\n{_signature(cls)}\n```\n\n{_as_markdown(text)}\n"


def _signature(cls: type) -> str:
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(cls).parameters.values()
    ]
    return f"{cls.__name__}({', '.join(str(parameter) for parameter in parameters)})"


def _as_markdown(text: str) -> str:
    """Headings become bold words; indented explanations become paragraphs."""
    lines: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if set(stripped) == {"-"}:
            lines[-1] = f"**{lines[-1]}**"
            lines.append("")
        elif match := _FIELD.match(line):
            lines += ["", f"*{match[1]}.* {line[match.end() :]}".rstrip()]
        elif re.match(r"^\w[\w, ]* : ", line):
            name, kind = line.split(" : ", 1)
            lines += ["", f"- `{name}`: {kind}"]
        elif line.startswith("    ") and lines and lines[-1].startswith("- `"):
            lines.append(f"  {stripped}")
        else:
            lines.append(stripped)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return text.replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
