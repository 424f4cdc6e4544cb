"""The tables that an audit file names, each read once."""

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from tapas._random import Parts, part_stream
from tapas._validate import listing
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.datasets import DataDescription, TabularDataset, load_sample, locate, read_frame
from tapas.errors import ConfigError, TapasError, TapasWarning

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
        self._frames: dict[Path, pd.DataFrame] = {}

    def private(self) -> TabularDataset:
        """The private table, its columns and rows chosen."""
        part = self._config.data
        if part.sample is not None:
            return self._without_columns(load_sample(part.sample, part.rows))
        data = self.beside(str(part.table), "data.table")
        if part.rows is None:
            return data
        if part.rows > len(data):
            raise ConfigError(
                f"{self._names.where}: data.rows is {part.rows}, the table has {len(data)}"
            )
        drawn = part_stream(self._config.seed, Parts.SAMPLE_ROWS).permutation(len(data))
        return data.take(np.sort(drawn[: part.rows]), reset_index=True)

    def beside(self, file: str, key: str) -> TabularDataset:
        """A table beside the audit file; `key` is where the file names it."""
        path = self._names.folder / file
        try:
            data = self._read(path)
        except _UNREADABLE as error:
            raise ConfigError(f"{self._names.where}: {key}: {_words(error)}") from error
        if len(data) < 2:
            raise ConfigError(
                f"{self._names.where}: {key}: the table has {len(data)} rows, too few"
            )
        return self._without_columns(data)

    def _read(self, path: Path) -> TabularDataset:
        description = self._description
        if description is None:
            return TabularDataset.read(path, path.stem)
        if path not in self._frames:
            return TabularDataset.read(path, path.stem, description=description)
        return TabularDataset(self._frames.pop(path), description.relabelled(path.stem))

    @cached_property
    def _description(self) -> DataDescription | None:
        """What all tables share; None where a table stands alone without a schema."""
        part = self._config.data
        if part.schema_file is not None:
            return DataDescription.from_json(self._names.folder / part.schema_file)
        if part.table is None:
            return None
        table = self._names.folder / part.table
        if table.with_suffix(".json").exists():
            return DataDescription.from_json(table.with_suffix(".json"))
        others = [part.holdout]
        if self._config.release is not None:
            others += [self._config.release.file, self._config.release.reference]
        files = [table, *(self._names.folder / file for file in others if file)]
        return self._inferred(files) if len(files) > 1 else None

    def _inferred(self, files: list[Path]) -> DataDescription:
        self._frames = {file: read_frame(locate(file)[0], None) for file in files}
        return _describe(self._frames)

    def _without_columns(self, data: TabularDataset) -> TabularDataset:
        dropped = list(self._config.data.drop)
        unknown = [name for name in dropped if name not in data.description.columns]
        if unknown:
            raise ConfigError(
                f"{self._names.where}: data.drop: {listing(unknown)} are not columns; the columns "
                f"are {listing(data.description.columns)}"
            )
        dropped += self._texts(data, dropped)
        return data.view(exclude_columns=dropped) if dropped else data

    def _texts(self, data: TabularDataset, dropped: list[str]) -> list[str]:
        if not self._without_text:
            return []
        columns = data.description.parsed
        texts = [c.name for c in columns if c.kind == "string" and c.name not in dropped]
        if texts:
            warnings.warn(
                f"columns of free text are left out: {listing(texts)}", TapasWarning, stacklevel=2
            )
        return texts


def describe_files(files: Sequence[Path]) -> DataDescription:
    """One description for several files; a category may occur in any of them."""
    return _describe({file: read_frame(locate(file)[0], None) for file in files})


def _describe(frames: Mapping[Path, pd.DataFrame]) -> DataDescription:
    first, *_ = frames
    columns = list(frames[first].columns)
    for file, frame in frames.items():
        if set(frame.columns) != set(columns):
            different = sorted(set(columns).symmetric_difference(frame.columns))
            raise ConfigError(
                f"{file} and {first} must have the same columns, but differ in "
                f"{', '.join(different[:5])}"
            )
    return DataDescription.infer(pd.concat(frames.values(), ignore_index=True)[columns], first.stem)


def _words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
