"""Describe a data frame: a sensible schema, and the reason for each choice."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from tapas._validate import check_count, listing
from tapas.datasets._columns import LARGEST_EXACT_INTEGER
from tapas.datasets._distinct import different_words
from tapas.datasets._words import Words, only_texts, words_of
from tapas.errors import SchemaError

SMALL_INTEGER_RANGE = 25
MANY_ROWS = 50
MANY_CODES = 1000
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9]{1,8}([ -]?[A-Za-z0-9]{1,5})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_AS_LABEL = "let it label records (--read index=COLUMN), or leave it out"
Guess = tuple[str, Any, str]


def infer_schema(
    frame: pd.DataFrame, *, max_categories: int = 100
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return schema entries and, per column, why it was described so."""
    check_count(max_categories, "max_categories", minimum=2)
    names = [str(name) for name in frame.columns]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise SchemaError(f"the table has more than one column called {listing(repeated)}")
    schema, explanations = [], {}
    for position, name in enumerate(names):
        series = frame.iloc[:, position]
        words, missing = different_words(series)
        present = len(series) - missing
        type_, representation, reason = _describe(series, words, present, max_categories)
        explanations[name] = reason + (f"; {missing} missing" if missing else "")
        if representation == "integer" and len(series) >= MANY_ROWS and _all_different(series):
            explanations[name] += f"; all different: if this is an identifier, {_AS_LABEL}"
        schema.append({"name": name, "type": type_, "representation": representation})
    return schema, explanations


def _all_different(series: pd.Series) -> bool:
    words = words_of(series)
    if words is not None:
        return len(words) + bool(series.isna().any()) == len(series)
    return bool(series.head(MANY_ROWS).is_unique and series.is_unique)


def _describe(
    series: pd.Series, words: list[Any] | None, present: int, max_categories: int
) -> Guess:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories):
        return _describe_categorical(dtype)
    if not present:
        return "real", "number", "no value present"
    if pd.api.types.is_bool_dtype(dtype):
        return "finite", ["False", "True"], "true or false"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return _describe_times(series.dropna())
    if pd.api.types.is_numeric_dtype(dtype):
        return _describe_numbers(series.dropna().to_numpy(dtype=np.float64))
    known = words_of(series)
    if known is None:
        known = _texts(list(series.dropna().unique()) if words is None else words)
    return _describe_text(known, present, max_categories)


def _texts(values: list[Any]) -> Words:
    """Values as texts, each once."""
    texts = np.empty(len(values), dtype=object)
    if only_texts(values):
        texts[:] = values
        return Words(texts)
    texts[:] = pd.Series(values).astype(str).tolist()
    return Words(pd.unique(texts))


def _describe_categorical(dtype: pd.CategoricalDtype) -> Guess:
    values = [str(value) for value in dtype.categories]
    kind = "finite/ordered" if dtype.ordered else "finite"
    return kind, values, f"a pandas categorical of {len(values)} values"


def _describe_times(present: pd.Series) -> Guess:
    stamps = pd.to_datetime(present)
    if (stamps == stamps.dt.normalize()).all():
        return "countable/ordered", "date", "dates without time of day"
    return "real", "datetime", "dates with time of day"


def _describe_numbers(numbers: np.ndarray) -> Guess:
    low, high = float(numbers.min()), float(numbers.max())
    if np.all(numbers == np.floor(numbers)) and np.all(np.isfinite(numbers)):
        if max(abs(low), abs(high)) > LARGEST_EXACT_INTEGER:
            return "countable", "string", "integers of 2**53 and more: most likely an identifier"
        if low >= 0 and high <= 1:
            return "finite", 2, "integers 0 and 1"
        if low >= 0 and high < SMALL_INTEGER_RANGE:
            top = int(high)
            return "finite/ordered", top + 1, f"small integers up to {top}"
        return "countable/ordered", "integer", f"integers from {low:.0f} to {high:.0f}"
    if low >= 0 and high <= 1:
        return "interval", "number", "numbers between 0 and 1"
    if low >= 0:
        return "real/non-negative", "number", f"numbers from {low:g} to {high:g}"
    return "real", "number", f"numbers from {low:g} to {high:g}"


def _describe_text(words: Words, present: int, max_categories: int) -> Guess:
    for attempt in _TEXT_READERS:
        guess = attempt(words)
        if guess is not None:
            return guess
    values = words.texts.tolist()
    if len(values) <= max_categories:
        return "finite", sorted(values), f"text with {len(values)} distinct values"
    codes = _describe_codes(values, present)
    return codes or (
        "countable",
        "string",
        f"text with {len(values)} distinct values, more than {max_categories}: "
        + (
            f"an identifier or free text, which attacks cannot use; as an identifier, {_AS_LABEL}"
            if len(values) == present
            else "free text, which attacks cannot use unless the schema lists all values (finite)"
        ),
    )


def _describe_codes(values: list[str], records: int) -> Guess | None:
    """Postcodes and the like: short, with digits, and shared by several records."""
    widths = set(map(len, values))
    numbers = len(widths) == 1 and all(map(str.isdigit, values))
    few = len(values) <= MANY_CODES and 2 * len(values) <= records
    if len(values) == records or not (numbers or few) or not all(map(_CODE.fullmatch, values)):
        return None
    if numbers:
        return "countable/ordered", "integer", f"codes of {widths.pop()} digits, kept as integers"
    return "finite", sorted(values), f"{len(values)} codes of letters and digits"


def _text_as_numbers(words: Words) -> Guess | None:
    numbers = words.numbers
    if numbers is None or not np.isfinite(numbers).all() or _has_leading_zeros(words):
        return None
    return _describe_numbers(numbers)


def _has_leading_zeros(words: Words) -> bool:
    """Codes such as "007" are names, not numbers."""
    starts = words.texts.astype("U2").view("U1").reshape(-1, 2)
    return any(map(str.isdecimal, np.unique(starts[starts[:, 0] == "0", 1])))


def _text_as_times(words: Words) -> Guess | None:
    if not all(map(_DAY.match, words.texts)):
        return None
    text = pd.Series(words.texts, dtype=object)
    stamps = pd.to_datetime(text, errors="coerce", format="ISO8601", utc=True)
    return None if stamps.isna().any() else _describe_times(stamps)


_TEXT_READERS: tuple[Callable[[Words], Guess | None], ...] = (_text_as_numbers, _text_as_times)
