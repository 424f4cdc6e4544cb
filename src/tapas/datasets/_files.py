"""Tables on disk: CSV with or without a header, Parquet, and the schema beside them."""

import csv
import io
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets._columns import Column
from tapas.datasets._description import DataDescription
from tapas.datasets._encoding import EncodedTable
from tapas.errors import SchemaError

MISSING_TOKENS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "NaT", "?")


def locate(path: str | PathLike[str]) -> tuple[Path, Path]:
    """Return the data file and the schema file that `path` (a file, or a prefix) stands for."""
    text = str(path)
    given = Path(text)
    if given.suffix.lower() in (".csv", ".parquet", ".pq"):
        return given, given.with_suffix(".json")
    for ending in (".csv", ".parquet", ".pq"):
        candidate = Path(text + ending)
        if candidate.exists():
            return candidate, Path(text + ".json")
    raise FileNotFoundError(
        f"no table at {text!r}: expected that file, or {text}.csv or {text}.parquet"
    )


def read_frame(
    path: Path,
    description: DataDescription | None = None,
    *,
    header: bool | None = None,
    missing_values: Iterable[str] = MISSING_TOKENS,
) -> pd.DataFrame:
    """Read a data file; CSV cells come back as text or missing."""
    if path.suffix.lower() == ".csv":
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise SchemaError(
                f"the file is not UTF-8 (byte {error.start} is {error.object[error.start]:#x}): "
                f"save it as UTF-8, or read it with pandas and use TabularDataset.from_dataframe"
            ) from error
        return read_csv_text(text, description, header=header, missing_values=missing_values)
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(
            'reading Parquet needs pyarrow: pip install "tapas-privacy[parquet]"'
        ) from error
    frame.columns = [str(name) for name in frame.columns]
    return frame


def read_csv_text(
    text: str,
    description: DataDescription | None,
    *,
    header: bool | None = None,
    missing_values: Iterable[str] = MISSING_TOKENS,
) -> pd.DataFrame:
    """Parse CSV text; without a description the header is recognised by its looks."""
    if not text.strip("\r\n"):
        if description is None:
            raise SchemaError("the table is empty, and without a schema its columns are unknown")
        return pd.DataFrame({name: [] for name in description.columns}, dtype=object)
    names = list(description.columns) if description is not None else None
    if names is None or len(names) > 1:
        _refuse_other_separators(text)
    cells = _parse_cells(text)
    first = [str(cell) for cell in cells.iloc[0]]
    if header is None:
        header = _is_header(first, names)
        if not header and names is not None:
            _refuse_wrong_header(first, names)
    if header:
        cells = cells.iloc[1:].reset_index(drop=True)
        cells.columns = first
    elif names is None:
        cells.columns = [f"column_{position}" for position in range(cells.shape[1])]
    elif len(names) == cells.shape[1]:
        cells.columns = names
    else:
        raise SchemaError(
            f"the table has {cells.shape[1]} columns and the schema {len(names)} "
            f"({listing(names)}); first row: {listing(first)}"
        )
    return _with_missing(cells, description, frozenset(missing_values))


def table_to_csv(table: EncodedTable, *, header: bool = True) -> str:
    """Write a table as CSV text that reads back to the same values."""
    frame = table.to_frame()
    columns = {column.name: _as_text(frame[column.name], column) for column in table.columns}
    buffer = io.StringIO()
    # The csv module leaves a lone carriage return unquoted, and readers take it for a line end.
    returns = any("\r" in cell for cells in columns.values() for cell in cells)
    writer = csv.writer(
        buffer, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL
    )
    if header:
        writer.writerow(columns)
    # A lone empty cell would be an empty line, which readers skip.
    single = len(columns) == 1
    for row in zip(*columns.values(), strict=True):
        if single and row[0] == "":
            buffer.write('""\n')
        else:
            writer.writerow(row)
    return buffer.getvalue()


def _parse_cells(text: str) -> pd.DataFrame:
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise SchemaError(f"the text is not CSV: {error}") from error
    rows = [row for row in rows if row]
    width = len(rows[0])
    for line, row in enumerate(rows):
        if len(row) != width:
            raise SchemaError(
                f"row {line} has {len(row)} cells where the first row has {width}: {listing(row)}"
            )
    return pd.DataFrame(rows, dtype=object)


def _is_header(first: list[str], names: list[str] | None) -> bool:
    if names is not None:
        return sorted(first) == sorted(names)
    return len(set(first)) == len(first) and not any(_is_value(cell) for cell in first)


def _refuse_other_separators(text: str) -> None:
    first = next(csv.reader(io.StringIO(text, newline="")), [""])
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if len(first) == 1 and separator in first[0]:
            raise SchemaError(
                f"the cells seem to be separated by {name}; save the table with commas, or read it "
                f"with pandas and use TabularDataset.from_dataframe"
            )


def _refuse_wrong_header(first: list[str], names: list[str]) -> None:
    """A first row that holds most of the names is a header with a mistake, not data."""
    shared = set(first) & set(names)
    if 2 * len(shared) >= len(names) and len(names) > 1:
        missing = [name for name in names if name not in shared]
        unexpected = [cell for cell in first if cell not in shared]
        raise SchemaError(
            f"the header and the schema disagree: the header has {listing(unexpected)} where the "
            f"schema has {listing(missing)}"
        )


def _is_value(cell: str) -> bool:
    if cell in MISSING_TOKENS:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _with_missing(
    cells: pd.DataFrame, description: DataDescription | None, tokens: frozenset[str]
) -> pd.DataFrame:
    declared = {c.name: c for c in description.parsed} if description is not None else {}
    columns = {}
    for position, name in enumerate(cells.columns):
        series = cells.iloc[:, position]
        column = declared.get(name)
        own = {token for token in tokens if column is None or _can_mean_missing(column, token)}
        columns[name] = series.mask(series.isin(own), np.nan)
    return pd.concat(columns, axis=1) if columns else cells


def _can_mean_missing(column: Column, token: str) -> bool:
    """Free text may well be "NA"; a category of that name is a category."""
    if column.kind == "string":
        return token == ""
    return column.values is None or column.code(token) is None


def _as_text(series: pd.Series, column: Column) -> list[str]:
    missing = series.isna().to_numpy()
    blank = _blank(column) if missing.any() else ""
    if column.kind == "date":
        texts = series.dt.strftime("%Y-%m-%d")
    elif column.kind == "datetime":
        texts = series.map(lambda stamp: stamp.isoformat(), na_action="ignore")
    elif column.kind == "integer" or isinstance(column.values, range):
        texts = series.map(_integer_text, na_action="ignore")
    else:
        texts = series
    values = texts.astype(object).to_numpy()
    return [blank if absent else str(value) for value, absent in zip(values, missing, strict=True)]


def _blank(column: Column) -> str:
    for token in MISSING_TOKENS:
        if _can_mean_missing(column, token):
            return token
    raise SchemaError(
        f"column {column.name!r} has missing values, and every text that could stand for one is a "
        f"category: rename one of {listing(MISSING_TOKENS, 10)}"
    )


def _integer_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
