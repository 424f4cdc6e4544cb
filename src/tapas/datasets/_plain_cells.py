"""Numbers and dates as people write them, as the plain text that columns are read from."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import add

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets._reading import Reading, uncertain
from tapas.datasets._words import Words

_SYMBOL = r"[$€£¥₹₽₩₺₴%‰]|[A-Z]{3}|[Kk]r\.?|zł|Fr\.?"
_DECORATED = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{_SYMBOL})?\s*(?P<sign2>[-+−]?)\s*"
    rf"(?P<number>\d[\d.,'’\s]*|[.,]\d+)\s*(?P<after>{_SYMBOL})?"
)
_WHOLE, _LEADING_ZERO = re.compile(r"-?[0-9]+"), re.compile(r"0\d")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:\.\d{3})+")
_SPACES = re.compile(r"[\s'’]")
_MARKS = tuple((d, t) for d in ".," for t in ("", ".", ",", " ") if t != d)
_TIME = r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?\s?([AaPp][Mm])?)?"
_DAY_OR_MONTH_FIRST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}){_TIME}")
_YEAR_FIRST = re.compile(rf"(\d{{4}})([./])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_SHORT_YEAR = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{2})")
_MONTH_NAME = re.compile(r"(?i)\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b")
_NAMED_MONTHS = ("%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y")
_NEARLY_ALL, _STRAY_TOKENS, _MANY_NUMBERS = 0.9, 2, 20
_LOOKED_AT_FIRST = 1000


@dataclass(frozen=True)
class _Written:
    """The numbers of a column without symbols, how they may be read, and their symbol."""

    signs: list[str]
    digits: list[str]
    ways: dict[tuple[str, str], list[str]]
    symbol: str


def plain_words(
    columns: Mapping[str, Words], reading: Reading, delimiter: str | None
) -> tuple[dict[str, list[str]], list[str]]:
    """Of columns by their different words, each word in plain form; says what changes."""
    dates, date_notes = _plain_dates(columns, reading)
    rest = {name: words for name, words in columns.items() if name not in dates}
    numbers, number_notes = _plain_numbers(rest, reading, delimiter)
    return {**dates, **numbers}, [*date_notes, *number_notes]


def refuse_stray_tokens(name: str, column: pd.Series, words: Words) -> None:
    """A column of numbers but for a word or two: the word may mean that a value is missing."""
    if len(words) < _MANY_NUMBERS or words.numbers is not None:
        return
    values = pd.Series(words.texts, dtype=object)
    first = pd.to_numeric(values.head(_LOOKED_AT_FIRST), errors="coerce")
    if first.isna().sum() > _STRAY_TOKENS:
        return
    numbers = pd.to_numeric(values, errors="coerce")
    odd = list(values[numbers.isna()])
    if not 0 < len(odd) <= _STRAY_TOKENS or numbers.nunique() < _MANY_NUMBERS:
        return
    strays = int(column.isin(odd).sum())
    if strays <= (1 - _NEARLY_ALL) * column.count():
        raise uncertain(
            f"column {name!r} holds numbers, but also {listing(odd)} ({strays} rows): if "
            f"that means missing, say so; otherwise correct it, or drop the column",
            *(f"missing={word}" for word in odd),
        )


# -- numbers -------------------------------------------------------------------------------------


def _plain_numbers(
    columns: Mapping[str, Words], reading: Reading, delimiter: str | None
) -> tuple[dict[str, list[str]], list[str]]:
    """Column by column what each word reads as; columns that are plain already are left out."""
    points_open = delimiter == ";" or reading.decimal == ","
    settled, found = set(), {}
    for name, words in columns.items():
        values = words.texts.tolist()
        if words.numbers is not None and np.isfinite(words.numbers).all():
            if any("." in value and not _GROUPED.fullmatch(value) for value in values):
                settled.add(".")
                continue
            if not points_open or all(map(_WHOLE.fullmatch, values)):
                continue
        writing = _written(values)
        if writing is not None:
            found[name] = writing
    every = [writing.ways for writing in found.values()]
    settled |= {next(iter(ways))[0] for ways in every if len(ways) == 1 and _marked(ways)}
    decimal = reading.decimal or (settled.pop() if len(settled) == 1 else None)
    plain, notes = {}, []
    for name, writing in found.items():
        mark, thousands = _marks_of(name, writing.ways, decimal, delimiter, writing.digits)
        cells = list(map(add, writing.signs, writing.ways[mark, thousands]))
        if cells != [value.strip() for value in columns[name].texts]:
            plain[name] = cells
            notes.append(f"{name}: numbers{_decoration(writing.symbol, mark, thousands)}")
    return plain, notes


def _marked(ways: dict[tuple[str, str], list[str]]) -> bool:
    """Whether the one way to read the numbers tells which mark is the decimal one."""
    ((_, thousands), read) = next(iter(ways.items()))
    return bool(thousands and thousands != " ") or any("." in number for number in read)


def _written(values: list[str]) -> _Written | None:
    """The numbers of a column, or None where it holds something else."""
    signs, digits, symbols = [], [], set()
    for value in values:
        match = _DECORATED.fullmatch(value.strip())
        if match is None or _LEADING_ZERO.match(match["number"]):
            return None
        if match["before"] and match["after"]:
            return None
        symbols.add(match["before"] or match["after"] or "")
        signs.append("-" if "-" in (s := match["sign"] + match["sign2"]) or "−" in s else "")
        digits.append(match["number"].strip())
    ways = _ways(digits) if len(symbols) == 1 else None
    return _Written(signs, digits, ways, symbols.pop()) if ways else None


def _ways(digits: list[str]) -> dict[tuple[str, str], list[str]]:
    """Marks (decimal, thousands) that all numbers agree with; equal readings are one way."""
    ways: dict[tuple[str, str], list[str]] = {}
    for decimal, thousands in _MARKS:
        mark = re.escape(decimal)
        group = r"[\s'’]" if thousands == " " else re.escape(thousands)
        whole = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)" if thousands else r"\d+"
        pattern = re.compile(rf"{whole}(?:{mark}\d+)?|{mark}\d+|\d+{mark}")
        if all(map(pattern.fullmatch, digits)):
            read = [number.replace(decimal, ".") for number in _without(digits, thousands)]
            if read not in ways.values():
                ways[decimal, thousands] = read
    return ways


def _marks_of(
    name: str,
    ways: dict[tuple[str, str], list[str]],
    decimal: str | None,
    delimiter: str | None,
    digits: list[str],
) -> tuple[str, str]:
    if len(ways) == 1:
        return next(iter(ways))
    usual = "." if delimiter == "," or (delimiter != ";" and (".", "") in ways) else None
    fitting = [marks for marks in ways if marks[0] == (decimal or usual)]
    if len(fitting) == 1:
        return fitting[0]
    example = next(number for number in digits if not number.isdigit())
    raise uncertain(
        f"column {name!r}: {example!r} may be {example.replace(',', '.')} or "
        f"{re.sub('[.,]', '', example)}",
        "decimal=.",
        "decimal=,",
    )


def _without(digits: list[str], thousands: str) -> list[str]:
    if thousands == " ":
        return [_SPACES.sub("", number) for number in digits]
    return [number.replace(thousands, "") for number in digits] if thousands else digits


def _decoration(symbol: str, mark: str, thousands: str) -> str:
    parts = [f"a {symbol} sign"] if symbol else []
    parts += ["a decimal comma"] if mark == "," else []
    parts += ["marks between thousands"] if thousands else []
    return " written with " + ", ".join(parts) if parts else ""


# -- dates ---------------------------------------------------------------------------------------


def _plain_dates(
    columns: Mapping[str, Words], reading: Reading
) -> tuple[dict[str, list[str]], list[str]]:
    """Column by column the ISO form of each word; columns of anything else are left out."""
    if reading.dates == "text":
        return {}, []
    plain: dict[str, list[str]] = {}
    notes: list[str] = []
    open_columns: dict[str, list[re.Match[str]]] = {}
    for name, words in columns.items():
        values = words.texts.tolist()
        stamps, how = _certain_dates(name, values, reading)
        if stamps is not None:
            plain[name], notes = _as_iso(stamps), [*notes, f"{name}: dates, {how}"]
        elif (matches := _matches(_DAY_OR_MONTH_FIRST, values)) is not None:
            open_columns[name] = matches
    orders = {name: _possible_orders(matches) for name, matches in open_columns.items()}
    settled = {next(iter(o)) for o in orders.values() if len(o) == 1}
    for name, matches in open_columns.items():
        if not orders[name]:
            continue
        order = _order_of(name, orders[name], settled, matches, reading)
        plain[name] = _as_iso(orders[name][order])
        notes.append(f"{name}: dates, {order.replace('-', ' ')}")
    return plain, notes


def _certain_dates(name: str, values: list[str], reading: Reading) -> tuple[pd.Series | None, str]:
    if values and reading.dates is not None and "%" in reading.dates:
        stamps = pd.to_datetime(pd.Series(values), format=reading.dates, errors="coerce")
        if stamps.notna().all():
            return stamps, f"written {reading.dates}"
    matches = _matches(_YEAR_FIRST, values)
    if matches is not None:
        stamps = _stamps([(m[1], m[3], m[4], m.groups()[4:]) for m in matches])
        return (stamps, "year first") if stamps.notna().all() else (None, "")
    if values and all(_MONTH_NAME.search(value) for value in values):
        for form in _NAMED_MONTHS:
            stamps = pd.to_datetime(pd.Series(values), format=form, errors="coerce")
            if stamps.notna().all():
                return stamps, "with the name of the month"
    if (short := _matches(_SHORT_YEAR, values)) is not None and _possible_orders(short):
        mark = short[0][2]
        raise uncertain(
            f"column {name!r}: the century and the order of {values[0]!r} are not certain",
            *(f"dates={form.replace('.', mark)}" for form in ("%d.%m.%y", "%m.%d.%y")),
            "dates=text",
        )
    return None, ""


def _possible_orders(matches: list[re.Match[str]]) -> dict[str, pd.Series]:
    """The orders of day and month in which all are dates of the calendar."""
    years = [m[4] if len(m[4]) == 4 else f"20{m[4]}" for m in matches]
    times = [m.groups()[4:] or (None,) * 4 for m in matches]
    firsts, seconds = [m[1] for m in matches], [m[3] for m in matches]
    orders = {"day-first": (seconds, firsts), "month-first": (firsts, seconds)}
    if all(m[2] == "." for m in matches):
        del orders["month-first"]  # nobody writes months first with points
    stamps = {
        order: _stamps(list(zip(years, months, days, times, strict=True)))
        for order, (months, days) in orders.items()
    }
    return {order: found for order, found in stamps.items() if found.notna().all()}


def _order_of(
    name: str,
    orders: dict[str, pd.Series],
    settled: set[str],
    matches: list[re.Match[str]],
    reading: Reading,
) -> str:
    wanted = reading.dates if reading.dates in orders else None
    if wanted is not None or len(orders) == 1:
        return wanted or next(iter(orders))
    if len(settled) == 1:
        return next(iter(settled))
    raise uncertain(
        f"column {name!r}: {matches[0][0]!r} may have the day first or the month first",
        "dates=day-first",
        "dates=month-first",
    )


def _matches(pattern: re.Pattern[str], values: list[str]) -> list[re.Match[str]] | None:
    if not values:
        return None
    matches = []
    for value in values:
        match = pattern.fullmatch(value.strip())
        if match is None:
            return None
        matches.append(match)
    return matches


def _stamps(parts: list[tuple[str, str, str, tuple[str | None, ...]]]) -> pd.Series:
    """Time stamps of year, month, day and time of day; missing where there is no such day."""
    days = pd.DataFrame([[int(y), int(m), int(d)] for y, m, d, _ in parts])
    days.columns = ["year", "month", "day"]
    seconds = np.array([_seconds(time) for _, _, _, time in parts], dtype=float)
    return pd.to_datetime(days, errors="coerce") + pd.to_timedelta(pd.Series(seconds), unit="s")


def _seconds(time: tuple[str | None, ...]) -> float:
    hour, minute, second, half = time
    if hour is None:
        return 0.0
    hours = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    clock = (hours, int(minute or 0), int(second or 0))
    fits = hours < 24 and clock[1] < 60 and clock[2] < 60
    return 3600 * clock[0] + 60 * clock[1] + clock[2] if fits else float("nan")


def _as_iso(stamps: pd.Series) -> list[str]:
    whole = bool((stamps == stamps.dt.normalize()).all())
    return list(stamps.dt.strftime("%Y-%m-%d" if whole else "%Y-%m-%dT%H:%M:%S"))
