"""Records of a table: real categories, numbers as they are, and a column of classes."""

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets import TabularDataset
from tapas.errors import SchemaError
from tapas.models._records import Records


def records_from_table(dataset: TabularDataset, class_column: str) -> Records:
    """Return the rows of a table as labelled records.

    Finite columns become pandas categoricals with all declared categories (ordered ones ordered),
    columns of text stay text, and numbers, dates and times become floats. Missing values stay
    missing.

    Parameters
    ----------
    dataset : TabularDataset
    class_column : str
        The column that the model predicts: whole numbers become integers, anything else objects.
    """
    if class_column not in dataset.description.columns:
        raise SchemaError(
            f"{class_column!r} is not a column; the columns are "
            f"{listing(dataset.description.columns)}"
        )
    columns = {
        column.name: (
            _categories(dataset.data[column.name], column.values, column.kind == "ordered")
            if column.is_coded
            else dataset.view([column.name]).as_numeric[:, 0]
        )
        for column in dataset.description.parsed
        if column.name != class_column
    }
    return Records(pd.DataFrame(columns), _classes(dataset.data[class_column], class_column))


def _categories(
    values: pd.Series, declared: tuple[object, ...] | range | None, ordered: bool
) -> pd.Series | pd.Categorical:
    if declared is None:
        return values.astype(object).reset_index(drop=True)
    return pd.Categorical(values, categories=list(declared), ordered=ordered)


def _classes(values: pd.Series, name: str) -> np.ndarray:
    missing = int(values.isna().sum())
    if missing:
        raise SchemaError(f"{missing} records have no {name!r}: leave them out")
    labels = values.to_numpy(dtype=object)
    whole = all(
        isinstance(label, (int, float, np.number)) and label == int(label) for label in labels
    )
    return labels.astype(int) if whole else labels
