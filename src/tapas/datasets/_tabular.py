"""Tables and records: the data that a release is made from, and the release itself."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from tapas._files import write_text
from tapas._validate import check_count
from tapas.datasets._columns import OTHER
from tapas.datasets._csv_writing import table_to_csv
from tapas.datasets._dataset import Dataset
from tapas.datasets._description import DataDescription
from tapas.datasets._encoding import EncodedTable, encode_frame
from tapas.datasets._files import (
    locate,
    read_csv_text,
    read_file,
    read_schema_beside,
    refuse_unknown_index,
)
from tapas.datasets._frames import first_difference, frame_in_schema_order
from tapas.datasets._gathered import Gathered
from tapas.datasets._reading import MISSING_TOKENS, Reading
from tapas.datasets._rows import (
    RandomSource,
    RecordIds,
    as_generator,
    as_positions,
    as_sampler,
    checked_positions,
    disjoint_draws,
)
from tapas.datasets._table_forms import TableForms
from tapas.errors import RecordError, SchemaError


class TabularDataset(TableForms, Dataset):
    """A table whose values agree with its description.

    Values are validated and encoded when the dataset is made; `data` materialises a data frame
    on demand. That frame is yours: change it and the dataset follows.

    Parameters
    ----------
    data : DataFrame or anything that DataFrame accepts
        With columns in any order if it is a DataFrame, else in schema order.
    description : DataDescription
    unknown : {"error", "other"}
        What to do with a category that the schema does not list: refuse it, or count it as the
        category "other", which every finite column of the description then gains.

    Raises
    ------
    SchemaError
        Names the column, the first bad row and its value.
    """

    def __init__(
        self, data: Iterable[object], description: DataDescription, *, unknown: str = "error"
    ) -> None:
        if not isinstance(description, DataDescription):
            raise SchemaError(
                f"description must be a DataDescription, got {type(description).__name__}"
            )
        self.description = description.with_other() if unknown == OTHER else description
        frame = frame_in_schema_order(data, self.description)
        self._rebind(encode_frame(frame, self.description.parsed, unknown=unknown))

    # -- making ------------------------------------------------------------------------------

    @classmethod
    def from_table(cls, table: EncodedTable, description: DataDescription) -> "TabularDataset":
        """Wrap an encoded table without touching its values."""
        dataset = object.__new__(TabularDataset)
        dataset.description = description
        dataset._rebind(table)
        return dataset

    @classmethod
    def from_dataframe(
        cls,
        df: pd.DataFrame,
        description: DataDescription | None = None,
        label: str | None = None,
        *,
        unknown: str = "error",
    ) -> "TabularDataset":
        """Wrap a data frame, with an inferred description where none is given."""
        frame = df.rename(columns=str)
        if description is None:
            description = DataDescription.infer(frame, label)
        elif label is not None:
            description = description.relabelled(label)
        return TabularDataset(frame, description, unknown=unknown)

    @classmethod
    def read(
        cls,
        filepath: str | PathLike[str],
        label: str | None = None,
        *,
        description: DataDescription | None = None,
        header: bool | None = None,
        missing_values: Iterable[str] = MISSING_TOKENS,
        unknown: str = "error",
        reading: Reading | None = None,
    ) -> "TabularDataset":
        """Read a table (CSV, Parquet, Excel, JSON lines...), or ``prefix.csv`` and ``prefix.json``.

        Parameters
        ----------
        filepath : path
            A file, or the prefix that the data file and the schema share.
        label : str, optional
            Display name; the path by default.
        description : DataDescription, optional
            By default the JSON file beside the data, or, where there is none, inferred.
        header : bool, optional
            Whether the first row of a CSV file holds the names. By default it does if it equals
            the names of the schema (in any order) or, without a schema, if what stands below
            it says so; where that does not tell, the file is refused.
        missing_values : iterable of str
            Cells of a CSV file that stand for a missing value, unless the schema lists them as
            a category.
        unknown : {"error", "other"}
            Policy for categories outside the schema.
        reading : Reading, optional
            Separators, encoding, order of dates and so on, where they cannot be found.
        """
        data_file, _ = locate(filepath)
        name = label if label is not None else str(filepath)
        if description is None:
            description = read_schema_beside(data_file, name)
        else:
            description = description.relabelled(name)
        how = reading or Reading()
        how = how if header is None else replace(how, header=header)
        found = read_file(data_file, description, how, missing_values=missing_values)
        if description is None:
            description = DataDescription.infer(found.cells, name)
        try:
            refuse_unknown_index([found], how)
            return TabularDataset(found.cells, description, unknown=unknown)
        except SchemaError as error:
            raise SchemaError(f"{data_file}: {error}") from error

    @classmethod
    def read_from_string(
        cls, data: str, description: DataDescription, *, unknown: str = "error"
    ) -> "TabularDataset":
        """Read CSV text with or without a header."""
        return TabularDataset(read_csv_text(data, description), description, unknown=unknown)

    def write_to_string(self, *, header: bool = True) -> str:
        """Write as CSV text."""
        return table_to_csv(self.table, header=header)

    def write(self, filepath: str | PathLike[str], *, header: bool = True) -> None:
        """Write ``filepath.csv`` and ``filepath.json``, making the folder."""
        write_text(f"{filepath}.csv", self.write_to_string(header=header))
        self.description.to_json(f"{filepath}.json")

    # -- records -----------------------------------------------------------------------------

    def take(self, positions: RecordIds, *, reset_index: bool = False) -> "TabularDataset":
        """Gather rows by position, repeats allowed."""
        return self._taken(checked_positions(positions, len(self)), reset_index)

    def splice(self, records: "TabularDataset", rows: np.ndarray) -> "TabularDataset":
        """Gather rows, by position, from this dataset followed by `records`."""
        self._check_same_description(records)
        if self._gathered is not None:
            return self._holding(self._gathered.splice(records.table, rows))
        return self._holding(Gathered(self.table, records.table, rows))

    def sample(
        self, n_samples: int = 1, frac: float | None = None, random_state: RandomSource = None
    ) -> "TabularDataset":
        """Draw rows without replacement (a share of them if `frac` is given)."""
        count = int(frac * len(self)) if frac else check_count(n_samples, "n_samples")
        if count > len(self):
            raise RecordError(
                f"cannot draw {count} rows without replacement from a dataset of {len(self)}"
            )
        # The same draw as DataFrame.sample makes, without the frame.
        positions = as_sampler(random_state).choice(len(self), size=count, replace=False)
        return self._taken(positions, reset_index=False)

    def get_records(self, record_ids: RecordIds) -> "TabularDataset":
        """Rows at these positions; a `TabularRecord` if there is exactly one."""
        positions = as_positions(record_ids)
        chosen = self.take(positions)
        if len(positions) == 1:
            return TabularRecord.from_table_row(chosen.table, self.description, positions[0])
        return chosen

    def drop_records(
        self,
        record_ids: RecordIds = (),
        n: int = 1,
        in_place: bool = False,
        *,
        random_state: RandomSource = None,
    ) -> "TabularDataset | None":
        """Leave out the rows at these positions, or `n` random rows if none are given."""
        positions = as_positions(record_ids)
        if len(positions) == 0:
            positions = self._random_positions(n, random_state)
        keep = np.ones(len(self), dtype=bool)
        keep[checked_positions(positions, len(self))] = False
        return self._finish(self.table.take(np.flatnonzero(keep)), in_place)

    def add_records(
        self, records: "TabularDataset", in_place: bool = False
    ) -> "TabularDataset | None":
        """Append records at the end, keeping their row labels."""
        self._check_same_description(records)
        return self._finish(self.table.concat(records.table), in_place)

    def replace(
        self,
        records_in: "TabularDataset",
        records_out: RecordIds = (),
        in_place: bool = False,
        *,
        random_state: RandomSource = None,
    ) -> "TabularDataset | None":
        """Swap the rows at `records_out` (random ones by default) for `records_in`."""
        self._check_same_description(records_in)
        positions = as_positions(records_out)
        if len(positions) == 0:
            positions = self._random_positions(len(records_in), random_state)
        if len(set(positions.tolist())) != len(records_in):
            raise RecordError(
                f"records_out names {len(set(positions.tolist()))} different rows and records_in "
                f"has {len(records_in)}: they must be as many"
            )
        keep = np.ones(len(self), dtype=bool)
        keep[checked_positions(positions, len(self))] = False
        kept = self.table.take(np.flatnonzero(keep))
        return self._finish(kept.concat(records_in.table), in_place)

    def create_subsets(
        self,
        n: int,
        sample_size: int,
        drop_records: bool = False,
        *,
        random_state: RandomSource = None,
    ) -> "list[TabularDataset]":
        """Draw `n` datasets of `sample_size` rows.

        Subsets are disjoint until the data is used up; then the rows are shuffled anew. With
        `drop_records`, the rows drawn leave this dataset.
        """
        check_count(n, "n")
        if check_count(sample_size, "sample_size") > len(self):
            raise RecordError(
                f"cannot draw subsets of {sample_size} rows from a dataset of {len(self)}"
            )
        table = self.table
        drawn = disjoint_draws(n, sample_size, len(table), as_generator(random_state))
        subsets = [self._like(table.take(rows)) for rows in drawn]
        if drop_records:
            keep = np.setdiff1d(np.arange(len(table)), np.concatenate([*drawn, []]).astype(int))
            self._rebind(table.take(keep))
        return subsets

    def empty(self) -> "TabularDataset":
        """A dataset of the same description without rows."""
        return self._like(self.table.take([]))

    def copy(self) -> "TabularDataset":
        """An independent dataset with the same rows."""
        held = self._gathered
        return self._like(self.table) if held is None else self._holding(held)

    def unlabelled(self) -> "TabularDataset":
        """The same rows, labelled 0, 1, ..."""
        if self._gathered is not None:
            return self._holding(replace(self._gathered, labels=None, as_in_base=False))
        return self._like(self.table.with_index())

    def view(
        self,
        columns: Sequence[str] | None = None,
        exclude_columns: Sequence[str] | None = None,
    ) -> "TabularDataset":
        """Keep, or leave out, some columns; the order stays that of the schema."""
        if (columns is None) == (exclude_columns is None):
            raise SchemaError("give exactly one of columns and exclude_columns")
        if columns is None:
            excluded = set(self.description.view(exclude_columns or ()).columns)
            columns = [name for name in self.description.columns if name not in excluded]
        description = self.description.view(columns)
        return TabularDataset.from_table(self.table.select(description.columns), description)

    @property
    def label(self) -> str:
        """Display name: the description's."""
        return self.description.label

    def concat(self, *others: "TabularDataset") -> "TabularDataset":
        """These rows, then those of the others, which must have the same description."""
        joined = self
        for other in others:
            joined = joined + other
        return joined

    def __spec__(self) -> Mapping[str, object]:
        return {"rows": len(self), "digest": self.table.digest()}

    def __add__(self, other: "TabularDataset") -> "TabularDataset":
        self._check_same_description(other)
        return self._like(self.table.concat(other.table))

    def __iter__(self) -> Iterator["TabularRecord"]:
        table = self.table
        for position, label in enumerate(table.index):
            yield TabularRecord.from_table_row(table.take([position]), self.description, label)

    def __contains__(self, record: object) -> bool:
        if not isinstance(record, TabularDataset) or len(record) != 1:
            raise ValueError("only a dataset of exactly one record can be looked for with 'in'")
        self._check_same_description(record)
        return bool(self.table.matches(record.table).any())

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.label!r}, {len(self)} rows x "
            f"{self.description.num_features} columns)"
        )

    # -- inside ------------------------------------------------------------------------------

    def _like(self, table: EncodedTable) -> "TabularDataset":
        return TabularDataset.from_table(table, self.description)

    def _holding(self, rows: Gathered) -> "TabularDataset":
        """A dataset of rows that are copied when somebody asks for the values."""
        dataset = TabularDataset.from_table(rows.base, self.description)
        dataset._table, dataset._gathered = None, rows
        return dataset

    def _taken(self, where: np.ndarray, reset_index: bool) -> "TabularDataset":
        if self._gathered is not None:
            return self._holding(self._gathered.take(where, reset_index=reset_index))
        rows = np.where(where < 0, where + len(self), where)
        return self._holding(Gathered(self.table, None, rows, as_in_base=not reset_index))

    def _finish(self, table: EncodedTable, in_place: bool) -> "TabularDataset | None":
        if not in_place:
            return self._like(table)
        self._rebind(table)
        return None

    def _random_positions(self, n: int, random_state: RandomSource) -> np.ndarray:
        if check_count(n, "n") > len(self):
            raise RecordError(f"cannot take {n} rows out of a dataset of {len(self)}")
        return as_generator(random_state).choice(len(self), size=n, replace=False)

    def _check_same_description(self, other: "TabularDataset") -> None:
        if not isinstance(other, TabularDataset):
            raise RecordError(f"expected a TabularDataset, got {type(other).__name__}")
        if self.description != other.description:
            raise RecordError(
                f"the descriptions of {self.label!r} and {other.label!r} differ: "
                f"{first_difference(self.description, other.description)}"
            )


