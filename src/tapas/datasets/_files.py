"""Tables on disk, the schema beside them, and how each file was read."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._files import read_json
from tapas._validate import listing
from tapas.datasets._csv_writing import can_mean_missing
from tapas.datasets._description import DataDescription
from tapas.datasets._distinct import distinct, may_hold_text
from tapas.datasets._file_formats import (
    FORMATS,
    Cells,
    Content,
    Expected,
    cells_of_text,
    ending_of,
    is_table_file,
    read_cells,
    typed_columns,
)
from tapas.datasets._header import (
    INDEX,
    column_names,
    numbers_the_rows,
    refuse_wrong_header,
    settle_header,
)
from tapas.datasets._plain_cells import plain_words, refuse_stray_tokens
from tapas.datasets._reading import MISSING_TOKENS, Reading
from tapas.datasets._words import WordColumn, Words, below_first, spelled_out, words_of
from tapas.errors import SchemaError


@dataclass(frozen=True)
class TableFile:
    """What a file holds, and how it was read.

    Attributes
    ----------
    cells : DataFrame
        Text, typed values or missing; rows labelled by the index column. Columns of a text file
        are held by their different words, and are described and encoded much faster so.
    choices : tuple of str
        How the file was read, in words.
    sha256 : str
        Digest of the file.
    dropped : tuple of str
        Columns of the file that were left out as asked.
    columns : tuple of str
        Every column that it has, whatever became of it.
    aside : DataFrame
        The cells of the columns that were left out, and of the one that was named to label records,
        as they stand in the file, or missing.
    """

    cells: pd.DataFrame
    choices: tuple[str, ...] = ()
    sha256: str = ""
    dropped: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    aside: pd.DataFrame = field(default_factory=pd.DataFrame)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The cells as an ordinary data frame: plain text, typed values or missing."""
        return spelled_out(self.cells)


def refuse_unknown_index(files: Iterable[TableFile], reading: Reading | None) -> None:
    """A column that is to label records must be in one of the files; a release may lack it."""
    index, found = None if reading is None else reading.index, list(files)
    if not isinstance(index, str) or not found:
        return
    if not any(index in file.columns for file in found):
        raise SchemaError(
            f"there is no column {index!r} to label records with (--read index, data.read.index): "
            f"the columns are {listing(found[0].columns, 40)}"
        )


def locate(path: str | PathLike[str]) -> tuple[Path, Path]:
    """Return the data file and the schema file that `path` (a file, or a prefix) stands for."""
    given = Path(path)
    if is_table_file(given):
        return given, _schema_of(given)
    for ending in FORMATS:
        candidate = Path(f"{path}{ending}")
        if ending != ".json" and candidate.exists():
            return candidate, _schema_of(candidate)
    if given.is_file():
        raise SchemaError(
            f"{given}: files that end in {given.suffix or 'nothing'} are not read: save the table "
            f"as one of {listing(FORMATS, 20)}"
        )
    raise FileNotFoundError(
        f"no table at {str(path)!r}: expected that file, or {path}.csv or {path}.parquet"
    )


def read_schema_beside(data_file: Path, label: str) -> DataDescription | None:
    """The schema beside a data file; a JSON object there is somebody's result, not a schema."""
    file = _schema_of(data_file)
    if file == data_file or not file.exists():
        return None
    try:
        if isinstance(read_json(file), dict):
            return None
    except ValueError:
        pass  # a damaged schema is told below
    return DataDescription.from_json(file, label)


def read_file(
    path: Path,
    description: DataDescription | None = None,
    reading: Reading | None = None,
    *,
    drop: Collection[str] = (),
    missing_values: Iterable[str] = MISSING_TOKENS,
) -> TableFile:
    """Read a data file, and tell how; columns of `drop` are left out where they are."""
    how = reading or Reading()
    aside = {*drop, how.index}
    if description is not None and not aside.isdisjoint(description.columns):
        description = description.view(name for name in description.columns if name not in aside)
    content = Content(path)
    try:
        cells = read_cells(path, content, how, _expected(description))
        found = _assembled(cells, description, how, drop, missing_values)
    except SchemaError as error:
        raise SchemaError(f"{path}: {error}") from error
    return replace(found, sha256=content.sha256)


