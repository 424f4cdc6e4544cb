"""Several files of one description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tapas._validate import listing
from tapas.datasets._description import DataDescription
from tapas.datasets._files import (
    TableFile,
    locate,
    read_file,
    read_schema_beside,
    refuse_unknown_index,
)
from tapas.datasets._reading import Reading
from tapas.datasets._tabular import TabularDataset
from tapas.errors import ConfigError


@dataclass(frozen=True)
class DescribedFiles:
    """Files, and the description that they share."""

    description: DataDescription
    files: Mapping[Path, TableFile]


def describe_files(files: Sequence[Path]) -> DataDescription:
    """One description for several files; a category may occur in any of them."""
    return read_together(files).description


def read_together(
    files: Sequence[Path], reading: Reading | None = None, drop: Sequence[str] = ()
) -> DescribedFiles:
    """Files and the one description of them; a schema beside the first is taken as it is."""
    declared = read_schema_beside(locate(files[0])[0], files[0].stem)
    found = {file: read_file(locate(file)[0], declared, reading, drop=drop) for file in files}
    refuse_unknown_index(found.values(), reading)
    if declared is None:
        return DescribedFiles(shared_description({f: t.cells for f, t in found.items()}), found)
    kept = declared.view(name for name in declared.columns if name not in drop)
    for table in found.values():
        TabularDataset(table.cells, kept)
    return DescribedFiles(kept, found)


def shared_description(frames: Mapping[Path, pd.DataFrame]) -> DataDescription:
    """The description of the records of all frames, which must have the same columns."""
    first, *_ = frames
    columns = list(frames[first].columns)
    for file, frame in frames.items():
        if set(frame.columns) != set(columns):
            different = sorted(set(columns).symmetric_difference(frame.columns))
            raise ConfigError(
                f"{file} and {first} must have the same columns, but differ in "
                f"{listing(different, 5, show=str)}: drop what only one of them has (--drop, "
                f"data.drop), or, where it names people, keep it as their label "
                f"(--read 'index={different[0]}', data.read.index)"
            )
    if not columns:
        raise ConfigError(f"{first}: no column is left: drop fewer")
    whole = pd.concat(frames.values(), ignore_index=True)[columns] if len(frames) > 1 else None
    return DataDescription.infer(frames[first] if whole is None else whole, first.stem)
