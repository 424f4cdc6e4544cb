"""The tables that an audit file names, each read once."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._random import Parts, part_stream
from tapas._spec import Plain
from tapas._validate import listing
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.audit._problems import Problems
from tapas.datasets import (
    DataDescription,
    Reading,
    TableFile,
    TabularDataset,
    load_sample,
    locate,
    read_file,
    read_schema_beside,
    refuse_unknown_index,
    shared_description,
)
from tapas.errors import ConfigError, TapasError, TapasWarning

FEWEST_ROWS = 2
_UNREADABLE = (OSError, TapasError, ImportError, UnicodeDecodeError)


class Tables:
    """Tables of an audit file; without a schema, one is inferred from all of them together.

    Parameters
    ----------
    config : AuditFile
    names : Names
        Finds files beside the audit file.
    without_text : bool
        Whether columns of free text, which attacks cannot compare, are left out with a warning.
    """

    def __init__(self, config: AuditFile, names: Names, *, without_text: bool = False) -> None:
        self._config = config
        self._names = names
        self._without_text = without_text
        self._inputs: dict[str, Plain] = {}
        self._aside: dict[str, pd.DataFrame] = {}

    def private(self) -> TabularDataset:
        """The private table, its columns and records chosen."""
        return self._without_records(self._whole())

    def _whole(self) -> TabularDataset:
        part = self._config.data
        if part.sample is not None:
            data = self._without_columns(load_sample(part.sample, part.rows))
            dropped: dict[str, Plain] = dict.fromkeys(part.drop, "named in data.drop")
            self._inputs["data.sample"] = {"file": part.sample, **_about(data), "dropped": dropped}
            return data
        data = self.beside(str(part.table), "data.table")
        if part.rows is None:
            return data
        if part.rows > len(data):
            raise ConfigError(
                f"{self._names.where}: data.rows is {part.rows}, the table has {len(data)}"
            )
        drawn = part_stream(self._config.seed, Parts.SAMPLE_ROWS).permutation(len(data))
        return self._taken(data, np.sort(drawn[: part.rows]))

    def beside(self, file: str, key: str) -> TabularDataset:
        """A table beside the audit file; `key` is where the file names it."""
        path = self._names.folder / file
        found = self._files[path]
        try:
            described = self._description.relabelled(path.stem)
            data = TabularDataset(found.cells, described)
        except _UNREADABLE as error:
            raise ConfigError(f"{self._names.where}: {key}: {_words(error, path)}") from error
        if len(data) < FEWEST_ROWS:
            raise ConfigError(
                f"{self._names.where}: {key}: the table has {len(data)} rows, too few"
            )
        left = self._without_texts(data)
        texts = [name for name in data.description.columns if name not in left.description.columns]
        aside = (replace(found, cells=found.cells[texts]).frame, found.aside)
        self._aside[key] = pd.concat([one.reset_index(drop=True) for one in aside], axis=1)
        self._inputs[key] = {
            "file": path.name,
            "sha256": found.sha256,
            "read": list(found.choices),
            **_about(left),
            "dropped": {
                **dict.fromkeys(found.dropped, "named in data.drop"),
                **dict.fromkeys(texts, "free text, which attacks cannot compare"),
            },
        }
        return left

    def aside(self, key: str) -> pd.DataFrame:
        """Cells of the columns that no attack looks at, of a table that was read, by its key."""
        return self._aside.get(key, pd.DataFrame())

    def alike(self, path: Path) -> TabularDataset:
        """A table that the audit file does not name, read as those that it names."""
        part = self._config.data
        try:
            found = read_file(locate(path)[0], self._declared, part.read.reading(), drop=part.drop)
            return TabularDataset(found.cells, self._description.relabelled(path.stem))
        except _UNREADABLE as error:
            raise ConfigError(_words(error, path)) from error

    def inputs(self) -> dict[str, Plain]:
        """Every table that was used, by its key: file, digest, size, what was left out."""
        return dict(self._inputs)

    @cached_property
    def _files(self) -> Mapping[Path, TableFile]:
        """Every file that is named, read; a column to drop must be in one of them."""
        drop, found = self._config.data.drop, {}
        declared, problems = None, Problems()
        with problems.noted():
            declared = self._declared
        for key, path, reading in self._named():
            with problems.noted():
                found[path] = self._read(key, path, reading, declared)
        problems.refuse()
        self._refuse_unknown_index(found)
        dropped = {name for file in found.values() for name in file.dropped}
        labels = {reading.index for *_, reading in self._named()}
        unknown = [name for name in drop if name not in dropped and name not in labels]
        if unknown:
            first = next(iter(found.values())).cells
            raise ConfigError(
                f"{self._names.where}: data.drop: {listing(unknown)} are not columns; the columns "
                f"are {listing([*first.columns, *sorted(dropped)])}"
            )
        return found

    def _refuse_unknown_index(self, found: Mapping[Path, TableFile]) -> None:
        """The column that labels records must be in a file that is read so."""
        ways = {reading.index: reading for *_, reading in self._named()}
        for reading in ways.values():
            alike = [found[path] for _, path, how in self._named() if how.index == reading.index]
            try:
                refuse_unknown_index(alike, reading)
            except TapasError as error:
                raise ConfigError(f"{self._names.where}: {error}") from error

    def _read(
        self, key: str, path: Path, reading: Reading, declared: DataDescription | None
    ) -> TableFile:
        try:
            return read_file(locate(path)[0], declared, reading, drop=self._config.data.drop)
        except _UNREADABLE as error:
            raise ConfigError(f"{self._names.where}: {key}: {_words(error, path)}") from error

    def _named(self) -> Sequence[tuple[str, Path, Reading]]:
        """Key, path and choices of every file."""
        data, release = self._config.data, self._config.release
        files = [("data.table", data.table, data.read), ("data.holdout", data.holdout, data.read)]
        if release is not None:
            read = release.read or data.read
            files += [(key, file, read) for key, file in release.files.items()]
            files += [("release.reference", release.reference, read)]
        return [
            (key, self._names.folder / file, read.reading()) for key, file, read in files if file
        ]

    @cached_property
    def _declared(self) -> DataDescription | None:
        """The schema that is named, or stands beside the private table."""
        part = self._config.data
        try:
            if part.schema_file is not None:
                return DataDescription.from_json(self._names.folder / part.schema_file)
            table, _ = locate(self._names.folder / str(part.table))
            return read_schema_beside(table, table.stem)
        except _UNREADABLE as error:
            key = "data.schema" if part.schema_file is not None else "data.table"
            raise ConfigError(f"{self._names.where}: {key}: {_words(error)}") from error

    @cached_property
    def _description(self) -> DataDescription:
        """What all tables share."""
        if self._declared is not None:
            part = self._config.data
            dropped = {*part.drop, part.read.index}
            return self._declared.view(n for n in self._declared.columns if n not in dropped)
        return shared_description({path: file.cells for path, file in self._files.items()})

    def _without_records(self, data: TabularDataset) -> TabularDataset:
        """The table without the records that are to be left out; the others keep their names."""
        names = [str(label) for label in data.table.index]
        out = {str(name) for name in self._config.data.leave_out}
        unknown = sorted(out.difference(names))
        if unknown:
            raise ConfigError(
                f"{self._names.where}: data.leave_out: there are no records {listing(unknown)}; "
                f"they are called {listing(names)}"
            )
        left = [row for row, name in enumerate(names) if name not in out]
        if len(left) < FEWEST_ROWS:
            raise ConfigError(f"{self._names.where}: data.leave_out leaves {len(left)} records")
        return self._taken(data, np.array(left)) if out else data

    def _taken(self, data: TabularDataset, rows: np.ndarray) -> TabularDataset:
        """Some records of the private table, and as many cells of what is left out of it."""
        if "data.table" in self._aside:  # a sample has none
            self._aside["data.table"] = self._aside["data.table"].iloc[rows]
        return data.take(rows)

    def _without_columns(self, data: TabularDataset) -> TabularDataset:
        dropped = self._config.data.drop
        unknown = [name for name in dropped if name not in data.description.columns]
        if unknown:
            raise ConfigError(
                f"{self._names.where}: data.drop: {listing(unknown)} are not columns; the columns "
                f"are {listing(data.description.columns)}"
            )
        return data.view(exclude_columns=dropped) if dropped else data

    def _without_texts(self, data: TabularDataset) -> TabularDataset:
        texts = [c.name for c in data.description.parsed if c.kind == "string"]
        if not self._without_text or not texts:
            return data
        warnings.warn(
            f"columns of free text are left out: {listing(texts)}", TapasWarning, stacklevel=2
        )
        left = data.view(exclude_columns=texts)
        if not left.description.columns:
            raise ConfigError(
                f"{self._names.where}: every column is free text ({listing(texts)}), which attacks "
                f"cannot compare: describe one as categories in a schema (data.schema)"
            )
        return left


def _about(data: TabularDataset) -> dict[str, Plain]:
    kinds = [column.kind for column in data.description.parsed]
    return {"rows": len(data), "columns": {kind: kinds.count(kind) for kind in sorted(set(kinds))}}


def _words(error: BaseException, path: Path | None = None) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    words = str(error)
    return words if path is None or str(path) in words else f"{path}: {words}"
