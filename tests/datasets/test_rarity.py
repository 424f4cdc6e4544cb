"""How few records share a value, against counting with pandas."""

import numpy as np
import pandas as pd

from tapas.datasets import TabularDataset, columns_alike, count_holders


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    town = rng.choice(list("abcdef"), 200, p=[0.5, 0.3, 0.1, 0.05, 0.03, 0.02])
    return pd.DataFrame(
        {
            "town": town,
            "code": [float(ord(one) ** 2) for one in town],
            "county": np.where(town < "c", "west", "east"),
            "pay": rng.normal(size=200),
            "age": rng.integers(18, 90, 200),
        }
    )


def test_holders_are_counted_as_pandas_counts_them() -> None:
    frame = table()
    data = TabularDataset.from_dataframe(frame).table
    found = count_holders(data, data.take([3, 50, 199]))
    for name, counts in found.items():
        column = frame[name]
        for row, count in zip([3, 50, 199], counts, strict=True):
            if column.dtype == object or pd.api.types.is_string_dtype(column):
                expected = (column == column[row]).sum()
            else:
                expected = ((column - column[row]).abs() <= 0.025 * np.ptp(column)).sum()
            assert count == expected, name


def test_columns_alike_go_one_to_one_both_ways() -> None:
    data = TabularDataset.from_dataframe(table()).table
    assert columns_alike(data, "town") == ["code"]
    assert columns_alike(data, "code") == ["town"]
    assert columns_alike(data, "county") == []  # a town tells its county, not the other way
    assert columns_alike(data, "pay") == []
