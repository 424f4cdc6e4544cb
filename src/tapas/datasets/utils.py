"""Earlier import path of encoding functions; new code lives elsewhere."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import ambient_rng
from tapas.datasets._columns import Column
from tapas.datasets._description import DataDescription
from tapas.datasets._tabular import TabularDataset

__all__ = ["encode_data", "get_dtype", "get_num_features", "index_split", "one_hot"]


def encode_data(dataset: TabularDataset, infer_ranges: bool = False) -> np.ndarray:
    """The numeric form of a dataset; `infer_ranges` has no effect."""
    return dataset.as_numeric


def one_hot(series: Iterable[object], categories: list[Any]) -> np.ndarray:
    """One 0/1 column per category."""
    column = Column("values", "category", "finite", tuple(categories))
    codes, _ = column.encode(pd.Series(series))
    return (codes[:, None] == np.arange(len(categories))).astype(float)


def index_split(max_index: int, split_size: int, num_splits: int) -> list[np.ndarray]:
    """Index arrays of `split_size`, disjoint until the indices are used up."""
    rng = ambient_rng()
    per_pass = max(1, max_index // split_size) if split_size else 1
    splits: list[np.ndarray] = []
    while len(splits) < num_splits:
        order = rng.permutation(max_index)
        splits += [order[i * split_size : (i + 1) * split_size] for i in range(per_pass)]
    return splits[:num_splits]


def get_dtype(input_type: str, representation: object) -> type:
    """The type that values of a column are read as."""
    column = Column.parse({"name": "", "type": input_type, "representation": representation})
    if column.kind in ("category", "ordered"):
        return int if isinstance(column.values, range) else str
    return {"string": str, "integer": int, "real": float, "date": str, "datetime": str}[column.kind]


def get_num_features(meta: list[dict[str, Any]]) -> int:
    """Width of the numeric form of a schema."""
    return DataDescription(meta).encoded_dim
