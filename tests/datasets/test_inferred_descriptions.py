"""A description inferred from a data frame fits that frame, and says why."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, SchemaError


@pytest.mark.parametrize(
    ("values", "type_", "representation"),
    [
        ([0, 1, 1], "finite", 2),
        ([0.0, 1.0, np.nan], "finite", 2),
        ([3, 0, 9], "finite/ordered", 10),
        ([3, 0, 25], "countable/ordered", "integer"),
        ([-3, 0, 9], "countable/ordered", "integer"),
        ([0.25, 1.0], "interval", "number"),
        ([0.25, 7.0], "real/non-negative", "number"),
        ([0.25, -7.0], "real", "number"),
        ([True, False], "finite", ["False", "True"]),
        ([True, False, None], "finite", ["False", "True"]),
        (["b", "a", None], "finite", ["a", "b"]),
        (["1", "30", "2"], "countable/ordered", "integer"),
        (["007", "010"], "finite", ["007", "010"]),
        (["0.5", "0.75"], "interval", "number"),
        (["2020-01-01", "2021-12-31"], "countable/ordered", "date"),
        (["2020-01-01T10:00", "2021-12-31T00:00"], "real", "datetime"),
        (["2020-01-01", "not a date"], "finite", ["2020-01-01", "not a date"]),
        ([None, None], "real", "number"),
    ],
)
def test_each_kind_is_recognised(values: list[Any], type_: str, representation: Any) -> None:
    frame = pd.DataFrame({"column": values})
    entry = DataDescription.infer(frame)["column"]
    assert entry == {"name": "column", "type": type_, "representation": representation}
    dataset = TabularDataset.from_dataframe(frame)
    assert dataset.data["column"].isna().tolist() == frame["column"].isna().tolist()


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "category"])
def test_extension_types_with_missing_values_are_understood(dtype: str) -> None:
    values = {"boolean": [True, None, False], "string": ["x", None, "y"]}.get(dtype, [1, None, 0])
    frame = pd.DataFrame({"column": pd.array(values, dtype=dtype)})
    dataset = TabularDataset.from_dataframe(frame)
    assert dataset.data["column"].isna().tolist() == [False, True, False]
    assert dataset.table.column("column").tolist()[0] != dataset.table.column("column").tolist()[2]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_categorical_keeps_its_own_order(ordered: bool) -> None:
    series = pd.Categorical(["lo", "hi"], categories=["lo", "mid", "hi"], ordered=ordered)
    entry = DataDescription.infer(pd.DataFrame({"c": series}))["c"]
    assert entry["type"] == ("finite/ordered" if ordered else "finite")
    assert entry["representation"] == ["lo", "mid", "hi"]


def test_dates_with_and_without_time_of_day_differ() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pd.DataFrame({"day": days, "moment": days + pd.Timedelta(hours=1)})
    description = DataDescription.infer(frame)
    assert description["day"]["representation"] == "date"
    assert description["moment"]["representation"] == "datetime"


def test_too_many_words_are_an_identifier() -> None:
    frame = pd.DataFrame({"name": [f"person {i}" for i in range(30)]})
    assert DataDescription.infer(frame)["name"]["type"] == "finite"
    description = DataDescription.infer(frame, max_categories=20)
    assert description["name"] == {"name": "name", "type": "countable", "representation": "string"}
    assert "attacks cannot use" in description.explain()
    with pytest.raises(ConfigError, match="max_categories"):
        DataDescription.infer(frame, max_categories=1)


def test_reasons_and_missing_counts_are_told() -> None:
    description = DataDescription.infer(pd.DataFrame({"x": [0.5, None, 3.0], "y": [1, 0, 1]}))
    assert "x: real/non-negative (numbers from 0.5 to 3; 1 missing)" in description.explain()
    assert "y: finite (integers 0 and 1)" in description.explain()


def test_odd_column_names_are_kept_as_text() -> None:
    frame = pd.DataFrame([[1, 2.5, "x", "y"]], columns=[0, "a,b", 'quo"te\n', ""])
    dataset = TabularDataset.from_dataframe(frame, label="odd")
    assert dataset.description.columns == ("0", "a,b", 'quo"te\n', "")
    assert dataset.label == "odd"


def test_names_that_become_equal_are_refused() -> None:
    with pytest.raises(SchemaError, match="'1'"):
        DataDescription.infer(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_a_given_description_is_used_and_relabelled(mixed: TabularDataset) -> None:
    dataset = TabularDataset.from_dataframe(mixed.data, mixed.description, "again")
    assert dataset.label == "again"
    assert dataset.description == mixed.description


COLUMN = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(2**52), 2**52)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.floats(-1e12, 1e12)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.text("0123456789.-eax ", max_size=5)), min_size=3, max_size=3),
    st.lists(st.dates(), min_size=3, max_size=3).map(lambda days: [str(day) for day in days]),
    st.lists(st.sampled_from(["yes", "no"]), min_size=3, max_size=3).map(pd.Categorical),
)


@given(st.lists(COLUMN, min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_an_inferred_description_accepts_its_own_table(columns: list[Any]) -> None:
    frame = pd.DataFrame({f"c{i}": values for i, values in enumerate(columns)})
    dataset = TabularDataset.from_dataframe(frame)
    assert len(dataset) == 3
    np.testing.assert_array_equal(dataset.data.isna(), frame.isna())
