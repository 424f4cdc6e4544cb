"""The files that tables come in: text with separators, Parquet, Excel, JSON."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

import pandas as pd

from tapas._files import most_expanded, refuse_bomb
from tapas._validate import listing
from tapas.datasets._columns import canonical
from tapas.datasets._dialect import Expected, decode, split_cells
from tapas.datasets._reading import Reading, uncertain
from tapas.errors import SchemaError

GZ = ".gz"

MOST_CELLS = 10**9  # of a table
CELL_SIZE = 8  # bytes
DEEPEST = 100  # lists and objects inside one another


@dataclass(frozen=True)
class Cells:
    """The cells of a file before its header is told from its records.

    Attributes
    ----------
    rows : DataFrame
        All rows, columns by position; or, with `named`, the records under their names.
    named : bool
        Whether the file itself says what the names are.
    delimiter : str or None
        What separated the cells of a text file.
    notes : list of str
        How the file was read.
    """

    rows: pd.DataFrame
    named: bool = False
    delimiter: str | None = None
    notes: list[str] = field(default_factory=list)


def ending_of(path: Path) -> str:
    """The ending that says how a file is read; that of what was compressed where it ends in gz."""
    return (path.with_suffix("") if path.suffix.lower() == GZ else path).suffix.lower()


def is_table_file(path: Path) -> bool:
    """Whether a file has an ending of a table."""
    return ending_of(path) in FORMATS


class Content:
    """The bytes of a file, which are given away so that they are not held beside what is read."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.read_bytes()
        self._packed = path.suffix.lower() == GZ
        self.sha256 = hashlib.sha256(self._bytes).hexdigest()

    def take(self) -> bytes:
        """The bytes, once, and whole if they are compressed."""
        held, self._bytes = self._bytes, b""
        return _decompressed(held) if self._packed else held


def read_cells(path: Path, content: Content, reading: Reading, expected: Expected) -> Cells:
    """Read the content of a file by its ending."""
    read = FORMATS.get(ending_of(path))
    if read is None:
        raise SchemaError(
            f"files that end in {path.suffix or 'nothing'} are not read: save the table as one of "
            f"{listing(FORMATS, 20)}"
        )
    return read(content, reading, expected)


def cells_of_text(text: str, reading: Reading, expected: Expected) -> Cells:
    """Cut text into cells."""
    if not text.lstrip("\r\n"):
        return Cells(pd.DataFrame())
    rows, delimiter, notes = split_cells(text, reading, expected)
    return Cells(rows, False, delimiter, notes)


def _decompressed(content: bytes) -> bytes:
    most = most_expanded(content)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            expanded = packed.read(most + 1)
        if len(expanded) > most:
            raise OSError(f"it expands to more than {most:,} bytes, which no table does")
        return expanded
    except (OSError, EOFError, zlib.error) as error:
        raise SchemaError(f"the file is not a whole gzip file: {error}") from None


def _delimited(content: Content, reading: Reading, expected: Expected) -> Cells:
    text, encoding = decode(content.take(), reading)
    cells = cells_of_text(text, reading, expected)
    shown = [] if text.isascii() else [f"text in {encoding}"]
    return Cells(cells.rows, False, cells.delimiter, [*cells.notes, *shown])


def _parquet(source: Content, reading: Reading, expected: Expected) -> Cells:
    content = source.take()
    try:
        from pyarrow import parquet

        file = parquet.ParquetFile(io.BytesIO(content))
        about = file.metadata
        cells = about.num_rows * about.num_columns
        if cells > MOST_CELLS or CELL_SIZE * cells > most_expanded(content):
            raise ValueError(f"it claims {about.num_rows:,} rows, more than can be read")
        file.read().validate(full=True)  # damaged text would be noticed much later
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError:
        raise SchemaError(
            'reading Parquet needs pyarrow: pip install "tapas-privacy[parquet]"'
        ) from None
    except Exception as error:
        raise SchemaError(f"the file is not Parquet: {error}") from None
    frame.columns = [str(name) for name in frame.columns]
    return Cells(frame, named=True, notes=["a Parquet file"])


