"""Draw docs/audit-flow.svg: how a line of data walks through an audit.

Run with ``python docs/make_flow.py``; a test fails while the picture is out of date.
"""

from html import escape
from pathlib import Path

PICTURE = Path(__file__).with_name("audit-flow.svg")
WIDTH, HEIGHT = 1040, 524
BOX_WIDTH, BOX_HEIGHT = 164, 62
COLUMNS = (26, 226, 426, 626, 826)
ROWS = (58, 236, 424)
STYLE = """
  .paper { fill: #ffffff } .frame { fill: #f5f7fa; stroke: #c3cbd6 }
  .box { fill: #ffffff; stroke: #33475b; stroke-width: 1.4 }
  .kept { fill: #fff6df; stroke: #8a6a12 }
  text { font-family: "Helvetica Neue", Arial, sans-serif; fill: #1c2733 }
  .name { font-size: 15px; font-weight: 600; text-anchor: middle }
  .note { font-size: 12px; text-anchor: middle; fill: #46566a }
  .room { font-size: 12px; font-family: Menlo, Consolas, monospace; text-anchor: middle;
          fill: #0b5c8a }
  .title { font-size: 13px; font-weight: 600; fill: #46566a }
  .aside { font-size: 12px; fill: #8a6a12 }
  .walk { stroke: #33475b; stroke-width: 1.8; fill: none; marker-end: url(#head) }
  .side { stroke: #8a6a12; stroke-width: 1.5; fill: none; stroke-dasharray: 5 4;
          marker-end: url(#thin) }
"""

# name, what it is, the rooms that it lives in; in the order in which a line of data meets them
GAME = (
    ("table", "the private records", "datasets"),
    ("private dataset", "drawn for this trial", "threat_models"),
    ("secret planted", "one for each target", "threat_models"),
    ("mechanism", "a copy, with its own seed", "generators | models"),
    ("release", "what the attacker sees", "game"),
)
ATTACK = (
    ("observation", "a small array per target", "attacks"),
    ("board", "releases x targets", "game"),
    ("score", "higher is likelier", "attacks"),
    ("decision", "the guess", "attacks"),
)
RESULT = (
    ("score table", "scores beside secrets", "results"),
    ("summary", "a view of the table", "results"),
    ("measures", "and bounds, claims, gates", "results, stats"),
    ("page", "shows, computes nothing", "report"),
)


def picture() -> str:
    """The whole picture as SVG."""
    top, middle, bottom = ROWS
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title">',
        '<title id="title">How a line of data walks through an audit</title>',
        f"<style>{STYLE}</style>",
        _heads(),
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        _frame(10, top, WIDTH - 20, "A trial: a pure function of the game and its address"),
        _frame(210, middle, WIDTH - 220, "The attack: it sees releases and a briefing"),
        _frame(210, bottom, WIDTH - 220, "The result: computed once, kept on disk", 130),
    ]
    parts += [_box(x, top, *words) for x, words in zip(COLUMNS, GAME, strict=True)]
    parts += [_box(x, middle, *words) for x, words in zip(COLUMNS[:0:-1], ATTACK, strict=True)]
    parts += [_box(x, bottom, *words) for x, words in zip(COLUMNS[1:], RESULT, strict=True)]
    parts += [_right(x, top) for x in COLUMNS[:4]]
    parts += [_left(x, middle) for x in COLUMNS[:1:-1]]
    parts += [_right(x, bottom) for x in COLUMNS[1:4]]
    centre = COLUMNS[4] + BOX_WIDTH // 2
    parts.append(_path("walk", f"M {centre} {top + BOX_HEIGHT} V {middle - 4}"))
    centre = COLUMNS[1] + BOX_WIDTH // 2
    parts.append(_path("walk", f"M {centre} {middle + BOX_HEIGHT} V {bottom - 4}"))
    parts += _store()
    return "\n".join([*parts, "</svg>", ""])


def _store() -> list[str]:
    """The ledger, at the left: what a trial leaves, and where it is used again."""
    top, middle, bottom = ROWS
    height = bottom + BOX_HEIGHT - middle
    centre = COLUMNS[0] + BOX_WIDTH // 2 - 6
    lines = (
        ("name", "ledger"),
        ("note", "secrets"),
        ("note", "observations"),
        ("note", "small or slow releases"),
        ("note", ""),
        ("note", "kept under the game's"),
        ("note", "spec; what is there"),
        ("note", "is not played again"),
        ("note", ""),
        ("room", "game, engine"),
    )
    parts = [
        f'<rect class="box kept" x="{COLUMNS[0] - 6}" y="{middle}" width="{BOX_WIDTH}" '
        f'height="{height}" rx="8"/>'
    ]
    parts += [
        _text(kind, centre, middle + 28 + 22 * number, words)
        for number, (kind, words) in enumerate(lines)
        if words
    ]
    joint = COLUMNS[0] + BOX_WIDTH // 2
    parts.append(_path("side", f"M {joint} {top + BOX_HEIGHT + 22} V {middle - 4}"))
    parts.append(_text("aside", joint + 10, middle - 70, "every trial, as soon as it is played"))
    edge = COLUMNS[0] - 6 + BOX_WIDTH
    parts.append(_path("side", f"M {edge} {bottom + 34} H {COLUMNS[1] - 4}"))
    parts.append(_path("side", f"M {edge} {middle + 110} H {COLUMNS[3] + 82} V {middle + 66}"))
    parts.append(_text("aside", 420, middle + 104, "secrets of training trials, to learn from"))
    parts.append(_text("aside", COLUMNS[1], bottom + 78, "secrets of test trials, to judge by"))
    return parts


def _heads() -> str:
    def head(name: str, colour: str) -> str:
        return (
            f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M 0 0 L 8 4 L 0 8 z" fill="{colour}"/>'
            f"</marker>"
        )

    return f"<defs>{head('head', '#33475b')}{head('thin', '#8a6a12')}</defs>"


def _frame(x: int, y: int, width: int, title: str, indent: int = 14) -> str:
    frame = (
        f'<rect class="frame" x="{x}" y="{y - 36}" width="{width}" height="{BOX_HEIGHT + 58}" '
        f'rx="10"/>'
    )
    return f"{frame}\n{_text('title', x + indent, y - 15, title)}"


def _box(x: int, y: int, name: str, note: str, room: str) -> str:
    centre = x + BOX_WIDTH // 2
    return "\n".join(
        [
            f'<rect class="box" x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="6"/>',
            _text("name", centre, y + 21, name),
            _text("note", centre, y + 38, note),
            _text("room", centre, y + 54, room),
        ]
    )


def _right(x: int, y: int) -> str:
    middle = y + BOX_HEIGHT // 2
    return _path("walk", f"M {x + BOX_WIDTH} {middle} H {x + 200 - 4}")


def _left(x: int, y: int) -> str:
    middle = y + BOX_HEIGHT // 2
    return _path("walk", f"M {x} {middle} H {x - 36 + 4}")


def _path(kind: str, steps: str) -> str:
    return f'<path class="{kind}" d="{steps}"/>'


def _text(kind: str, x: int, y: int, words: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