def read_frame(
    path: Path,
    description: DataDescription | None = None,
    *,
    header: bool | None = None,
    missing_values: Iterable[str] = MISSING_TOKENS,
) -> pd.DataFrame:
    """Read a data file; cells of text files come back as text or missing."""
    reading = Reading(header=header)
    return read_file(path, description, reading, missing_values=missing_values).frame


def read_csv_text(text: str, description: DataDescription | None) -> pd.DataFrame:
    """The cells of CSV text; without a description the header is told by what is below it."""
    cells = cells_of_text(text, Reading(), replace(_expected(description), spaced=True))
    return _assembled(cells, description, Reading(), (), MISSING_TOKENS).cells


def _schema_of(data_file: Path) -> Path:
    compressed = ending_of(data_file) != data_file.suffix.lower()
    return (data_file.with_suffix("") if compressed else data_file).with_suffix(".json")


def _expected(description: DataDescription | None) -> Expected:
    """What a schema says about the cells of a text file."""
    if description is None:
        return Expected()
    words = [*description.columns, *(v for c in description.parsed for v in c.values or ())]
    spaced = any(isinstance(word, str) and word.startswith(" ") for word in words)
    return Expected(len(description.columns), spaced)


def _assembled(
    cells: Cells,
    description: DataDescription | None,
    reading: Reading,
    drop: Collection[str],
    missing_values: Iterable[str],
) -> TableFile:
    if not cells.rows.shape[1]:
        if description is None:
            raise SchemaError("the table is empty, and without a schema its columns are unknown")
        return TableFile(pd.DataFrame({n: [] for n in description.columns}, dtype=object))
    named = (cells.rows, []) if cells.named else _named(cells.rows, description, reading, drop)
    frame, notes = named
    columns = tuple(str(name) for name in frame.columns)
    tokens = frozenset((*missing_values, *reading.missing))
    put_aside = [name for name in frame.columns if name in drop or name == reading.index]
    aside = _with_missing(frame[put_aside], None, tokens)
    frame, index_notes = _indexed(frame, description, reading)
    dropped = tuple(str(name) for name in frame.columns if name in drop)
    frame = frame[[name for name in frame.columns if name not in drop]]
    frame = _with_missing(frame, description, tokens)
    if cells.delimiter is None:
        frame = typed_columns(frame)
    frame, cell_notes = _plain(frame, description, reading, cells.delimiter)
    choices = (*cells.notes, *notes, *index_notes, *cell_notes)
    return TableFile(frame, choices, dropped=dropped, columns=columns, aside=spelled_out(aside))


