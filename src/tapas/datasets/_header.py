"""Whether the first row of a table holds the names of its columns."""

from itertools import pairwise

import pandas as pd

from tapas._validate import listing
from tapas.datasets._reading import MISSING_TOKENS, Reading, uncertain
from tapas.datasets._words import spelled_out, words_of
from tapas.errors import SchemaError

INDEX = "index"
_YEARS = range(1800, 2101)
_ROWS_LOOKED_AT = 1000


def settle_header(first: list[str], body: pd.DataFrame, reading: Reading) -> bool:
    """Whether `first` is a header: what stands below it tells, or the question is refused."""
    if reading.header is not None:
        return reading.header
    texts = [not _is_value(cell) for cell in first]
    some = spelled_out(body.head(_ROWS_LOOKED_AT))
    over_numbers = [_is_numeric(some[position]) for position in range(len(first))]
    named = any(text and below for text, below in zip(texts, over_numbers, strict=True))
    numbers = [place for place, cell in enumerate(first) if _is_number(cell)]
    as_data = [p for p in numbers if over_numbers[p] and not _may_be_a_name(first, p)]
    if named and not as_data:
        return True
    if as_data and not named:
        return False
    if named and as_data:
        raise _unsettled(first, "some of its cells look like names and some like values")
    again = [p for p, text in enumerate(texts) if text and first[p] in _each_once(body[p]).tolist()]
    if all(texts):
        if again and 2 * len(again) >= len(first) and len(body) > 1:
            raise _unsettled(first, f"{listing(first[p] for p in again)} occur again below")
        return True
    if again or not all(_unlike(first[p], _each_once(body[p])) for p in numbers):
        raise _unsettled(first, "years and numbers may be names or values")
    return True


def column_names(first: list[str]) -> tuple[list[str], list[str]]:
    """Different names for all columns, and what was changed to have them."""
    names: list[str] = []
    notes = []
    for position, cell in enumerate(first):
        name = cell.strip() or f"unnamed_{position}"
        number = 2
        base = name
        while name in names:
            name, number = f"{base}_{number}", number + 1
        if name != cell.strip():
            notes.append(f"column {position + 1} is called {name!r} (its name is {cell!r})")
        names.append(name)
    return names, notes


def refuse_wrong_header(first: list[str], names: list[str]) -> None:
    """A first row that holds most of the names is a header with a mistake, not data."""
    shared = set(first) & set(names)
    if 2 * len(shared) >= len(names) and len(names) > 1:
        missing = [name for name in names if name not in shared]
        unexpected = [cell for cell in first if cell not in shared]
        if not unexpected:
            raise SchemaError(f"the header lacks {listing(missing)}, which the schema has")
        raise SchemaError(
            f"the header and the schema disagree: the header has {listing(unexpected)} where the "
            f"schema has {listing(missing)}"
        )


def numbers_the_rows(column: pd.Series) -> bool:
    """Whether a column holds a different whole number in every row."""
    whole = column.astype(str).str.fullmatch(r"\d{1,15}").all()
    return bool(len(column) and whole and column.is_unique)


def _unsettled(first: list[str], why: str) -> SchemaError:
    return uncertain(
        f"the first row ({listing(first)}) may be a header or a record: {why}",
        "header=true",
        "header=false",
    )


def _each_once(column: pd.Series) -> pd.Series:
    words = words_of(column)
    return column if words is None else pd.Series(words.texts, dtype=object)


def _is_value(cell: str) -> bool:
    return cell in MISSING_TOKENS or _is_number(cell)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return cell.strip().lower() != "nan"


def _is_numeric(column: pd.Series) -> bool:
    present = column[~column.isin(MISSING_TOKENS)]
    if present.empty:
        return False
    numbers = present.astype(str).str.replace(",", ".", regex=False)
    return bool(pd.to_numeric(numbers, errors="coerce").notna().all())


def _unlike(cell: str, column: pd.Series) -> bool:
    """Whether a number above a column is none of its kind: a name, then."""
    for cells in (column.head(_ROWS_LOOKED_AT), column):
        values = pd.to_numeric(cells[~cells.isin(MISSING_TOKENS)], errors="coerce")
        if values.isna().any() or (values % 1 != 0).any():
            return True
    return not bool(values.min() <= float(cell) <= values.max())


def _may_be_a_name(first: list[str], position: int) -> bool:
    """Years and numbers of columns may be names."""
    cell = first[position]
    if not cell.isdigit():
        return False
    others = [other for other in first if _is_number(other)]
    return int(cell) in _YEARS or _in_order(others)


def _in_order(cells: list[str]) -> bool:
    """Whole numbers in equal steps: 0, 1, 2 or 2019, 2020, 2021."""
    if not all(cell.isdigit() for cell in cells):
        return False
    values = [int(cell) for cell in cells]
    steps = {after - before for before, after in pairwise(values)}
    if len(values) == 1:
        return values[0] in _YEARS
    return len(steps) == 1 and 0 not in steps
