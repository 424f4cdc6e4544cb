"""Cells of text that needs no care, by pyarrow."""

import csv
import io
from typing import Any

import numpy as np
import pandas as pd

from tapas.datasets._words import WordColumn, Words

_BYTES_AT_ONCE = 1 << 22


def cut_by_arrow(text: str, delimiter: str, quote: str | None) -> pd.DataFrame | None:
    """The cells of text, columns by position and held by their words; None where that fails.

    No line may be longer than a million characters, no cell may hold a line end, and a quote must
    be the first or the last character of a cell. Without pyarrow this is an ImportError.
    """
    import pyarrow as pa
    import pyarrow.csv as arrow

    names = [str(place) for place in range(_width(text, delimiter, quote))]
    try:
        table = arrow.read_csv(
            pa.PythonFile(_Lines(text), mode="r"),
            arrow.ReadOptions(use_threads=False, block_size=_BYTES_AT_ONCE, column_names=names),
            arrow.ParseOptions(
                delimiter=delimiter, quote_char=quote or False, ignore_empty_lines=True
            ),
            arrow.ConvertOptions(
                check_utf8=False,
                column_types=dict.fromkeys(names, pa.string()),
                strings_can_be_null=False,
            ),
        )
        columns = table.columns
        del table  # each column gives way to its words
        return pd.DataFrame({place: _by_words(columns.pop(0)) for place in range(len(names))})
    except pa.ArrowException:
        return None


def _width(text: str, delimiter: str, quote: str | None) -> int:
    """How many cells the first row has."""
    start = io.StringIO(text.lstrip("\r\n")[: csv.field_size_limit()], newline="")
    if quote is None:
        return len(next(csv.reader(start, delimiter=delimiter, quoting=csv.QUOTE_NONE)))
    return len(next(csv.reader(start, delimiter=delimiter, quotechar=quote)))


def _by_words(cells: Any) -> WordColumn:
    """A column by its words, in the order in which pyarrow finds them: that of the rows."""
    chunks = cells.dictionary_encode().chunks
    codes = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    return WordColumn(codes, Words(chunks[-1].dictionary.to_numpy(zero_copy_only=False)))


class _Lines(io.RawIOBase):
    """Text as an open file of bytes that gives whole lines, so that no line end is torn apart."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next lines, in at most so many bytes."""
        start, self._place = self._place, len(self._text)
        if self._place - start > size // 4:
            self._place = self._text.rindex("\n", start, start + size // 4) + 1
        return self._text[start : self._place].encode()
