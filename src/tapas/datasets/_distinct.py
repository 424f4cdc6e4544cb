"""The different values of a column, so that each is looked at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tapas.datasets._words import WordColumn, WordsDtype


def distinct(series: pd.Series) -> list[Any]:
    """Values in the order in which they first occur, without missing ones; lists all the same."""
    words, _ = different_words(series)
    return list(series.dropna().unique()) if words is None else words


def different_words(series: pd.Series) -> tuple[list[Any] | None, int]:
    """The different values where they may be text, else None; and how many are missing."""
    if not may_hold_text(series):
        return None, int(series.isna().sum())
    places = _places(series)
    if places is None:
        present = series.dropna().tolist()
        return present, len(series) - len(present)
    codes, values = places
    return values.tolist(), int((codes < 0).sum())


def each_once(series: pd.Series, read: Callable[[pd.Series], np.ndarray]) -> np.ndarray:
    """The numbers that values read as; of text, which repeats itself, each value is read once."""
    places = _places(series) if may_hold_text(series) else None
    if places is None:
        return read(series)
    codes, values = places
    return np.append(read(pd.Series(values, dtype=object)), np.nan)[codes]


def may_hold_text(series: pd.Series) -> bool:
    """Whether values may be text: those of any other type are read at once."""
    if isinstance(series.dtype, WordsDtype):
        return True
    return bool(series.dtype == object or pd.api.types.is_string_dtype(series.dtype))


def _places(series: pd.Series) -> tuple[np.ndarray, np.ndarray] | None:
    """Which value stands in each row, -1 where none does, and these; None where some are lists."""
    if isinstance(series.array, WordColumn):
        return series.array.codes, series.array.words.texts
    try:
        return pd.factorize(series.to_numpy(dtype=object))
    except TypeError:  # values that have no hash
        return None
