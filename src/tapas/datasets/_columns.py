"""One column of a schema: what it may hold, and how its values become numbers.

Coded columns (categories, ordered categories, strings) become integer codes, with -1 for a
missing value. Number columns (integers, reals, dates as days, datetimes as seconds since the
epoch) become float64, with NaN for a missing value.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets._distinct import each_once
from tapas.datasets._words import WordColumn, as_numbers, only_texts, words_of
from tapas.errors import SchemaError

Kind = Literal["category", "ordered", "string", "integer", "real", "date", "datetime"]

_ZONE = r"[T ].*(?:Z|[+-]\d{2}(?::?\d{2})?)$"  # at the end of a time

MISSING_CODE = -1
LARGEST_EXACT_INTEGER = 2**53
SECONDS_PER_DAY = 86_400
OTHER = "other"
MOST_CATEGORIES = 1_000_000
LONGEST_NAME = 1000  # characters

# (type, representation when it is a string, or None where the schema gives none) -> kind
_NUMBER_KINDS: dict[tuple[str, str | None], Kind] = {
    ("countable", "integer"): "integer",
    ("countable/ordered", "integer"): "integer",
    ("countable/ordered/least", "integer"): "integer",
    ("countable/ordered", "date"): "date",
    ("real", "number"): "real",
    ("real", "datetime"): "datetime",
    ("real/non-negative", "number"): "real",
    ("interval", "number"): "real",
    ("real", None): "real",
    ("real/non-negative", None): "real",
    ("interval", None): "real",
}
_STRING_TYPES = {
    ("countable", "string"),
    ("countable/ordered/least", "string"),
    ("countable", None),
    ("countable/ordered", None),
    ("countable/ordered/least", None),
}
_FINITE: dict[str, Kind] = {"finite": "category", "finite/ordered": "ordered"}

TYPES = tuple(dict.fromkeys([*_FINITE, *(t for t, _ in _NUMBER_KINDS), "countable"]))


@dataclass(frozen=True)
class Column:
    """A validated column of a schema.

    Attributes
    ----------
    name : str
    kind : str
        How values are held: "category", "ordered", "string", "integer", "real", "date" or
        "datetime".
    type : str
        The type as the schema writes it, e.g. "real/non-negative".
    values : tuple, range or None
        The declared categories. None where any value may occur.
    """

    name: str
    kind: Kind
    type: str
    values: tuple[Any, ...] | range | None = None

    @classmethod
    def parse(cls, entry: object) -> "Column":
        """Read one entry of a schema; a wrong one is a SchemaError that says what is."""
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise SchemaError(
                f"a schema entry must be a dict with 'name', 'type' and 'representation', "
                f"got {entry!r}"
            )
        name, type_ = entry["name"], entry.get("type")
        if len(name) > LONGEST_NAME:
            raise SchemaError(
                f"the name of column {name[:40]!r}... has {len(name)} characters, at most "
                f"{LONGEST_NAME}: rename it, or drop it"
            )
        if type_ not in TYPES:
            raise SchemaError(
                f"column {name!r}: type must be one of {listing(TYPES, 10)}, got {type_!r}"
            )
        representation = entry.get("representation")
        if type_ in _FINITE:
            return cls(name, _FINITE[type_], type_, _parse_categories(name, representation))
        if not (representation is None or isinstance(representation, str)):
            raise SchemaError(
                f"column {name!r}: type {type_!r} needs a representation such as 'integer', "
                f"'number', 'date' or 'string', got {representation!r}"
            )
        if (type_, representation) in _STRING_TYPES:
            return cls(name, "string", type_)
        kind = _NUMBER_KINDS.get((type_, representation))
        if kind is None:
            allowed = [r for t, r in (*_NUMBER_KINDS, *_STRING_TYPES) if t == type_ and r]
            raise SchemaError(
                f"column {name!r}: type {type_!r} goes with representation "
                f"{listing(sorted(allowed))}, got {representation!r}"
            )
        return cls(name, kind, type_)

    @property
    def is_coded(self) -> bool:
        """Whether values become integer codes (else float64)."""
        return self.kind in ("category", "ordered", "string")

    @property
    def is_one_hot(self) -> bool:
        """Whether the numeric view spends one column per category."""
        return self.kind == "category"

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return {canonical(value): code for code, value in enumerate(self.values or ())}

    def code(self, value: object) -> int | None:
        """Code of one non-missing value, or None where it is not a declared category."""
        if isinstance(self.values, range):
            number = _as_whole_number(value)
            return number if number is not None and number in self.values else None
        found = self._code_of.get(value) if isinstance(value, str) else None
        if found is None:
            found = self._code_of.get(canonical(value))
        return found if found is not None else self._code_of.get(str(value))

    def encode(
        self, series: pd.Series, *, unknown: str = "error"
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Turn values into codes or numbers; also return the vocabulary of an open column."""
        if not self.is_coded:
            return self._encode_numbers(series), None
        codes, uniques = self._factorized(series)
        if self.values is None:
            places, vocabulary = _vocabulary(np.asarray(uniques, dtype=object))
            return _looked_up(places, codes), vocabulary
        known = [self.code(value) for value in uniques]
        if None in known:
            known = self._resolve_unknown(known, codes, uniques, unknown)
        return _looked_up(np.array(known, dtype=np.int64), codes), None

    def _factorized(self, series: pd.Series) -> tuple[np.ndarray, Any]:
        if isinstance(series.array, WordColumn):
            return series.array.codes, series.array.words.texts
        try:
            return pd.factorize(series)
        except TypeError:
            odd = series.map(lambda value: not isinstance(value, Hashable)).to_numpy(dtype=bool)
            self._refuse(series, odd, "a single value")
            raise

    def _resolve_unknown(
        self,
        known: list[int | None],
        codes: np.ndarray,
        uniques: np.ndarray | pd.Index,
        unknown: str,
    ) -> list[int | None]:
        other = self.code(OTHER) if unknown == OTHER else None
        if other is not None:
            return [other if code is None else code for code in known]
        position = known.index(None)
        row = int(np.argmax(codes == position))
        declared = listing(self.values if self.values is not None else ())
        raise SchemaError(
            f"column {self.name!r}, row {row}: {_plain(uniques[position])!r} is not one of the "
            f"declared categories ({declared}). Correct the value, add it to the column's "
            f"representation, or load with unknown='other'."
        )

    def _encode_numbers(self, series: pd.Series) -> np.ndarray:
        if self.kind in ("date", "datetime"):
            return self._encode_times(series)
        words = words_of(series)
        if words is None or words.numbers is None:
            numbers = each_once(series, _to_float)
        else:
            numbers = np.append(words.numbers, np.nan)[series.array.codes]
        missing = np.isnan(numbers)
        if missing.any():
            self._refuse(series, missing & series.notna().to_numpy(), "a number")
        self._refuse(series, np.isinf(numbers), "a finite number")
        if self.kind == "integer":
            self._refuse(
                series,
                np.abs(numbers) > LARGEST_EXACT_INTEGER,
                "an integer below 2**53 (declare identifiers as strings, or drop them)",
            )
        return numbers

    def _encode_times(self, series: pd.Series) -> np.ndarray:
        seconds = each_once(series, lambda values: _to_seconds(values, self.kind == "date"))
        missing = np.isnan(seconds)
        if missing.any():
            day = self.kind == "date"
            wanted = "a date (YYYY-MM-DD or YYYYMMDD)" if day else "a date and time"
            self._refuse(series, missing & series.notna().to_numpy(), wanted)
        return np.floor(seconds / SECONDS_PER_DAY) if self.kind == "date" else seconds

    def _refuse(self, series: pd.Series, wrong: np.ndarray, wanted: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise SchemaError(
                f"column {self.name!r}, row {row}: {_plain(series.iloc[row])!r} is not {wanted} "
                f"({int(wrong.sum())} such rows). Correct the value, leave it missing, or change "
                f"the column's type ({self.type!r})."
            )

    def decode(self, encoded: np.ndarray, vocabulary: np.ndarray | None = None) -> Any:
        """Turn codes or numbers back into values that a data frame column can hold."""
        if self.is_coded:
            return self._decode_codes(encoded, vocabulary)
        if self.kind in ("date", "datetime"):
            scale = SECONDS_PER_DAY if self.kind == "date" else 1
            return _from_seconds(encoded * scale)
        whole = self.kind == "integer" and bool(np.all(encoded == np.floor(encoded)))
        return encoded.astype(np.int64) if whole else encoded.copy()

    def _decode_codes(self, codes: np.ndarray, vocabulary: np.ndarray | None) -> Any:
        missing = codes == MISSING_CODE
        if isinstance(self.values, range):
            return np.where(missing, np.nan, codes) if missing.any() else codes.astype(np.int64)
        words = np.empty(len(self.values) + 1 if self.values is not None else 1, dtype=object)
        if self.values is not None:
            words[:-1] = self.values
        elif vocabulary is not None:
            words = np.empty(len(vocabulary) + 1, dtype=object)
            words[:-1] = vocabulary
        words[-1] = np.nan
        return pd.Series(words[codes]).infer_objects().array


def _parse_categories(name: str, representation: object) -> tuple[Any, ...] | range | None:
    if representation is None:
        return None
    if isinstance(representation, (int, np.integer)) and not isinstance(representation, bool):
        if representation < 1:
            raise SchemaError(
                f"column {name!r}: the number of categories must be at least 1, "
                f"got {representation!r}"
            )
        if representation > MOST_CATEGORIES:
            raise SchemaError(
                f"column {name!r}: {representation} are too many categories, at most "
                f"{MOST_CATEGORIES:,}: describe it as countable, or drop it"
            )
        return range(int(representation))
    if isinstance(representation, Sequence) and not isinstance(representation, str):
        values = tuple(representation)
        keys = [canonical(value) for value in values]
        number = Counter(keys)
        repeated = [value for value, key in zip(values, keys, strict=True) if number[key] > 1]
        if not values or repeated:
            problem = f"repeats {listing(repeated)}" if repeated else "is empty"
            raise SchemaError(f"column {name!r}: the list of categories {problem}")
        return values
    raise SchemaError(
        f"column {name!r}: a finite column's representation must be a number of categories or a "
        f"list of category names, got {representation!r}"
    )


def _vocabulary(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different texts among values, the last first, and where each value is among them."""
    if only_texts(values):
        return np.arange(len(values))[::-1], values[::-1].copy()
    words = {canonical(value): _plain(value) for value in reversed(values)}
    position = {word: code for code, word in enumerate(words)}
    vocabulary = np.empty(len(words), dtype=object)
    vocabulary[:] = list(words.values())
    return np.array([position[canonical(value)] for value in values], dtype=np.int64), vocabulary


def _looked_up(places: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """What each code stands for, in few bytes."""
    lookup = np.append(places, MISSING_CODE)
    return lookup.astype(np.min_scalar_type(-1 - int(lookup.max(initial=0))))[codes]


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def canonical(value: object) -> str:
    """The text under which 1, 1.0 and "1" are the same category."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _as_whole_number(value: Any) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None


def _to_float(series: pd.Series) -> np.ndarray:
    if not pd.api.types.is_numeric_dtype(series.dtype):
        read = as_numbers(series.to_numpy(dtype=object, na_value=np.nan))
        if read is not None:
            return read
    numbers = pd.to_numeric(series, errors="coerce")
    return np.array(numbers.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)


def _to_seconds(series: pd.Series, keep_local: bool) -> np.ndarray:
    """Seconds since the epoch; NaN where there is no time."""
    stamps = _to_timestamps(series, keep_local=keep_local)
    micros = stamps.to_numpy().astype("datetime64[us]").astype(np.int64)
    return np.where(stamps.isna().to_numpy(), np.nan, micros / 1e6)


def _to_timestamps(series: pd.Series, *, keep_local: bool) -> pd.Series:
    """Parse timestamps, ISO text, and YYYYMMDD as text or number.

    A time with a zone becomes universal time, or, where only the day matters, stays as it reads.
    """
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        stamps = series
    else:
        texts = series if only_texts(series) else series.map(canonical, na_action="ignore")
        text = texts.astype(object)
        compact = pd.Series(map(_is_eight_digits, text), index=text.index, dtype=bool)
        stamps = _iso_stamps(text.mask(compact))
        if compact.any():
            eight_digits = pd.to_datetime(
                text.where(compact), errors="coerce", format="%Y%m%d", utc=True
            )
            stamps = stamps.fillna(eight_digits)
    if getattr(stamps.dtype, "tz", None) is not None:
        universal = stamps if keep_local else stamps.dt.tz_convert("UTC")
        stamps = universal.dt.tz_localize(None)
    return stamps


def _iso_stamps(text: pd.Series) -> pd.Series:
    """Of times in ISO form; those with a zone apart, of which pandas 2 gives theirs to others."""
    read = partial(pd.to_datetime, errors="coerce", format="ISO8601", utc=True)
    zoned = text.str.contains(_ZONE, na=False)
    if not zoned.any() or zoned.all():
        return read(text)
    return read(text.mask(zoned)).dt.as_unit("us").fillna(read(text.where(zoned)).dt.as_unit("us"))


def _is_eight_digits(value: object) -> bool:
    return isinstance(value, str) and len(value) == 8 and value.isdigit()


def _from_seconds(seconds: np.ndarray) -> np.ndarray:
    micros = np.round(np.where(np.isnan(seconds), 0.0, seconds) * 1e6).astype(np.int64)
    stamps = micros.astype("datetime64[us]")
    stamps[np.isnan(seconds)] = np.datetime64("NaT", "us")
    return stamps
