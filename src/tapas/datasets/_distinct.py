"""The different values of a column, so that each is looked at once."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from tapas.datasets._words import WordColumn, words_of


def distinct(series: pd.Series) -> list[Any]:
    """Values in the order in which they first occur, without missing ones; lists all the same.

    Python keeps the hash of a text that it has seen, which pandas computes every time.
    """
    words, _ = different_words(series)
    return list(series.dropna().unique()) if words is None else words


def different_words(series: pd.Series) -> tuple[list[Any] | None, int]:
    """The different values where they may be text, else None; and how many are missing."""
    known = words_of(series)
    if known is not None:
        return known.texts.tolist(), int(series.isna().sum())
    if not may_hold_text(series):
        return None, int(series.isna().sum())
    cells = series.tolist()
    with suppress(TypeError):  # values that have no hash, such as lists
        cells = list(dict.fromkeys(cells))
    words = list(pd.Series(cells, dtype=object).dropna())
    return words, int(series.isna().sum()) if len(words) < len(cells) else 0


def each_once(series: pd.Series, read: Callable[[pd.Series], np.ndarray]) -> np.ndarray:
    """The numbers that values read as; of text, which repeats itself, each value is read once."""
    if isinstance(series.array, WordColumn):
        texts = pd.Series(series.array.words.texts, dtype=object)
        return series.array.row_by_row(read(texts))
    if not may_hold_text(series):
        return read(series)
    cells = series.tolist()
    try:
        places = {value: place for place, value in enumerate(dict.fromkeys(cells))}
    except TypeError:  # values that have no hash
        return read(series)
    numbers = read(pd.Series(list(places), dtype=object))
    return numbers[np.fromiter(map(places.__getitem__, cells), np.intp, len(cells))]


def may_hold_text(series: pd.Series) -> bool:
    """Whether values may be text: those of any other type are read at once."""
    return bool(series.dtype == object or pd.api.types.is_string_dtype(series.dtype))