def _named(
    rows: pd.DataFrame,
    description: DataDescription | None,
    reading: Reading,
    drop: Collection[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Records under their names, which the first row or the schema holds."""
    first = [str(column.iloc[0]) for _, column in rows.items()]
    body = below_first(rows)
    names = None if description is None else list(description.columns)
    header = reading.header
    called, notes = column_names(first)
    if names is not None and sorted(first) == sorted(names):
        called, notes = first, []
    if header is None and names is not None:
        aside = {"unnamed_0", f"unnamed_{len(first) - 1}", *drop, reading.index} - set(names)
        header = sorted(name for name in called if name not in aside) == sorted(names)
        if not header:
            refuse_wrong_header(first, names)
    elif header is None:
        header = settle_header(first, body, reading)
    if header:
        body.columns = called
        return body, notes
    body = rows.copy()
    if names is None:
        body.columns = [f"column_{position}" for position in range(rows.shape[1])]
        return body, ["no header: columns are called column_0, column_1 and so on"]
    if len(names) != rows.shape[1]:
        raise SchemaError(
            f"the table has {rows.shape[1]} columns and the schema {len(names)} "
            f"({listing(names)}); first row: {listing(first)}"
        )
    body.columns = names
    return body, []


def _indexed(
    frame: pd.DataFrame, description: DataDescription | None, reading: Reading
) -> tuple[pd.DataFrame, list[str]]:
    """Rows labelled by the column that numbers them, which is then no column any more."""
    if reading.index is False:
        return frame, []
    if isinstance(reading.index, str):
        if reading.index not in frame.columns:
            return frame, [f"there is no column {reading.index!r} to label records with"]
        return _labelled(frame, reading.index), [f"records are labelled by {reading.index!r}"]
    first = str(frame.columns[0])
    declared = description is not None and first in description.columns
    if declared or first not in ("unnamed_0", "Unnamed: 0", "__index_level_0__"):
        return _without_empty_end(frame)
    if not numbers_the_rows(frame[first].astype(object)):
        return _without_empty_end(frame)
    return _labelled(frame, first), [
        f"the first column has no name and numbers the rows: it labels records as {INDEX!r} and is "
        f"not looked at (--read index=false keeps it)"
    ]


def _labelled(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    labels = frame[column].astype(object)
    rest = frame.drop(columns=column)
    if not labels.is_unique:
        raise SchemaError(
            f"column {column!r} cannot label records: {listing(labels[labels.duplicated()][:3])} "
            f"occur more than once"
        )
    whole = labels.astype(str).str.fullmatch(r"\d{1,15}").all()
    rest.index = pd.Index(labels.astype(np.int64) if whole else labels.astype(str), name=None)
    return rest


def _without_empty_end(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Lines that end in a separator have a last column without name or value."""
    last = str(frame.columns[-1])
    if not last.startswith("unnamed_") or not (frame[last] == "").all():
        return frame, []
    return frame.drop(columns=last), ["the last column has neither name nor values"]


def _with_missing(
    cells: pd.DataFrame, description: DataDescription | None, tokens: frozenset[str]
) -> pd.DataFrame:
    """Cells without what stands for missing values."""
    declared = {c.name: c for c in description.parsed} if description is not None else {}
    columns = {}
    for position, name in enumerate(cells.columns):
        column = declared.get(name)
        own = {token for token in tokens if column is None or can_mean_missing(column, token)}
        columns[name] = _without(cells.iloc[:, position], frozenset(own))
    return pd.concat(columns, axis=1) if columns else cells


def _without(column: pd.Series, tokens: frozenset[str]) -> pd.Series:
    if isinstance(column.array, WordColumn):
        return pd.Series(column.array.without(tokens), index=column.index)
    if not may_hold_text(column):
        return column
    words = (word for word in distinct(column) if isinstance(word, str))
    return column if tokens.isdisjoint(words) else column.mask(column.isin(tokens), np.nan)


def _plain(
    frame: pd.DataFrame,
    description: DataDescription | None,
    reading: Reading,
    delimiter: str | None,
) -> tuple[pd.DataFrame, list[str]]:
    """Numbers and dates of text columns in plain form; only where no schema says otherwise."""
    declared = {c.name: c for c in description.parsed} if description is not None else {}
    words = {
        name: found
        for name in frame.columns
        if (description is None or (name in declared and not declared[name].is_coded))
        and (found := _words(frame[name])) is not None
    }
    changed, notes = plain_words(words, reading, delimiter)
    plain = {name: _renamed(frame[name], words[name], changed[name]) for name in changed}
    frame = frame.assign(**plain) if plain else frame
    if description is None:
        for name, found in words.items():
            if name not in changed:
                refuse_stray_tokens(str(name), frame[name], found)
    return frame, notes


def _words(column: pd.Series) -> Words | None:
    """The words of a column of text."""
    if column.dtype != object:
        return words_of(column)
    return Words(np.array([*map(str, distinct(column)), None], dtype=object)[:-1])


def _renamed(column: pd.Series, words: Words, texts: list[str]) -> pd.Series:
    if isinstance(column.array, WordColumn):
        return pd.Series(column.array.renamed(texts), index=column.index)
    return column.map(dict(zip(words.texts, texts, strict=True)), na_action="ignore")