class TabularRecord(TabularDataset):
    """A table of one row that has an identifier."""

    def __init__(
        self, data: Iterable[object], description: DataDescription, identifier: Hashable
    ) -> None:
        super().__init__(data, description)
        if len(self) != 1:
            raise RecordError(f"a record is exactly one row, got {len(self)}")
        self.id = identifier

    @classmethod
    def from_table_row(
        cls, table: EncodedTable, description: DataDescription, identifier: Hashable
    ) -> "TabularRecord":
        """Wrap an encoded table of one row."""
        record = object.__new__(TabularRecord)
        record.__dict__.update(TabularDataset.from_table(table, description).__dict__)
        record.id = identifier
        return record

    @classmethod
    def from_dataset(cls, tabular_row: TabularDataset) -> "TabularRecord":
        """The record in a dataset of one row, under its row label."""
        if len(tabular_row) != 1:
            raise RecordError(f"a record is exactly one row, got {len(tabular_row)}")
        table = tabular_row.table
        return cls.from_table_row(table, tabular_row.description, table.index[0])

    @property
    def label(self) -> str:
        """The identifier, as text."""
        return str(self.id)

    def get_id(self, tabular_dataset: TabularDataset) -> Any:
        """Label of the one row of a dataset that equals this record."""
        self._check_same_description(tabular_dataset)
        table = tabular_dataset.table
        found = np.flatnonzero(table.matches(self.table))
        if len(found) != 1:
            copies = "no copy" if len(found) == 0 else f"{len(found)} copies"
            raise RecordError(
                f"record {self.label!r} has {copies} in {tabular_dataset.label!r}; "
                f"its identifier there is defined only where there is exactly one"
            )
        return table.index[found[0]]

    def set_id(self, identifier: Hashable) -> None:
        """Give the record another identifier and row label."""
        self.id = identifier
        self._rebind(self.table.with_index(pd.Index([identifier])))

    def set_value(self, column: str, value: object) -> None:
        """Change one value."""
        self._rebind(self.table.with_value(column, value))

    def copy(self) -> "TabularRecord":
        """An independent record with the same values and identifier."""
        return TabularRecord.from_table_row(self.table, self.description, self.id)
