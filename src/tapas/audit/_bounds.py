"""Lowest and highest values of number columns, for generators that must be told them."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd

from tapas._validate import listing
from tapas.datasets import Column, TabularDataset
from tapas.errors import ConfigError, TapasWarning

Limits = Sequence[object]


def declared_bounds(
    data: TabularDataset, wanted: Mapping[str, Limits] | Literal["table"], where: str
) -> dict[str, Limits]:
    """Bounds of the number columns of a table: those that are stated, or read off it."""
    numbers = {column.name: column for column in data.description.parsed if not column.is_coded}
    if wanted != "table":
        unknown = [name for name in wanted if name not in data.description.columns]
        if unknown:
            raise ConfigError(
                f"{where}: data.bounds: {listing(unknown)} are not columns; the columns are "
                f"{listing(data.description.columns)}"
            )
        return {name: list(ends) for name, ends in wanted.items() if name in numbers}
    found: dict[str, Limits] = {
        name: _rounded_outwards(column, data.table.column(name))
        for name, column in numbers.items()
        if column.type != "interval"
    }
    if found:
        warnings.warn(
            f"data.bounds: those of {listing(found, 20)} are read off the table and rounded "
            f"outwards. That serves to try a generator out; a promise of differential privacy does "
            f"not cover it, so state for a release what is known without the data",
            TapasWarning,
            stacklevel=2,
        )
    return found


def _rounded_outwards(column: Column, encoded: np.ndarray) -> list[object]:
    """The range of a column, to a whole number of steps of about a tenth of it."""
    present = encoded[~np.isnan(encoded)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)
    step = 10.0 ** math.floor(math.log10(high - low)) if high > low else 1.0
    if column.kind in ("integer", "date"):
        step = max(step, 1.0)
    ends = np.array([math.floor(low / step) * step, math.ceil(high / step) * step])
    values = pd.Series(column.decode(ends))
    return [str(one) if isinstance(one, pd.Timestamp) else one for one in values.tolist()]
