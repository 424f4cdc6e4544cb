"""Data frames whose columns agree with a description."""

from collections.abc import Iterable

import pandas as pd

from tapas._validate import listing
from tapas.datasets._description import DataDescription
from tapas.errors import SchemaError


def frame_in_schema_order(data: Iterable[object], description: DataDescription) -> pd.DataFrame:
    names = list(description.columns)
    if not isinstance(data, pd.DataFrame):
        frame = pd.DataFrame(data)
        if frame.empty and frame.shape[1] == 0:
            return pd.DataFrame(columns=names)
        if not isinstance(frame.columns, pd.RangeIndex):
            return frame_in_schema_order(frame, description)
        if frame.shape[1] != len(names):
            raise SchemaError(
                f"the data has {frame.shape[1]} columns and the schema {len(names)}: "
                f"{listing(names)}"
            )
        return frame.set_axis(names, axis=1)
    present = list(data.columns)
    if present == names:
        return data
    missing = [name for name in names if name not in present]
    unexpected = [name for name in present if name not in names]
    if missing or unexpected or len(present) != len(names):
        problems = [
            f"missing: {listing(missing)}" if missing else "",
            f"not in the schema: {listing(unexpected)}" if unexpected else "",
            "" if missing or unexpected else "a column occurs twice",
        ]
        raise SchemaError(
            f"the columns do not agree with the schema ({'; '.join(filter(None, problems))})"
        )
    return data[names]


def first_difference(first: DataDescription, second: DataDescription) -> str:
    if first.columns != second.columns:
        only = set(first.columns).symmetric_difference(second.columns)
        return f"columns {listing(sorted(only))}" if only else "the order of the columns"
    for left, right in zip(first.schema, second.schema, strict=True):
        if left != right:
            return f"column {left['name']!r}"
    return "nothing"
