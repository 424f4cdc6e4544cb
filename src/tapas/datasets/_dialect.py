"""Text files: their encoding, what separates cells, and the rows of cells."""

import codecs
import csv
import io
from dataclasses import dataclass

import pandas as pd

from tapas.datasets._plain_text import plainly_cut
from tapas.datasets._reading import Reading, uncertain
from tapas.datasets._words import WordColumn, by_words
from tapas.errors import SchemaError

Rows = list[tuple[str, ...]]

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_LINES_LOOKED_AT = 200
_CHARACTERS_LOOKED_AT = 1 << 18
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Expected:
    """Known beforehand: how many cells a row has, and whether leading spaces belong to them."""

    width: int | None = None
    spaced: bool = False


def decode(content: bytes, reading: Reading) -> tuple[str, str]:
    """The text of a file, and its encoding; UTF-8 unless a mark at its start or a choice says."""
    marked = next((name for mark, name in _BOMS if content.startswith(mark)), None)
    encoding = reading.encoding or marked or "utf-8"
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8") and marked == "utf-8-sig":
        encoding = marked
    try:
        text = content.decode(encoding)
        if "\0" in text:
            raise uncertain("the file holds zero bytes", "encoding=utf-16", "encoding=NAME")
        return text, encoding.removesuffix("-sig")
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        if reading.encoding is not None:
            raise SchemaError(f"the file is not {encoding} (byte {place})") from None
        seen = content[max(0, place - 10) : place + 10].decode("cp1252", errors="replace")
        raise uncertain(
            f"the file is not UTF-8 (byte {place} is {content[place]:#x}; in the encoding cp1252 "
            f"that place reads {seen!r})",
            "encoding=cp1252",
            "encoding=NAME",
        ) from None


def split_cells(
    text: str, reading: Reading, expected: Expected
) -> tuple[pd.DataFrame, str, list[str]]:
    """Rows of text, columns by position, held by words; the delimiter, and what was noticed."""
    text, announced = _announced_delimiter(text)
    delimiter = reading.delimiter or announced or _find_delimiter(text, reading, expected.width)
    plain = delimiter in DELIMITERS and not reading.skip_rows
    rows = plainly_cut(text, delimiter, reading.quote) if plain else None
    if rows is None:
        rows = by_words(pd.DataFrame(_parse(text, delimiter, reading), dtype=object))
    notes = [] if rows.shape[1] == 1 else [f"cells separated by {_name(delimiter)}"]
    if not expected.spaced and _all_begin_with_space(rows):
        for name in rows.columns[1:]:
            rows[name] = _without_space(rows[name].array)
        notes.append("spaces after the separator left out")
    return rows, delimiter, notes


def _without_space(column: WordColumn) -> WordColumn:
    return column.renamed([text.removeprefix(" ") for text in column.words.texts])


def _name(delimiter: str) -> str:
    return DELIMITERS.get(delimiter, repr(delimiter))


def _announced_delimiter(text: str) -> tuple[str, str | None]:
    """Spreadsheets write a first line such as ``sep=;``."""
    end = text.find("\n") + 1 or len(text)
    word = text[:end].strip().strip('"')
    if len(word) == 5 and word.lower().startswith("sep="):
        return text[end:], word[-1]
    return text, None


def _find_delimiter(text: str, reading: Reading, expected: int | None) -> str:
    """The one delimiter that cuts the first lines into equally many cells, and more than one."""
    head = _first_lines(text)
    widths = {}
    for delimiter in DELIMITERS:
        found = {len(row) for row in _cells(head, delimiter, reading, strict=False)}
        if len(found) == 1:
            widths[delimiter] = found.pop()
    if expected is not None and widths.get(",") == expected:
        return ","
    several = [delimiter for delimiter, width in widths.items() if width > 1]
    fitting = [delimiter for delimiter in several if widths[delimiter] == expected]
    if len(fitting) == 1 or len(several) == 1:
        return (fitting or several)[0]
    if several:
        raise uncertain(
            f"cells may be separated by {' or '.join(DELIMITERS[d] for d in several)}",
            *(f"delimiter={'tab' if d == chr(9) else d}" for d in several),
        )
    # No delimiter fits every line: that of the first line tells best where the file is damaged.
    first = next(iter(head.splitlines()), "")
    return max(DELIMITERS, key=first.count) if expected != 1 else ","


def _first_lines(text: str) -> str:
    """So much of the text that whole rows are cut, even where a cell holds line ends."""
    some = text[:_CHARACTERS_LOOKED_AT]
    found = _so_many_lines(some)
    return found if len(found) < len(some) else _so_many_lines(text)


def _so_many_lines(text: str) -> str:
    buffer, lines = io.StringIO(text, newline=""), []
    for line in buffer:
        lines.append(line)
        if len(lines) >= _LINES_LOOKED_AT and sum(part.count('"') for part in lines) % 2 == 0:
            break
        if len(lines) >= 20 * _LINES_LOOKED_AT:
            break
    return "".join(lines)


def _cells(text: str, delimiter: str, reading: Reading, *, strict: bool = True) -> Rows:
    """Rows that are not empty, after the lines that are skipped; equal cells are one object."""
    source = io.StringIO(text, newline="")
    spaced = delimiter + " " + reading.quote in text[:2000]
    try:
        cut = csv.reader(
            source, delimiter=delimiter, quotechar=reading.quote, skipinitialspace=spaced
        )
        seen: dict[str, str] = {}
        rows = [tuple(map(seen.setdefault, row, row)) for row in cut]
    except csv.Error as error:
        if not strict:
            return []
        raise SchemaError(f"the text is not CSV: {error}") from error
    if strict and rows and rows[-1] and "\n" in rows[-1][-1] and text.count(reading.quote) % 2:
        raise SchemaError(
            f"a quote that opens in row {len(rows) - 1} is never closed, and would swallow the "
            f"rest of the file: correct that row, or name another mark: --read quote=..."
        )
    return [row for row in rows[reading.skip_rows :] if row]


def _parse(text: str, delimiter: str, reading: Reading) -> Rows:
    rows = _cells(text, delimiter, reading)
    if not rows:
        return [()]
    width = len(rows[0])
    if len(rows) > 1 and all(len(row) == width + 1 for row in rows[1:]):
        # The header of a table whose row numbers have no name of their own.
        rows[0] = ("", *rows[0])
        width += 1
    different = next((number for number, row in enumerate(rows) if len(row) != width), None)
    if different is not None:
        raise SchemaError(_uneven(rows, different, delimiter))
    return rows


def _uneven(rows: Rows, number: int, delimiter: str) -> str:
    row, width = rows[number], len(rows[0])
    words = (
        f"row {number} has {len(row)} cells where the first row has {width}, cut at "
        f"{_name(delimiter)}"
    )
    widest = max(len(other) for other in rows)
    above = next(place for place, other in enumerate(rows) if len(other) == widest)
    if 0 < above <= 20 and all(len(other) == widest for other in rows[above:]):
        return (
            f"{words}. If the table begins below: --read skip_rows={above} (data.read: skip_rows)"
        )
    return f"{words}. Correct that row, or name another separator: --read delimiter=..."


def _all_begin_with_space(rows: pd.DataFrame) -> bool:
    words = [column.array.words for _, column in rows.items()][1:]
    return bool(words) and all(text.startswith(" ") for word in words for text in word.texts)
