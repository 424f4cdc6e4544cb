"""The schema of a table."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import pandas as pd

from tapas._files import read_json, write_text
from tapas._validate import listing
from tapas.datasets._columns import OTHER, Column
from tapas.errors import SchemaError


class DataDescription:
    """Names, types and value sets of the columns of a table.

    Parameters
    ----------
    schema : list of dict
        One ``{"name", "type", "representation"}`` per column, in order. Further keys are kept
        and ignored.
    label : str, optional
        Display name of the data.
    explanations : dict, optional
        Why each column was described as it is, where the schema was inferred.

    Raises
    ------
    SchemaError
        Where an entry is malformed or a name occurs twice.
    """

    def __init__(
        self,
        schema: list[dict[str, Any]],
        label: str | None = None,
        *,
        explanations: dict[str, str] | None = None,
    ) -> None:
        self.schema = schema
        self._label = label or "Unnamed dataset"
        self._parsed = tuple(Column.parse(entry) for entry in schema)
        self.explanations = dict(explanations or {})
        names = self.columns
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise SchemaError(f"the schema names {listing(repeated)} more than once")

    @classmethod
    def infer(
        cls, frame: pd.DataFrame, label: str | None = None, *, max_categories: int = 100
    ) -> "DataDescription":
        """Describe a data frame; ``explain()`` says why each column got its type."""
        from tapas.datasets._inference import infer_schema

        schema, explanations = infer_schema(frame, max_categories=max_categories)
        return cls(schema, label, explanations=explanations)

    @classmethod
    def from_json(cls, path: str | PathLike[str], label: str | None = None) -> "DataDescription":
        """Read a schema file."""
        try:
            schema = read_json(path)
        except ValueError as error:
            raise SchemaError(f"{path} is not valid JSON: {error}") from error
        if not isinstance(schema, list):
            raise SchemaError(f"{path} must hold a list of columns, got {type(schema).__name__}")
        try:
            return cls(schema, label)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from error

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write the schema as a file that `from_json` reads."""
        write_text(path, json.dumps(self.schema, indent=4))

    def explain(self) -> str:
        """One line per column: its type, and why where it was inferred."""
        lines = []
        for column in self._parsed:
            reason = self.explanations.get(column.name, "as declared")
            lines.append(f"{column.name}: {column.type} ({reason})")
        return "\n".join(lines)

    @property
    def label(self) -> str:
        """Display name of the data."""
        return self._label

    @property
    def parsed(self) -> tuple[Column, ...]:
        """The columns as validated values."""
        return self._parsed

    @property
    def num_features(self) -> int:
        """Number of columns."""
        return len(self.schema)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self._parsed)

    @cached_property
    def numeric_places(self) -> "NumericPlaces":
        """Where the columns of the numeric view are found in an encoded table."""
        return NumericPlaces.of(self._parsed)

    @cached_property
    def encoded_dim(self) -> int:
        """Number of columns of the numeric view, where a category takes one per value."""
        return sum(
            len(column.values) if column.is_one_hot and column.values is not None else 1
            for column in self._parsed
        )

    @property
    def one_hot_cols(self) -> list[str]:
        """Names of the columns that the numeric view one-hot encodes."""
        return [column.name for column in self._parsed if column.is_one_hot]

    def view(self, columns: Iterable[str]) -> "DataDescription":
        """Description of the named columns, in the order of this schema."""
        wanted = set(columns)
        unknown = wanted.difference(self.columns)
        if unknown:
            raise SchemaError(
                f"there is no column {listing(sorted(map(str, unknown)))}; the columns are "
                f"{listing(self.columns)}"
            )
        kept = [entry for entry in self.schema if entry["name"] in wanted]
        reasons = {name: why for name, why in self.explanations.items() if name in wanted}
        return DataDescription(kept, self._label, explanations=reasons)

    def relabelled(self, label: str) -> "DataDescription":
        """Same schema under another display name."""
        return DataDescription(self.schema, label, explanations=self.explanations)

    def with_other(self) -> "DataDescription":
        """Schema in which every finite column also has the category "other"."""
        schema = []
        for entry, column in zip(self.schema, self._parsed, strict=True):
            values = column.values
            if values is not None and column.code(OTHER) is None:
                texts = [str(value) for value in values]
                entry = {**entry, "representation": [*texts, OTHER]}
            schema.append(entry)
        return DataDescription(schema, self._label, explanations=self.explanations)

    def __getitem__(self, key: int | str) -> dict[str, Any]:
        if isinstance(key, str):
            for entry in self.schema:
                if entry["name"] == key:
                    return entry
            raise KeyError(f"there is no column {key!r}; the columns are {listing(self.columns)}")
        if isinstance(key, int):
            return self.schema[key]
        raise KeyError(f"columns are found by name or position, got {key!r}")

    def __len__(self) -> int:
        return len(self.schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DataDescription):
            return NotImplemented
        return self is other or self.schema == other.schema

    def __hash__(self) -> int:
        return hash(self._parsed)

    def __repr__(self) -> str:
        return f"DataDescription({self._label!r}, columns={list(self.columns)})"


@dataclass(frozen=True)
class NumericPlaces:
    """Number, ordered and one-hot columns, by position.

    Attributes
    ----------
    numbers, ranks : list of int
        Places of number and of ordered columns among both, in schema order.
    ranked, one_hot : list of int
        Places of ordered and of one-hot columns among the codes.
    without_values : bool
        Whether a coded column lists no values, so that there is no numeric view.
    """

    numbers: list[int]
    ranks: list[int]
    ranked: list[int]
    one_hot: list[int]
    without_values: bool

    @classmethod
    def of(cls, columns: tuple[Column, ...]) -> "NumericPlaces":
        """Those of some columns."""
        coded = [column for column in columns if column.is_coded]
        valued = [column for column in columns if not column.is_one_hot]
        return cls(
            [place for place, column in enumerate(valued) if not column.is_coded],
            [place for place, column in enumerate(valued) if column.is_coded],
            [place for place, column in enumerate(coded) if not column.is_one_hot],
            [place for place, column in enumerate(coded) if column.is_one_hot],
            any(column.values is None for column in coded),
        )
