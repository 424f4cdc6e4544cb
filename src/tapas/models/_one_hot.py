"""Data frames as plain numbers, for estimators that take nothing else."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.errors import SchemaError
from tapas.models._inputs import Inputs, categories_of, column_names, floats, is_category


@dataclass(frozen=True, eq=False)
class _Column:
    """A column of numbers, or of categories that are marked or ranked."""

    name: Hashable
    categories: pd.Index | None
    is_ranked: bool

    @classmethod
    def learn(cls, values: pd.Series) -> "_Column":
        if not is_category(values):
            return cls(values.name, None, False)
        is_ranked = isinstance(values.dtype, pd.CategoricalDtype) and values.dtype.ordered
        return cls(values.name, pd.Index(categories_of(values), dtype=object), is_ranked)

    def numbers(self, values: pd.Series) -> np.ndarray:
        """The column as numbers, (records, width)."""
        if self.categories is None:
            return floats(values)[:, None]
        codes = _codes(values, self.categories)
        if self.is_ranked:
            return np.where(codes < 0, np.nan, codes)[:, None]
        return (codes[:, None] == np.arange(len(self.categories))).astype(np.float64)


@dataclass(frozen=True, eq=False)
class OneHotInputs:
    """Turns data frames into numbers.

    A category becomes one place for each that there is, of which one is 1; an ordered category its
    rank; a number stays what it is. A missing category, or one that is not known, has no 1; a
    missing number or rank is NaN. Arrays are numbers already.

    Attributes
    ----------
    columns : tuple or None
        None where records are arrays.
    """

    columns: tuple[_Column, ...] | None

    @classmethod
    def learn(cls, X: Inputs) -> "OneHotInputs":
        """Learn categories: those that pandas categoricals declare, else those that occur."""
        if not isinstance(X, pd.DataFrame):
            return cls(None)
        return cls(tuple(_Column.learn(X[name]) for name in X.columns))

    def __call__(self, X: Inputs) -> np.ndarray:
        """Return numbers, (records, places)."""
        if self.columns is None or not isinstance(X, pd.DataFrame):
            return np.asarray(X, dtype=np.float64)
        missing = [column.name for column in self.columns if column.name not in X.columns]
        if missing:
            raise SchemaError(
                f"records must have the columns {[c.name for c in self.columns]}, got "
                f"{column_names(X)}"
            )
        blocks = [column.numbers(X[column.name]) for column in self.columns]
        return np.concatenate(blocks, axis=1) if blocks else np.empty((len(X), 0))


def _codes(values: pd.Series, categories: pd.Index) -> np.ndarray:
    """Position of each value among the categories, -1 where it is none of them."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        places = categories.get_indexer(values.cat.categories.astype(object))
        return np.append(places, -1)[values.cat.codes]
    return categories.get_indexer(pd.Index(values, dtype=object))
