"""Columns of text that are held by their different words, so that each word is looked at once."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.indexers import check_array_indexer

_MISSING = -1


class Words:
    """The different texts of a column, in the order in which they first occur."""

    def __init__(self, texts: np.ndarray) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """What they read as; None where one of them is no number."""
        return as_numbers(self.texts)


class WordsDtype(ExtensionDtype):
    """The type of columns that are held by their words."""

    name = "words"
    type = str
    na_value = np.nan

    @classmethod
    def construct_array_type(cls) -> Any:
        """The array of this type."""
        return WordColumn


class WordColumn(ExtensionArray):
    """Texts, or nothing, as numbers of words; every word occurs.

    Parameters
    ----------
    codes : ndarray of int
        Which word stands in each row; -1 where none does.
    words : Words
    """

    def __init__(self, codes: np.ndarray, words: Words) -> None:
        self.codes = codes.astype(np.min_scalar_type(-1 - len(words)), copy=False)
        self.words = words

    @classmethod
    def of(cls, cells: np.ndarray) -> Self:
        """Of texts, or what is missing, one by one."""
        codes, texts = pd.factorize(cells)
        return cls(codes, Words(texts))

    def without(self, tokens: frozenset[str]) -> Self:
        """The column where some words stand for nothing."""
        texts = self.words.texts
        if tokens.isdisjoint(texts):
            return self
        kept = np.array([text not in tokens for text in texts])
        places = np.where(kept, kept.cumsum() - 1, _MISSING)
        return type(self)(_looked_up(places, self.codes), Words(texts[kept]))

    def below_first(self) -> Self:
        """The column without its first row, whose word seldom occurs again."""
        codes = self.codes[1:]
        if self.codes[0] != 0 or (codes == 0).any():
            return self._with_codes(codes)
        return type(self)(np.maximum(codes - 1, _MISSING), Words(self.words.texts[1:]))

    def renamed(self, texts: Sequence[str]) -> Self:
        """The column with other words for its own, one by one; several may become the same."""
        renamed = np.empty(len(texts), dtype=object)
        renamed[:] = texts
        places, different = pd.factorize(renamed)
        return type(self)(_looked_up(places, self.codes), Words(different))

    # -- what pandas asks of a column --------------------------------------------------------

    @classmethod
    def _from_sequence(
        cls, scalars: Iterable[object], *, dtype: object = None, copy: bool = False
    ) -> Self:
        cells = list(scalars)
        texts = np.empty(len(cells), dtype=object)
        texts[:] = cells
        return cls.of(texts)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence["WordColumn"]) -> Self:
        texts = np.concatenate([column.words.texts for column in to_concat])
        places, different = pd.factorize(texts)
        each = np.split(places, np.cumsum([len(column.words) for column in to_concat[:-1]]))
        codes = [_looked_up(p, column.codes) for p, column in zip(each, to_concat, strict=True)]
        return cls(np.concatenate(codes), Words(different))

    @property
    def dtype(self) -> ExtensionDtype:
        """The type of the column."""
        return WordsDtype()

    @property
    def nbytes(self) -> int:
        """Bytes held, but for the words themselves."""
        return int(self.codes.nbytes + self.words.texts.nbytes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, item: Any) -> Any:
        chosen = self.codes[check_array_indexer(self, item)]
        if np.ndim(chosen):
            return self._with_codes(chosen)
        return np.nan if chosen == _MISSING else self.words.texts[chosen]

    def __eq__(self, other: object) -> Any:
        return np.asarray(self) == (np.asarray(other) if isinstance(other, WordColumn) else other)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.append(self.words.texts, np.nan)[self.codes].astype(dtype or object, copy=False)

    def isna(self) -> np.ndarray:
        """Which rows hold nothing."""
        return self.codes == _MISSING

    def take(
        self, indices: Sequence[int], *, allow_fill: bool = False, fill_value: object = None
    ) -> Self:
        """Some rows; with `allow_fill`, -1 is a row that holds nothing."""
        rows = np.asarray(indices, dtype=np.intp)
        chosen = self.codes.take(rows)
        return self._with_codes(np.where(rows < 0, _MISSING, chosen) if allow_fill else chosen)

    def copy(self) -> Self:
        """The same column; neither codes nor words are ever written to."""
        return type(self)(self.codes, self.words)

    def view(self, dtype: None = None) -> Self:
        """The same column."""
        return self.copy()

    def _with_codes(self, codes: np.ndarray) -> Self:
        """Rows of this column, whose words may be fewer and occur in another order."""
        order, found = pd.factorize(np.where(codes == _MISSING, len(self.words), codes))
        there = found != len(self.words)
        places = np.where(there, there.cumsum() - 1, _MISSING)
        return type(self)(_looked_up(places, order), Words(self.words.texts[found[there]]))


def as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Values as numbers; None where one of them is no number.

    Python reads text to the last bit, which to_numeric does not in every pandas, and is faster.
    """
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def only_texts(values: Iterable[object]) -> bool:
    """Whether all values are text and nothing else, not even missing."""
    return set(map(type, values)) <= {str}


def words_of(series: pd.Series) -> Words | None:
    """The words of a column that is held so."""
    return series.array.words if isinstance(series.dtype, WordsDtype) else None


def by_words(cells: pd.DataFrame) -> pd.DataFrame:
    """Columns of text, held by their words."""
    columns = {name: WordColumn.of(column.to_numpy(object)) for name, column in cells.items()}
    return pd.DataFrame(columns, index=cells.index, copy=False)


def below_first(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows below the first, numbered anew."""
    columns = {}
    for name, column in cells.items():
        held = isinstance(column.array, WordColumn)
        below = column.array.below_first() if held else column.iloc[1:].reset_index(drop=True)
        columns[name] = pd.Series(below)
    return pd.DataFrame(columns)


def spelled_out(cells: pd.DataFrame) -> pd.DataFrame:
    """Columns that are held by their words as ordinary columns of text, row by row."""
    words = [name for name, column in cells.items() if words_of(column) is not None]
    return cells.astype(dict.fromkeys(words, object)) if words else cells


def _looked_up(places: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.append(places, _MISSING)[codes]
