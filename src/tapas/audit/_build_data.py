"""The tables that an audit file names."""

from typing import Any

import numpy as np
import pandas as pd

from tapas._random import stream
from tapas._validate import listing
from tapas.audit._config import AuditFile
from tapas.audit._config_names import Names
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.errors import ConfigError, TapasError

_ROWS = 2  # address of the stream that draws rows


def read_table(
    config: AuditFile, names: Names, description: DataDescription | None = None
) -> TabularDataset:
    """The private table of an audit file, its columns and rows chosen."""
    part = config.data
    if part.sample is not None:
        data = load_sample(part.sample, part.rows)
        return drop_columns(data, part.drop, names.where)
    data = read_file(str(part.table), config, names, "data.table", description)
    if part.rows is None:
        return data
    if part.rows > len(data):
        raise ConfigError(f"{names.where}: data.rows is {part.rows}, the table has {len(data)}")
    drawn = stream(config.seed, _ROWS).permutation(len(data))[: part.rows]
    return data.take(np.sort(drawn), reset_index=True)


def read_file(
    file: str,
    config: AuditFile,
    names: Names,
    key: str,
    description: DataDescription | None = None,
) -> TabularDataset:
    """A table beside the audit file, without the columns that are to be dropped."""
    given = config.data.schema_file
    try:
        if description is None and given is not None:
            description = DataDescription.from_json(names.folder / given)
        path = names.folder / file
        data = TabularDataset.read(path, path.stem, description=description)
    except (OSError, TapasError, ImportError, UnicodeDecodeError) as error:
        raise ConfigError(f"{names.where}: {key}: {_words(error)}") from error
    if len(data) < 2:
        raise ConfigError(f"{names.where}: {key}: the table has {len(data)} rows, too few")
    return drop_columns(data, config.data.drop, names.where)


def shared_description(config: AuditFile, names: Names) -> DataDescription | None:
    """One schema for the table and the holdout; inferred from both where none is given."""
    table = names.folder / str(config.data.table)
    if config.data.schema_file is not None:
        return None
    if table.with_suffix(".json").exists():
        return DataDescription.from_json(table.with_suffix(".json"))
    parts = []
    for path in (table, names.folder / str(config.data.holdout)):
        try:
            parts.append(TabularDataset.read(path).data)
        except (OSError, TapasError, ImportError, UnicodeDecodeError) as error:
            raise ConfigError(f"{names.where}: data: {_words(error)}") from error
    return DataDescription.infer(pd.concat(parts, ignore_index=True))


def drop_columns(data: TabularDataset, columns: list[str], where: str) -> TabularDataset:
    """The table without some columns."""
    unknown = [name for name in columns if name not in data.description.columns]
    if unknown:
        raise ConfigError(
            f"{where}: data.drop: {listing(unknown)} are not columns; the columns are "
            f"{listing(data.description.columns)}"
        )
    return data.view(exclude_columns=columns) if columns else data


def _words(error: Any) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
