"""Bad values are refused by column, row and value; missing ones are accepted everywhere."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import DataDescription, TabularDataset
from tapas.errors import ConfigError, SchemaError


def one_column(
    type_: str, representation: Any, values: list[Any], **options: Any
) -> TabularDataset:
    entry = {"name": "col", "type": type_, "representation": representation}
    frame = pd.DataFrame({"col": pd.Series(values, dtype=object)})
    return TabularDataset(frame, DataDescription([entry]), **options)


@pytest.mark.parametrize(
    ("type_", "representation", "good", "bad"),
    [
        ("finite", ["x", "y"], "x", "z"),
        ("finite", 3, 2, 3),
        ("finite", 3, 2, -1),
        ("finite", 3, 2, 1.5),
        ("finite", 3, "2", "two"),
        ("finite/ordered", ["x", "y"], "y", "X"),
        ("finite/ordered", 3, 0, 7),
        ("countable", "integer", 4, "many"),
        ("countable/ordered", "integer", -4, 2**60),
        ("countable/ordered/least", "integer", 4, "4 apples"),
        ("real", "number", 1.5, "1,5"),
        ("real", "number", 1.5, float("inf")),
        ("real/non-negative", "number", 1.5, "high"),
        ("interval", "number", 0.5, "half"),
        ("countable/ordered", "date", "2020-01-31", "31/01/2020"),
        ("countable/ordered", "date", "2020-01-31", "2020-02-30"),
        ("real", "datetime", "2020-01-31T10:11:12", "yesterday"),
    ],
)
def test_a_bad_value_is_named_with_its_column_and_first_row(
    type_: str, representation: Any, good: Any, bad: Any
) -> None:
    with pytest.raises(SchemaError) as caught:
        one_column(type_, representation, [good, bad, None, bad, bad])
    message = str(caught.value)
    assert "column 'col', row 1:" in message
    assert repr(bad) in message
    assert len(one_column(type_, representation, [good, None, good])) == 3


@pytest.mark.parametrize(
    ("type_", "representation", "value"),
    [
        ("finite", ["x", "y"], "y"),
        ("finite", 3, 2),
        ("finite/ordered", ["x", "y"], "y"),
        ("finite/ordered", 3, 1),
        ("countable", "integer", 5),
        ("countable", "string", "word"),
        ("countable/ordered", "integer", -5),
        ("countable/ordered/least", "string", "word"),
        ("countable/ordered", "date", "2020-01-31"),
        ("real", "number", 0.1),
        ("real", "datetime", "2020-01-31T10:11:12.5"),
        ("real/non-negative", "number", 0.1),
        ("interval", "number", 0.1),
    ],
)
@pytest.mark.parametrize("absent", [None, np.nan, pd.NA, pd.NaT])
def test_missing_is_missing_in_every_kind_of_column(
    type_: str, representation: Any, value: Any, absent: Any
) -> None:
    dataset = one_column(type_, representation, [value, absent, value])
    assert dataset.data["col"].isna().tolist() == [False, True, False]
    assert dataset.get_records([1]) in dataset
    assert dataset.get_records([0]) in dataset.get_records([1, 2])
    again = TabularDataset.read_from_string(dataset.write_to_string(), dataset.description)
    assert again.table.same_values(dataset.table)
    empty = one_column(type_, representation, [None, None])
    assert empty.data["col"].isna().all()
    if representation != "string":
        numeric = dataset.as_numeric
        assert numeric.shape == (3, dataset.description.encoded_dim)
        missing = numeric[1] == 0 if type_ == "finite" else np.isnan(numeric[1])
        assert missing.all()
        np.testing.assert_array_equal(numeric[0], numeric[2])


def test_numbers_and_their_text_are_the_same_category() -> None:
    forms: list[list[Any]] = [[1, 2, 1], ["1", "2", "1"], [1.0, 2.0, 1.0], [np.int8(1), "2", 1.0]]
    for representation in (3, ["0", "1", "2"], [0, 1, 2]):
        tables = [one_column("finite", representation, values).table for values in forms]
        assert all(table.same_values(tables[0]) for table in tables)
        assert tables[0].codes.ravel().tolist() == [1, 2, 1]
    codes = one_column("finite", ["1", "1.0"], ["1.0", "1"]).table.codes
    assert codes.ravel().tolist() == [1, 0]


def test_truth_values_fit_their_text_and_zero_one() -> None:
    words = one_column("finite", ["False", "True"], [True, False, np.True_, "True"])
    assert words.table.codes.ravel().tolist() == [1, 0, 1, 1]
    assert one_column("finite", 2, [True, False]).data["col"].tolist() == [1, 0]
    frame = pd.DataFrame({"col": pd.array([True, None], dtype="boolean")})
    assert TabularDataset(frame, words.description).data["col"].isna().tolist() == [False, True]


@pytest.mark.parametrize("values", [["20200131", "19691231"], [20200131, 19691231]])
def test_compact_dates_are_dates(values: list[Any]) -> None:
    days = one_column("countable/ordered", "date", values).table.numbers.ravel()
    assert days.tolist() == [18292, -1]


def test_times_with_a_zone_are_moved_to_universal_time() -> None:
    seconds = one_column("real", "datetime", ["1970-01-01T01:00:00+01:00", "1970-01-01T00:00:05"])
    assert seconds.table.numbers.ravel().tolist() == [0, 5]


def test_categories_may_look_like_missing_values() -> None:
    for words in (["NA", "None", "", "nan"], ["", "x"]):
        dataset = one_column("finite", words, [*words, None])
        assert dataset.table.codes.ravel().tolist() == [*range(len(words)), -1]
        again = TabularDataset.read_from_string(dataset.write_to_string(), dataset.description)
        assert again.table.same_values(dataset.table)


def test_unknown_categories_can_be_counted_as_other() -> None:
    dataset = one_column("finite", ["x", "y"], ["x", "q", None, "w"], unknown="other")
    assert dataset.description["col"]["representation"] == ["x", "y", "other"]
    assert dataset.data["col"].fillna("-").tolist() == ["x", "other", "-", "other"]
    numbered = one_column("finite/ordered", 2, [0, 1, 9], unknown="other")
    assert numbered.as_numeric.ravel().tolist() == [0, 1, 2]
    own = one_column("finite", ["other", "y"], ["q", "y"], unknown="other")
    assert own.data["col"].tolist() == ["other", "y"]
    with pytest.raises(ConfigError, match="'maybe'"):
        one_column("finite", ["x"], ["x"], unknown="maybe")


def test_other_is_about_categories_only() -> None:
    with pytest.raises(SchemaError, match="row 1: 'q'"):
        one_column("real", "number", [1.0, "q"], unknown="other")


def test_columns_without_representation_hold_any_value() -> None:
    schema = [{"name": "a", "type": "finite", "description": "?"}, {"name": "b", "type": "real"}]
    dataset = TabularDataset([["x", 1], [7, 2.5], [None, None]], DataDescription(schema))
    assert dataset.data["a"].tolist()[:2] == ["x", 7]
    assert dataset.get_records([1]) in dataset.sample(3)
    assert dataset.get_records([2]) in dataset + dataset
    assert len(dataset.drop_records([0]) or ()) == 2


def test_growing_vocabularies_keep_their_meaning() -> None:
    words = [one_column("countable", "string", list(text)) for text in ("ab", "cab", "d")]
    joined = words[0] + words[1] + words[2]
    assert joined.data["col"].tolist() == list("abcabd")
    assert words[2] not in words[0] + words[1]
    assert words[2] in joined
    assert [record in words[1] for record in joined] == [True] * 5 + [False]
    assert joined.table.same_values(one_column("countable", "string", list("abcabd")).table)
