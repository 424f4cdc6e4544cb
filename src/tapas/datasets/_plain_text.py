"""Cells of text that needs no care, by a faster parser that would read other text otherwise."""

import csv
import io
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pandas as pd

from tapas.datasets._arrow_text import cut_by_arrow
from tapas.datasets._words import by_words

_CHARACTERS_AT_ONCE = 1 << 16  # which stay in the cache
_MARK = "\ufeff"  # which the parsers leave out
_NOTHING = "\0"  # where that of pandas may end a cell


def plainly_cut(text: str, delimiter: str, quote: str) -> pd.DataFrame | None:
    """The cells of text, columns by position and held by their words; None where care is needed.

    That is where a line may be too long for a cell, where rows have different numbers of cells,
    and where a quote is anything but the first or the last character of a cell of one line.
    """
    if text.startswith(_MARK) or _NOTHING in text or _has_longer_line(text, csv.field_size_limit()):
        return None
    mark = quote if quote in text else None
    try:
        marks = text.count(delimiter) if mark is None else _marks_between(text, delimiter, mark)
        if not marks:
            return None
        with suppress(ImportError):
            return cut_by_arrow(text, delimiter, mark)
        return _cut_by_pandas(text, delimiter, mark, marks)
    except ValueError:
        return None


def _cut_by_pandas(text: str, delimiter: str, quote: str | None, marks: int) -> pd.DataFrame | None:
    rows = pd.read_csv(
        _Opened(text),
        sep=delimiter,
        header=None,
        dtype=object,
        na_filter=False,
        quotechar=quote or '"',
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        skip_blank_lines=False,
        low_memory=False,
    )
    # No row has more cells than the first; with so many marks, none has fewer.
    return by_words(rows) if marks == len(rows) * (rows.shape[1] - 1) else None


def _has_longer_line(text: str, most: int) -> bool:
    start = 0
    while len(text) - start > most:
        end = text.rfind("\n", start, start + most)
        if end < 0:
            return True
        start = end + 1
    return False


def _marks_between(text: str, delimiter: str, quote: str) -> int | None:
    """How many delimiters stand between cells, not in them; None where a quote needs care."""
    if not quote.isascii() or quote in (delimiter, " "):
        return None
    found = 0
    for lines in _some_lines(text):
        marks = _marks_of_lines(np.frombuffer(lines.encode(), np.uint8), ord(delimiter), ord(quote))
        if marks is None:
            return None
        found += marks
    return found


def _marks_of_lines(characters: np.ndarray, delimiter: int, quote: int) -> int | None:
    quotes, marks = characters == quote, characters == delimiter
    line_ends = (characters == ord("\n")) | (characters == ord("\r"))
    # From the quote that opens a cell; of two truths, a > b is a and not b in one step.
    within = np.bitwise_xor.accumulate(quotes.view(np.uint8)).view(bool)
    if within[-1] or (within & line_ends).any():
        return None
    border, opens, closes = marks | line_ends, quotes & within, quotes > within
    if (opens[1:] > border[:-1]).any() or (closes[:-1] > border[1:]).any():
        return None
    return int(np.count_nonzero(marks > within))


def _some_lines(text: str) -> Iterator[str]:
    """Whole lines, many at once."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _CHARACTERS_AT_ONCE) + 1 or len(text)
        yield text[start:end]
        start = end


class _Opened(io.TextIOBase):
    """Text as an open file, of which no copy is made."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def read(self, size: int | None = -1) -> str:
        """The next characters."""
        start = self._place
        self._place = len(self._text) if size is None or size < 0 else start + size
        return self._text[start : self._place]