def _excel(source: Content, reading: Reading, expected: Expected) -> Cells:
    content = source.take()
    try:
        refuse_bomb(content)
        sheets = pd.read_excel(
            io.BytesIO(content), sheet_name=None, header=None, dtype=object, na_filter=False
        )
    except ImportError:
        raise SchemaError(
            'reading Excel needs openpyxl: pip install "tapas-privacy[excel]"'
        ) from None
    except Exception as error:
        raise SchemaError(f"the file is not an Excel file: {error}") from None
    filled = {str(name): rows for name, rows in sheets.items() if rows.size}
    if reading.sheet is None and len(filled) > 1:
        raise uncertain(f"the file has {len(filled)} sheets", *(f"sheet={name}" for name in filled))
    name = reading.sheet or next(iter(filled), "")
    if name not in filled:
        raise SchemaError(f"there is no sheet {name!r}; the sheets are {listing(filled)}")
    rows = filled[name].iloc[reading.skip_rows :].reset_index(drop=True)
    rows = rows[~(rows == "").all(axis=1)].reset_index(drop=True)
    rows.columns = range(rows.shape[1])
    return Cells(rows, notes=[f"sheet {name!r} of an Excel file"])


def _json(content: Content, reading: Reading, expected: Expected) -> Cells:
    text, _ = decode(content.take(), reading)
    stripped = text.strip()
    try:
        if stripped.startswith("["):
            records = json.loads(stripped)
        else:
            records = [json.loads(line) for line in stripped.splitlines() if line.strip()]
        if "\\ud" in stripped.lower():
            json.dumps(records, ensure_ascii=False).encode()  # halves of characters are no text
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the file is neither a JSON list nor JSON lines: {error}") from None
    wrong = next((n for n, record in enumerate(records) if not isinstance(record, dict)), None)
    if wrong is not None:
        raise SchemaError(f"record {wrong} is not an object with names and values")
    deep = next((n for n, one in enumerate(records) if _depth(one) > DEEPEST), None)
    if deep is not None:
        raise SchemaError(f"record {deep} is nested more than {DEEPEST} levels deep")
    frame = pd.DataFrame.from_records([dict(record) for record in records])
    return Cells(frame.astype(object), named=True, notes=["JSON records"])


def _depth(value: Mapping[str, object]) -> int:
    """How many lists and objects lie inside one another; which are too deep differs by Python."""
    level, inner = 1, _inside(value)
    while inner and level <= DEEPEST:
        level, inner = level + 1, [each for one in inner for each in _inside(one)]
    return level


def _inside(value: object) -> list[object]:
    held = value.values() if isinstance(value, Mapping) else value
    found = held if isinstance(held, Iterable) else ()
    return [one for one in found if isinstance(one, (dict, list))]


def typed_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of values other than text get a type of their own; lists and objects become text."""
    return frame.assign(
        **{
            name: _typed(frame[name])
            for name in frame.columns
            if frame[name].dtype == object and not _all_text(frame[name])
        }
    )


def _all_text(column: pd.Series) -> bool:
    return pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty")


def _typed(column: pd.Series) -> pd.Series:
    kinds = {type(value) for value in column.dropna()}
    if bool not in kinds and all(issubclass(kind, (int, float, Decimal)) for kind in kinds):
        return column.astype(float)
    if all(issubclass(kind, date) for kind in kinds):
        return pd.to_datetime(column, errors="coerce")
    if kinds == {bool}:
        return column.map(str, na_action="ignore")
    return column.map(_as_word, na_action="ignore")


def _as_word(value: object) -> str:
    return canonical(value) if not isinstance(value, bool) else str(value)


FORMATS: Mapping[str, Callable[[Content, Reading, Expected], Cells]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".tab": _delimited,
    ".txt": _delimited,
    ".data": _delimited,
    ".parquet": _parquet,
    ".pq": _parquet,
    ".xlsx": _excel,
    ".jsonl": _json,
    ".ndjson": _json,
    ".json": _json,
}
