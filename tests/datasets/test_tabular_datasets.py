"""Rows are taken, dropped, added and swapped without surprises."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import DataDescription, Dataset, TabularDataset, TabularRecord
from tapas.errors import ConfigError, RecordError, SchemaError


def numbers(dataset: TabularDataset) -> list[int]:
    return dataset.data["number"].tolist()


# -- making -------------------------------------------------------------------------------------


def test_a_description_is_needed(numbered: TabularDataset) -> None:
    with pytest.raises(AssertionError, match="DataDescription"):
        TabularDataset(numbered.data, numbered.description.schema)  # type: ignore[arg-type]


def test_lists_arrays_and_frames_give_the_same_table(numbered: TabularDataset) -> None:
    rows = numbered.data.values.tolist()
    for data in (rows, np.array(rows, dtype=object), numbered.data[["letter", "number", "half"]]):
        made = TabularDataset(data, numbered.description)
        pd.testing.assert_frame_equal(made.data, numbered.data)


def test_the_columns_must_agree_with_the_schema(numbered: TabularDataset) -> None:
    frame = numbered.data
    with pytest.raises(SchemaError, match="missing: 'letter'"):
        TabularDataset(frame.drop(columns="letter"), numbered.description)
    with pytest.raises(SchemaError, match="not in the schema: 'more'"):
        TabularDataset(frame.assign(more=1), numbered.description)
    with pytest.raises(SchemaError, match="2 columns and the schema 3"):
        TabularDataset([[1, 2]], numbered.description)
    twice = pd.concat([frame, frame[["half"]]], axis=1)
    with pytest.raises(SchemaError, match="twice"):
        TabularDataset(twice, numbered.description)


def test_the_label_is_that_of_the_description(numbered: TabularDataset) -> None:
    assert numbered.label == "numbered"
    assert isinstance(numbered, Dataset)


def test_an_empty_dataset_can_be_made(numbered: TabularDataset) -> None:
    for empty in (TabularDataset([], numbered.description), numbered.empty()):
        assert len(empty) == 0
        assert empty.as_numeric.shape == (0, 4)
        assert list(empty.data.columns) == list(numbered.description.columns)
        assert numbers(empty + numbered) == list(range(100))


# -- taking -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 5, 100])
def test_samples_are_those_of_the_data_frame(numbered: TabularDataset, n: int) -> None:
    sample = numbered.sample(n, random_state=0)
    expected = numbered.data.sample(n, random_state=0)
    assert sample.data.index.tolist() == expected.index.tolist()
    assert numbers(sample) == expected["number"].tolist()


def test_a_share_can_be_sampled(numbered: TabularDataset) -> None:
    assert len(numbered.sample(frac=0.255)) == 25
    assert len(numbered.sample(frac=0.0)) == 1
    assert sorted(numbers(numbered.sample(frac=1.0))) == list(range(100))


def test_samples_cannot_be_larger_than_the_data(numbered: TabularDataset) -> None:
    with pytest.raises(RecordError, match="101 rows"):
        numbered.sample(101)
    with pytest.raises(ConfigError, match="n_samples"):
        numbered.sample(-1)


def test_unseeded_draws_follow_numpys_global_seed(numbered: TabularDataset) -> None:
    draws = []
    for _ in range(2):
        np.random.seed(7)  # noqa: NPY002
        dropped = numbered.drop_records(n=3)
        subsets = numbered.create_subsets(2, 3)
        draws.append([numbers(dropped), *map(numbers, subsets), numbers(numbered.sample(4))])
    assert draws[0] == draws[1]


def test_one_record_comes_with_its_position_as_identifier(numbered: TabularDataset) -> None:
    later = numbered.drop_records([0])
    record = later.get_records([5])
    assert isinstance(record, TabularRecord)
    assert record.id == 5
    assert record.label == "5"
    assert numbers(record) == [6]


def test_several_records_are_a_dataset(numbered: TabularDataset) -> None:
    for ids in ([3, 1, 1], np.array([3, 1, 1])):
        some = numbered.get_records(ids)
        assert type(some) is TabularDataset
        assert numbers(some) == [3, 1, 1]
        assert some.data.index.tolist() == [3, 1, 1]
    assert len(numbered.get_records([])) == 0
    assert numbers(numbered.get_records([-1, -2])) == [99, 98]


@pytest.mark.parametrize("ids", [[100], [-101], [1.5], [True, False], ["a"]])
def test_positions_outside_the_data_are_refused(numbered: TabularDataset, ids: list[Any]) -> None:
    for method in (numbered.get_records, numbered.drop_records):
        with pytest.raises(RecordError):
            method(ids)  # type: ignore[operator]


def test_dropping_keeps_the_labels_of_the_rest(numbered: TabularDataset) -> None:
    rest = numbered.drop_records([10, 20, 50])
    assert rest is not None
    assert len(rest) == 97
    assert rest.data.index[10] == 11
    assert len(numbered) == 100


def test_random_drops_take_exactly_n_rows(numbered: TabularDataset) -> None:
    for n in (0, 1, 80, 100):
        rest = numbered.drop_records(n=n)
        assert rest is not None
        assert len(set(numbers(rest))) == 100 - n
    assert len(numbered.drop_records() or ()) == 99
    with pytest.raises(RecordError, match="101"):
        numbered.drop_records(n=101)


def test_drops_are_seeded_and_by_position_even_with_repeated_labels(
    numbered: TabularDataset,
) -> None:
    doubled = numbered + numbered
    assert len(doubled.drop_records([0, 1]) or ()) == 198
    first, second = (doubled.drop_records(n=5, random_state=3) for _ in range(2))
    assert first is not None
    assert second is not None
    assert numbers(first) == numbers(second)


def test_added_records_come_last_under_their_labels(numbered: TabularDataset) -> None:
    record = numbered.get_records([7])
    record.set_id(100)  # type: ignore[attr-defined]
    more = numbered.add_records(record)
    assert more is not None
    assert numbers(more) == [*range(100), 7]
    assert more.data.index[-1] == 100
    pd.testing.assert_frame_equal(more.data, (numbered + record).data)


def test_replaced_rows_leave_and_the_new_come_last(numbered: TabularDataset) -> None:
    new = numbered.get_records([1, 2])
    swapped = numbered.replace(new, [5, 6])
    assert swapped is not None
    assert numbers(swapped) == [*range(5), *range(7, 100), 1, 2]
    random = numbered.replace(new, random_state=1)
    assert random is not None
    assert len(random) == 100
    assert numbers(random)[-2:] == [1, 2]
    with pytest.raises(AssertionError, match="as many"):
        numbered.replace(new, [5])


def test_descriptions_must_be_equal_to_join(numbered: TabularDataset) -> None:
    other = numbered.view(["number"])
    for act in (numbered.add_records, numbered.replace, numbered.__add__, numbered.__contains__):
        with pytest.raises(AssertionError, match="descriptions"):
            act(other.get_records([0]))
    with pytest.raises(AssertionError, match="TabularDataset"):
        numbered.add_records(numbered.data)  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", ["drop", "add", "replace", "subsets"])
def test_in_place_operations_rebind_and_leave_copies_alone(
    numbered: TabularDataset, operation: str
) -> None:
    twins = [copy.copy(numbered), copy.deepcopy(numbered), numbered.copy()]
    frame = numbered.data
    changed = copy.copy(numbered)
    record = numbered.get_records([3])
    result: Any = None
    if operation == "drop":
        result = changed.drop_records([1], in_place=True)
    elif operation == "add":
        result = changed.add_records(record, in_place=True)
    elif operation == "replace":
        result = changed.replace(record, [1], in_place=True)
    else:
        changed.create_subsets(2, 10, drop_records=True)
    assert result is None
    assert numbers(changed) != list(range(100))
    for untouched in (numbered, *twins):
        assert numbers(untouched) == list(range(100))
    assert frame["number"].tolist() == list(range(100))


def test_subsets_are_disjoint_until_the_data_is_used_up(numbered: TabularDataset) -> None:
    subsets = numbered.create_subsets(7, 30, random_state=0)
    assert [len(subset) for subset in subsets] == [30] * 7
    for start in (0, 3):
        one_pass = [n for subset in subsets[start : start + 3] for n in numbers(subset)]
        assert len(set(one_pass)) == 90
    assert numbers(subsets[0]) != numbers(subsets[3])
    again = numbered.create_subsets(7, 30, random_state=0)
    assert [numbers(subset) for subset in again] == [numbers(subset) for subset in subsets]


def test_drawn_rows_can_leave_the_dataset(numbered: TabularDataset) -> None:
    subsets = numbered.create_subsets(3, 20, drop_records=True)
    drawn = {n for subset in subsets for n in numbers(subset)}
    assert len(drawn) == 60
    assert drawn | set(numbers(numbered)) == set(range(100))
    assert len(numbered) == 40


def test_subsets_of_odd_sizes(numbered: TabularDataset) -> None:
    assert [type(s) for s in numbered.create_subsets(2, 1)] == [TabularDataset] * 2
    assert [len(s) for s in numbered.create_subsets(2, 0)] == [0, 0]
    assert numbered.create_subsets(0, 5) == []
    assert [len(s) for s in numbered.create_subsets(2, 100)] == [100, 100]
    with pytest.raises(AssertionError, match="101"):
        numbered.create_subsets(1, 101)


def test_views_keep_columns_in_the_order_of_the_schema(numbered: TabularDataset) -> None:
    for view in (numbered.view(["letter", "number"]), numbered.view(exclude_columns=["half"])):
        assert list(view.data.columns) == list(view.description.columns) == ["number", "letter"]
        assert numbers(view) == list(range(100))
        assert view.as_numeric.shape == (100, 3)
    for wrong in ({}, {"columns": ["half"], "exclude_columns": ["half"]}):
        with pytest.raises(AssertionError, match="exactly one"):
            numbered.view(**wrong)
    with pytest.raises(SchemaError, match="'no'"):
        numbered.view(exclude_columns=["no"])


def test_iteration_gives_records_under_their_labels(numbered: TabularDataset) -> None:
    records = list(numbered.get_records([4, 2]))
    assert [record.id for record in records] == [4, 2]
    assert [numbers(record) for record in records] == [[4], [2]]
    assert all(isinstance(record, TabularRecord) for record in records)
    assert records[0].data.dtypes.tolist() == numbered.data.dtypes.tolist()


def test_membership_ignores_labels_and_needs_one_record(numbered: TabularDataset) -> None:
    record = numbered.get_records([4])
    record.set_id("elsewhere")  # type: ignore[attr-defined]
    assert record in numbered
    assert record not in (numbered.drop_records([4]) or ())
    for wrong in (numbered, numbered.empty(), 4):
        with pytest.raises(ValueError, match="exactly one"):
            _ = wrong in numbered


def test_missing_equals_missing(mixed: TabularDataset) -> None:
    record = mixed.get_records([4])
    assert record in mixed
    assert record not in mixed.get_records([0, 1, 2, 3])
    assert TabularRecord.from_dataset(record).get_id(mixed) == 4


# -- the two forms ------------------------------------------------------------------------------


def test_the_frame_has_natural_types(mixed: TabularDataset) -> None:
    frame = mixed.get_records([0, 1, 2]).data
    kinds = {name: dtype.kind for name, dtype in frame.dtypes.items()}
    assert [kinds[name] for name in ("flag", "grade", "visits")] == ["i"] * 3
    assert [kinds[name] for name in ("born", "seen")] == ["M"] * 2
    assert [kinds[name] for name in ("balance", "charge", "risk")] == ["f"] * 3
    assert frame["colour"].tolist() == ["red", "green", "blue"]


def test_changes_made_through_the_frame_are_followed(numbered: TabularDataset) -> None:
    before = numbered.as_numeric[0, 0]
    numbered.data.loc[0, "number"] = 555
    assert (before, numbered.as_numeric[0, 0]) == (0, 555)
    held = numbered.data
    for value in (7, 8, 9):
        held.loc[0, "number"] = value
        assert numbered.as_numeric[0, 0] == value
        assert numbered.table.column("number")[0] == value
        assert numbers(numbered.get_records([0, 1]))[0] == value
        assert f"\n{value},0.0,a\n" in numbered.write_to_string()
    held.loc[100] = [1, 2.0, "b"]
    assert len(numbered) == len(numbered.as_numeric) == 101
    assert held is numbered.data


def test_copies_do_not_follow_the_frame(numbered: TabularDataset) -> None:
    held = numbered.data
    twins = [copy.copy(numbered), copy.deepcopy(numbered), numbered.copy(), numbered + numbered]
    held.loc[0, "number"] = 555
    assert [numbers(twin)[0] for twin in twins] == [0] * 4
    twins[0].data.loc[1, "number"] = 77
    assert numbers(numbered)[:2] == [555, 1]


def test_an_assigned_frame_is_followed_and_validated(numbered: TabularDataset) -> None:
    old = numbered.as_numeric
    numbered.data = numbered.data.assign(half=1.0).head(3)
    assert len(numbered) == 3
    assert numbered.as_numeric[:, 1].tolist() == [1.0] * 3
    assert len(old) == 100
    numbered.data = numbered.data.assign(letter="q")
    with pytest.raises(SchemaError, match=r"'letter', row 0: 'q'"):
        _ = numbered.as_numeric


def test_the_numeric_form_is_computed_once_and_handed_out_safely(numbered: TabularDataset) -> None:
    assert numbered.numeric() is numbered.numeric()
    with pytest.raises(ValueError, match="read-only"):
        numbered.numeric()[0, 0] = 1
    numbered.as_numeric[0, 0] = 99
    assert numbered.as_numeric[0, 0] == 0


def naive_numeric(dataset: TabularDataset) -> np.ndarray:
    """Column by column with pandas, from the definition."""
    blocks = []
    for entry in dataset.description.schema:
        series, what = dataset.data[entry["name"]], entry["representation"]
        values = list(range(what)) if isinstance(what, int) else what
        if entry["type"] == "finite":
            blocks += [(series == value).to_numpy(dtype=float) for value in values]
        elif entry["type"] == "finite/ordered":
            ranks = {value: float(rank) for rank, value in enumerate(values)}
            blocks.append(series.map(ranks).to_numpy(dtype=float))
        elif what in ("date", "datetime"):
            unit = pd.Timedelta(days=1) if what == "date" else pd.Timedelta(seconds=1)
            blocks.append(((series - pd.Timestamp(0)) / unit).to_numpy(dtype=float))
        else:
            blocks.append(series.to_numpy(dtype=float))
    return np.stack(blocks, axis=1)


def test_the_numeric_form_equals_a_naive_twin(mixed: TabularDataset) -> None:
    assert mixed.as_numeric.shape == (5, mixed.description.encoded_dim) == (5, 3 + 1 + 2 + 7)
    np.testing.assert_array_equal(mixed.as_numeric, naive_numeric(mixed))


@pytest.mark.parametrize(
    "widths",
    [[2], [127], [128], [129], [20] * 6 + [7], [20] * 6 + [16], [20] * 8, [300, 2], [2, 70_000]],
    ids=str,
)
@pytest.mark.parametrize("share_missing", [0, 0.2])
def test_one_hot_columns_are_the_dummies_of_pandas(widths: list[int], share_missing: float) -> None:
    rng = np.random.default_rng(0)
    values = {
        f"column {i}": pd.Series(rng.integers(width, size=300)).mask(
            rng.random(300) < share_missing
        )
        for i, width in enumerate(widths)
    }
    description = DataDescription(
        [
            {"name": name, "type": "finite", "representation": width}
            for name, width in zip(values, widths, strict=True)
        ]
    )
    dummies = [
        pd.get_dummies(pd.Categorical(column, categories=range(width)))
        for column, width in zip(values.values(), widths, strict=True)
    ]
    dataset = TabularDataset(pd.DataFrame(values), description)
    np.testing.assert_array_equal(dataset.numeric(), pd.concat(dummies, axis=1).to_numpy(float))


def test_dates_are_days_and_datetimes_seconds_since_the_epoch(mixed: TabularDataset) -> None:
    assert mixed.table.column("born")[[1, 3]].tolist() == [-1, 1]
    assert mixed.table.column("seen")[[1, 3]].tolist() == [-1, 10]


def test_strings_have_no_numeric_form_and_the_error_advises() -> None:
    schema = [{"name": "name", "type": "countable", "representation": "string"}]
    dataset = TabularDataset([["Ann"], ["Bob"]], DataDescription(schema))
    with pytest.raises(ValueError, match=r"'name'.*exclude_columns=\['name'\]"):
        _ = dataset.as_numeric
    assert dataset.get_records([1]) in dataset


def test_datasets_travel_between_processes(mixed: TabularDataset) -> None:
    held = mixed.data
    held.loc[0, "balance"] = 4.0
    again = pickle.loads(pickle.dumps(mixed))  # noqa: S301
    np.testing.assert_array_equal(again.as_numeric, mixed.as_numeric)


# -- records ------------------------------------------------------------------------------------


def test_a_record_is_one_row(numbered: TabularDataset) -> None:
    for wrong in (numbered, numbered.empty()):
        with pytest.raises(AssertionError, match="exactly one"):
            TabularRecord.from_dataset(wrong)
        with pytest.raises(AssertionError, match="exactly one"):
            TabularRecord(wrong.data, numbered.description, "x")
    record = TabularRecord([[1, 2.0, "a"]], numbered.description, "me")
    assert (record.id, record.label, len(record)) == ("me", "me", 1)


def test_a_record_from_a_dataset_has_the_row_label(numbered: TabularDataset) -> None:
    rest = numbered.drop_records([0])
    assert rest is not None
    assert TabularRecord.from_dataset(rest.take([0])).id == 1


def test_a_record_finds_its_row(numbered: TabularDataset) -> None:
    record = TabularRecord.from_dataset(numbered.take([10]))
    shuffled = numbered.sample(100, random_state=0)
    assert record.get_id(numbered) == record.get_id(shuffled) == 10
    with pytest.raises(AssertionError, match="2 copies"):
        record.get_id(numbered + record)
    with pytest.raises(AssertionError, match="no copy"):
        record.get_id(numbered.drop_records([10]))  # type: ignore[arg-type]


def test_identifiers_and_values_can_be_set(numbered: TabularDataset) -> None:
    record = TabularRecord.from_dataset(numbered.take([10]))
    twin = record.copy()
    record.set_id("canary")
    record.set_value("letter", "b")
    record.set_value("number", -4)
    assert (record.id, record.data.index.tolist()) == ("canary", ["canary"])
    assert record.data.values.tolist() == [[-4, 5.0, "b"]]
    assert (twin.id, twin.data.values.tolist()) == (10, [[10, 5.0, "a"]])
    assert numbers(numbered)[10] == 10
    assert isinstance(twin, TabularRecord)
    with pytest.raises(SchemaError, match=r"'letter'.*'q'"):
        record.set_value("letter", "q")
    with pytest.raises(SchemaError, match="'no'"):
        record.set_value("no", 1)


def test_every_value_of_a_record_can_be_set_missing_and_back(mixed: TabularDataset) -> None:
    for name in mixed.description.columns:
        record = TabularRecord.from_dataset(mixed.take([0]))
        original = record.data[name].iloc[0]
        record.set_value(name, None)
        assert record.data[name].isna().all()
        assert record not in mixed
        record.set_value(name, original)
        assert record in mixed


def test_legacy_functions_agree_with_the_dataset(mixed: TabularDataset) -> None:
    from tapas.datasets import utils

    np.testing.assert_array_equal(utils.encode_data(mixed), mixed.as_numeric)
    one_hot = utils.one_hot(["b", "a"], ["a", "b"])
    assert one_hot.tolist() == [[0, 1], [1, 0]]
    splits = utils.index_split(10, 4, 5)
    assert [len(split) for split in splits] == [4] * 5
    assert not set(splits[0]) & set(splits[1])
    assert utils.get_num_features(mixed.description.schema) == mixed.description.encoded_dim
    assert utils.get_dtype("finite", 3) is int
    assert utils.get_dtype("finite", ["a"]) is str
    assert utils.get_dtype("real", "number") is float


def test_a_table_is_blank_where_no_row_holds_a_value(numbered: TabularDataset) -> None:
    columns = numbered.description.columns
    empty = TabularDataset(pd.DataFrame({c: [None] * 2 for c in columns}), numbered.description)
    assert empty.is_blank
    assert not numbered.is_blank
    some, size = numbered.take([0, 1]), len(numbered)
    assert not some.is_blank
    assert empty.take([1, 0]).is_blank
    for rows, blank in (((size, size + 1), True), ((size, 0), False), ((0, size), False)):
        assert numbered.splice(empty, np.array(rows)).is_blank is blank
