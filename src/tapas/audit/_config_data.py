"""Sections of an audit file about the private table."""

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from tapas.audit._config_parts import Part, exactly_one, given
from tapas.datasets import Reading

Ends = Annotated[list[int | float | str], Field(min_length=2, max_length=2)]


class ReadPart(Part):
    """How files are read, where that cannot be found from them; see docs/datasets.md."""

    delimiter: str | None = Field(default=None, description="Between two cells: ; or a tab, say")
    decimal: Literal[".", ","] | None = Field(default=None, description="The mark before decimals")
    encoding: str | None = Field(default=None, description="Such as cp1252")
    quote: str = Field(default='"', description="What cells are quoted with")
    header: bool | None = Field(default=None, description="Whether the first row holds the names")
    index: str | bool | None = Field(
        default=None,
        description="The column that labels records, which no attack looks at; false: none",
    )
    dates: str | None = Field(
        default=None, description="day-first, month-first, text, or a format such as %d.%m.%y"
    )
    skip_rows: NonNegativeInt = Field(default=0, description="Lines above the table")
    sheet: str | None = Field(default=None, description="Of an Excel file")
    missing: list[str] = Field(default=[], description="Further cells that mean missing")

    def reading(self) -> Reading:
        """The choices as the reader of tables takes them."""
        return Reading(**{**self.model_dump(), "missing": tuple(self.missing)})

    @model_validator(mode="after")
    def _possible(self) -> "ReadPart":
        self.reading()
        return self


class TargetsPart(Part):
    """Whose privacy is tested: rows, vulnerable and random ones, or made-up records."""

    rows: list[NonNegativeInt] | None = Field(default=None, min_length=1, description="Positions")
    vulnerable: PositiveInt | None = Field(
        default=None, description="So many, those furthest from all others"
    )
    rare: PositiveInt | None = Field(
        default=None, description="So many, those whose pairs of values are rarest"
    )
    exposed: PositiveInt | None = Field(
        default=None, description="So many, those highest on the map of an earlier run"
    )
    map: str | None = Field(
        default=None, description="For exposed: the exposure-map.csv of that run"
    )
    random: PositiveInt | None = Field(default=None, description="So many others, by the seed")
    made: PositiveInt | None = Field(
        default=None, description="So many made-up records, rare combinations that stand out"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "TargetsPart":
        drawn = bool(given(self, ("vulnerable", "rare", "exposed", "random")))
        if (self.exposed is None) != (self.map is None):
            raise ValueError("exposed goes with map, the exposure-map.csv of an earlier run")
        kinds = drawn + (self.rows is not None) + (self.made is not None)
        if kinds != 1:
            came = "several" if kinds else "none"
            raise ValueError(
                f"targets needs rows, or else vulnerable, rare, exposed and random, or else made; "
                f"got {came}"
            )
        return self


class DataPart(Part):
    """The private table."""

    table: str | None = Field(default=None, description="CSV, TSV, Parquet, Excel or JSON lines")
    sample: Literal["census", "clinic"] | None = Field(default=None, description="Built-in table")
    schema_file: str | None = Field(
        default=None,
        alias="schema",
        description="JSON file; by default the one beside the table, or inferred",
    )
    holdout: str | None = Field(
        default=None,
        description="For models and releases: a table of records that were not used for them",
    )
    read: ReadPart = ReadPart()
    drop: list[str] = Field(default=[], description="Columns to leave out, where they are")
    leave_out: list[str | int] = Field(
        default=[],
        description="Records of the table to leave out: rows from 0, or what the index column says",
    )
    bounds: dict[str, Ends] | Literal["table"] | None = Field(
        default=None,
        description="Lowest and highest of number columns, for generators with differential "
        "privacy: what is known without the data. table reads them off it, to try one out: the "
        "guarantee does not cover that",
    )
    rows: PositiveInt | None = Field(default=None, description="Use so many rows, drawn by seed")
    targets: TargetsPart | None = Field(
        default=None,
        description="By default 50 vulnerable and 50 random ones, together at most a tenth of a "
        "private dataset",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> "DataPart":
        if self.holdout is not None and self.table is None:
            raise ValueError("holdout goes with table: a sample is split in halves")
        if self.schema_file is not None and self.table is None:
            raise ValueError("schema goes with table: a sample has its own")
        return exactly_one(self, ("table", "sample"), "data")
