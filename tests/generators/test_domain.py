"""Cells come from what is declared, never from the records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, SchemaError
from tapas.generators._domain import Domain

BOUNDS = {
    "visits": (0, 20),
    "born": ("1960-01-01", "2025-12-31"),
    "seen": ("1960-01-01", "2025-12-31"),
    "balance": (-10, 2e6),
    "charge": (0, 50),
}


def table(entry, values):
    description = DataDescription([{"name": "x", **entry}])
    return TabularDataset(pd.DataFrame({"x": values}), description)


INTEGER = {"type": "countable", "representation": "integer"}
REAL = {"type": "real", "representation": "number"}


def test_the_domain_of_an_empty_table_is_that_of_a_full_one(mixed):
    full = Domain.declared(mixed, bounds=BOUNDS)
    assert full == Domain.declared(mixed.empty(), bounds=BOUNDS)
    assert full.sizes == (4, 4, 3, 6, 17, 17, 17, 17, 17, 17)


def test_every_kind_of_value_comes_back_into_its_own_cell(mixed):
    domain = Domain.declared(mixed, bounds=BOUNDS)
    cells = domain.cells_of(mixed)
    release = domain.release(cells, mixed.empty(), np.random.default_rng(0))
    assert np.array_equal(domain.cells_of(release), cells)
    assert np.array_equal(release.table.codes, mixed.table.codes)
    again = TabularDataset(release.data.copy(), mixed.description)
    assert again.table.same_values(release.table)


@given(
    low=st.integers(-50, 50), span=st.integers(0, 60), bins=st.integers(1, 20),
    share=st.floats(0, 1),
)  # fmt: skip
@example(low=0, span=26, bins=13, share=1.0)
@settings(max_examples=60, deadline=None)
def test_whole_numbers_keep_to_their_bounds_and_bins(low, span, bins, share):
    value = low + round(share * span)
    data = table(INTEGER, [value])
    domain = Domain.declared(data, bounds={"x": (low, low + span)}, bins=bins)
    cells = np.repeat(domain.cells_of(data), 40, axis=1)
    drawn = domain.release(cells, data, np.random.default_rng(1))
    numbers = drawn.table.numbers[:, 0]
    assert np.all(numbers == np.floor(numbers))
    assert low <= numbers.min() <= numbers.max() <= low + span
    assert np.array_equal(domain.cells_of(drawn), cells)


def test_whole_numbers_with_few_values_get_a_cell_each():
    data = table(INTEGER, [0, 1, 2, 2])
    domain = Domain.declared(data, bounds={"x": (0, 2)})
    assert domain.sizes == (4,)
    release = domain.release(domain.cells_of(data), data, np.random.default_rng(0))
    assert release.data["x"].tolist() == [0, 1, 2, 2]


def test_numbers_out_of_bounds_count_at_the_bound():
    data = table(REAL, [-100.0, 0.0, 0.99, 1.0, 1e9])
    domain = Domain.declared(data, bounds={"x": (0, 1)}, bins=4)
    assert domain.cells_of(data).tolist() == [[0, 0, 3, 3, 3]]


def test_equal_bounds_are_a_constant_column():
    data = table(REAL, [5.0, 5.0])
    domain = Domain.declared(data, bounds={"x": (5, 5)}, missing=False)
    assert domain.sizes == (1,)
    release = domain.release(domain.cells_of(data), data, np.random.default_rng(0))
    assert release.data["x"].tolist() == [5.0, 5.0]


def test_an_interval_needs_no_bounds():
    data = table({"type": "interval", "representation": "number"}, [0.1, 1.0])
    assert Domain.declared(data, bins=10).cells_of(data).tolist() == [[1, 9]]


def test_missing_values_have_a_cell_only_where_declared():
    data = table(REAL, [0.9, None])
    with_cell = Domain.declared(data, bounds={"x": (0, 1)}, bins=2)
    without = Domain.declared(data, bounds={"x": (0, 1)}, bins=2, missing=())
    assert with_cell.cells_of(data).tolist() == [[1, 2]]
    assert without.cells_of(data).tolist() == [[1, 0]]
    assert Domain.declared(data, bounds={"x": (0, 1)}, missing=["x"]).columns[0].missing


def test_a_number_without_bounds_is_refused_by_name():
    with pytest.raises(ConfigError, match=r"column 'x' has no declared bounds.*data\.bounds"):
        Domain.declared(table(REAL, [1.0]))


def test_all_numbers_without_bounds_are_named_at_once():
    columns = [{"name": name, **REAL} for name in "abc"]
    data = TabularDataset(pd.DataFrame({name: [1.0] for name in "abc"}), DataDescription(columns))
    with pytest.raises(ConfigError, match="columns 'a', 'c' have no declared bounds") as caught:
        Domain.declared(data, bounds={"b": (0, 1)})
    assert "{'a': [lowest, highest], 'c': [lowest, highest]}" in str(caught.value)


@pytest.mark.parametrize("bounds", [(1, 0), (0,), 3, ("a", "b"), (None, 1), (0, float("nan"))])
def test_bounds_that_are_no_range_are_refused_by_name(bounds):
    with pytest.raises(ConfigError, match="bounds of column 'x'"):
        Domain.declared(table(REAL, [1.0]), bounds={"x": bounds})


def test_bounds_outside_the_type_are_refused():
    share = table({"type": "interval", "representation": "number"}, [0.5])
    with pytest.raises(ConfigError, match=r"must lie in \[0, 1\]"):
        Domain.declared(share, bounds={"x": (0, 2)})
    amount = table({"type": "real/non-negative", "representation": "number"}, [0.5])
    with pytest.raises(ConfigError, match="non-negative"):
        Domain.declared(amount, bounds={"x": (-1, 2)})


@pytest.mark.parametrize(
    "parameter", [{"bounds": {"y": (0, 1)}}, {"bins": {"y": 3}}, {"missing": ["y"]}]
)
def test_columns_that_do_not_exist_are_refused_by_name(parameter):
    with pytest.raises(ConfigError, match="names 'y'"):
        Domain.declared(table(INTEGER, [1]), **{"bounds": {"x": (0, 1)}, **parameter})


def test_free_text_and_undeclared_categories_are_refused_with_advice():
    text = table({"type": "countable", "representation": "string"}, ["a", "b"])
    with pytest.raises(SchemaError, match="Declare it as 'finite'"):
        Domain.declared(text)
    declared = table({"type": "finite", "representation": ["a", "b"]}, ["a", "b"])
    with pytest.raises(ConfigError, match="already lists"):
        Domain.declared(declared, bounds={"x": (0, 1)})
