"""Inputs of a classifier: an array of numbers, or a data frame."""

from collections.abc import Hashable, Mapping, Sized
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from tapas.errors import SchemaError

Inputs: TypeAlias = np.ndarray | pd.DataFrame
Column: TypeAlias = np.ndarray | pd.Series
ColumnType: TypeAlias = np.dtype | pd.api.extensions.ExtensionDtype


def as_rows(X: Inputs | ArrayLike) -> Inputs:
    """Return a data frame as it is and anything else as an array with one record in each row."""
    if isinstance(X, pd.DataFrame):
        return X
    rows = np.asarray(X)
    if rows.ndim < 2:
        raise SchemaError(
            f"X must be a data frame or an array of shape (records, columns), got shape "
            f"{rows.shape}; one record x is x[None, :]"
        )
    return rows


def number_of(X: object) -> int:
    """How many records there are, in whatever form: several inputs, sparse rows, texts."""
    part: Sized = X  # type: ignore[assignment]
    if isinstance(X, Mapping):
        part = next(iter(X.values()))
    elif isinstance(X, tuple):
        part = X[0]
    shape: tuple[int, ...] = getattr(part, "shape", ())
    return shape[0] if shape else len(part)


def some_rows(X: Inputs, rows: np.ndarray | slice) -> Inputs:
    """Rows by position."""
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def column_names(X: Inputs) -> list[Hashable]:
    """Column names, or positions in an array."""
    return list(X.columns) if isinstance(X, pd.DataFrame) else list(range(np.shape(X)[1]))


def column_at(X: Inputs, position: int) -> Column:
    """A column by position."""
    return X.iloc[:, position] if isinstance(X, pd.DataFrame) else np.asarray(X)[:, position]


def is_category(values: Column) -> bool:
    """Whether a column holds categories by its type: text, booleans or pandas categories."""
    dtype = values.dtype
    return (
        isinstance(dtype, pd.CategoricalDtype)
        or pd.api.types.is_bool_dtype(dtype)
        or pd.api.types.is_object_dtype(dtype)
        or pd.api.types.is_string_dtype(dtype)
    )


def categories_of(values: pd.Series) -> list[Hashable]:
    """Categories that a column declares, else those that occur, sorted."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return list(values.cat.categories)
    return sorted(values.dropna().unique().tolist(), key=lambda v: (type(v).__name__, v))


def floats(values: Column) -> np.ndarray:
    """A column of numbers as float64, NaN where one is missing."""
    if isinstance(values, pd.Series):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(values, dtype=np.float64)
