"""Turn what a foreign generator returned into a release, or say what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tapas.datasets import MISSING_CODE, Column, DataDescription, EncodedTable, TabularDataset
from tapas.errors import MechanismError, SchemaError
from tapas.generators._states import from_columns

LEAST = {"interval": 0.0, "real/non-negative": 0.0, "countable": 0.0,
         "countable/ordered/least": 0.0}  # fmt: skip
MOST = {"interval": 1.0}


@dataclass(frozen=True)
class NumberRule:
    """What the numbers of one column must be: within a range, and perhaps whole."""

    least: float
    most: float
    whole: bool

    @classmethod
    def of(cls, column: Column, values: np.ndarray) -> "NumberRule":
        """What the schema says, as far as the private values keep to it."""
        known = values[~np.isnan(values)]
        return cls(
            least=float(min(LEAST.get(column.type, -np.inf), known.min(initial=np.inf))),
            most=float(max(MOST.get(column.type, np.inf), known.max(initial=-np.inf))),
            whole=column.kind == "integer" and bool(np.all(known == np.round(known))),
        )

    def apply(self, values: np.ndarray) -> np.ndarray:
        """The nearest values that keep the rule."""
        return np.clip(np.round(values) if self.whole else values, self.least, self.most)


@dataclass(frozen=True, eq=False)
class ReleaseRules:
    """What a release must be: kept from the private data without keeping the data.

    Attributes
    ----------
    description : DataDescription
    num_records : int
        Number of private records.
    schema : EncodedTable
        A table of the same columns without rows.
    numbers : tuple of NumberRule
        One per number column.
    """

    description: DataDescription
    num_records: int
    schema: EncodedTable
    numbers: tuple[NumberRule, ...]

    @classmethod
    def of(cls, dataset: TabularDataset) -> "ReleaseRules":
        """Read the rules off the private data and its schema."""
        table = dataset.table
        rules = zip(table.number_columns(), table.numbers.T, strict=True)
        return cls(
            dataset.description,
            len(table),
            table.take([]),
            tuple(NumberRule.of(column, values) for column, values in rules),
        )

    def release(
        self, output: object, num_samples: int, label: str, *, repair: bool
    ) -> TabularDataset:
        """Wrap a generator's output.

        Columns may come in any order. Categories must be declared ones; numbers must keep their
        rules, or with `repair` are rounded and clipped.
        """
        if isinstance(output, TabularDataset) and output.description == self.description:
            table = output.table.with_index()
        else:
            table = self._encoded(output, label)
        if len(table) != num_samples:
            raise MechanismError(
                f"{label} was asked for {num_samples} records and made {len(table)}"
            )
        return TabularDataset.from_table(self._ruled(table, label, repair), self.description)

    def dataset_of(self, values: Sequence[np.ndarray], label: str) -> TabularDataset:
        """A dataset of codes and numbers that foreign code drew, one array for each column.

        NaN is missing. Integers and dates are rounded; a code of no category is refused.
        """
        sizes = iter(self.schema.num_categories())
        columns = []
        for column, array in zip(self.schema.columns, values, strict=True):
            if column.is_coded:
                array = _checked_codes(array, column.name, next(sizes), label)
            elif column.kind in ("integer", "date"):
                array = np.round(array)
            columns.append(array)
        table = from_columns(self.schema, columns, len(columns[0]))
        return TabularDataset.from_table(table, self.description)

    def _encoded(self, output: object, label: str) -> EncodedTable:
        frame = _as_frame(output, list(self.description.columns), label)
        try:
            return TabularDataset(frame.reset_index(drop=True), self.description).table
        except SchemaError as error:
            raise MechanismError(
                f"{label} made a table that does not fit the schema: {error}"
            ) from error

    def _ruled(self, table: EncodedTable, label: str, repair: bool) -> EncodedTable:
        numbers = table.numbers.copy()
        for position, (column, rule) in enumerate(
            zip(table.number_columns(), self.numbers, strict=True)
        ):
            values = numbers[:, position]
            kept = rule.apply(values)
            wrong = ~np.isnan(values) & (kept != values)
            if wrong.any() and not repair:
                row = int(np.argmax(wrong))
                raise MechanismError(
                    f"{label} made {values[row]:g} in row {row} of column {column.name!r}, which "
                    f"is {column.type!r} ({int(wrong.sum())} such rows). Mend the generator, or "
                    f"let the adapter round and clip with repair=True."
                )
            numbers[:, position] = kept
        return replace(table, numbers=numbers)


def _checked_codes(drawn: np.ndarray, name: str, num_categories: int, label: str) -> np.ndarray:
    codes = np.where(np.isnan(drawn), MISSING_CODE, drawn)
    wrong = (codes < MISSING_CODE) | (codes >= num_categories)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise MechanismError(
            f"{label} made the code {codes[row]:g} in row {row} of column {name!r}, which has "
            f"{num_categories} categories ({int(wrong.sum())} such rows)"
        )
    return codes


def _as_frame(output: object, names: list[str], label: str) -> pd.DataFrame:
    if isinstance(output, dict) and len(output) == 1:
        only = next(iter(output.values()))
        output = only if isinstance(only, pd.DataFrame) else output
    if isinstance(output, TabularDataset):
        return output.data
    for method in ("dataframe", "to_pandas"):
        if not isinstance(output, pd.DataFrame) and callable(getattr(output, method, None)):
            output = getattr(output, method)()
    if isinstance(output, pd.DataFrame):
        return output.rename(columns=str)
    if isinstance(output, np.ndarray) and output.ndim == 2 and output.shape[1] == len(names):
        return pd.DataFrame(output, columns=names).infer_objects()
    shape = getattr(output, "shape", None)
    what = f"a {type(output).__name__}" + (f" of shape {shape}" if shape is not None else "")
    raise MechanismError(
        f"{label} returned {what}: expected a data frame with the columns of the private data"
    )
