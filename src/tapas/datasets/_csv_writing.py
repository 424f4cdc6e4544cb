"""Tables as CSV text that reads back to the same values."""

import csv
import io

import pandas as pd

from tapas._validate import listing
from tapas.datasets._columns import Column
from tapas.datasets._encoding import EncodedTable
from tapas.datasets._reading import MISSING_TOKENS
from tapas.errors import SchemaError


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


def can_mean_missing(column: Column, token: str) -> bool:
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
        if can_mean_missing(column, token):
            return token
    raise SchemaError(
        f"column {column.name!r} has missing values, and every text that could stand for one is a "
        f"category: rename one of {listing(MISSING_TOKENS, 10)}"
    )


def _integer_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
