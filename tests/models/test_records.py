"""Labelled records and their encoding."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tapas.errors import RecordError, SchemaError
from tapas.models import RecordEncoding, Records


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [30, 41, 52, 63],
            "pay": [1.5, np.nan, 2.5, 1000.25],
            "town": ["york", None, "hull", "york"],
            "grade": pd.Categorical(["b", "a", "b", None], categories=["a", "b", "c"]),
            "member": [True, False, True, True],
            "visits": pd.array([1, None, 3, 7], dtype="Int64"),
        }
    )


def test_columns_of_text_booleans_and_categories_are_categorical(frame):
    assert Records(frame, [0, 1, 0, 1]).categorical == ("town", "grade", "member")
    named = Records(frame, [0, 1, 0, 1], categorical=("age",))
    assert named.categorical == ("age", "town", "grade", "member")


def test_rows_are_taken_by_position_or_mask(frame):
    records = Records(frame.set_index(np.array([9, 8, 7, 6])), ["a", "b", "a", "c"])
    taken = records.take([2, 0])
    assert taken.X["age"].tolist() == [52, 30]
    assert taken.y.tolist() == ["a", "a"]
    assert records.take(records.y == "c").X["age"].tolist() == [63]
    assert records.classes.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_numbers_keep_a_narrow_type(dtype):
    given = np.arange(12, dtype=dtype).reshape(4, 3)
    records = Records(given, [0, 1, 0, 1])
    assert records.X is given
    assert records.take([2, 0]).X.dtype == given.dtype
    assert Records(given.astype("int64"), [0, 1, 0, 1]).X.dtype == np.float64


def test_a_withheld_value_of_narrow_numbers_is_missing():
    records = Records(np.arange(6, dtype=np.uint8).reshape(3, 2), [0, 1, 0])
    hidden = records.without_value(1)
    assert np.isnan(hidden.X[:, 1]).all()
    assert hidden.X[:, 0].tolist() == [0, 2, 4]
    assert records.with_value(1, 0.5).X[:, 1].tolist() == [0.5] * 3
    assert records.values_of(1).dtype == np.float64


@pytest.mark.parametrize("kind", ["array", "mixed", "frame"])
def test_splicing_is_joining_and_taking(frame, kind):
    rng = np.random.default_rng(0)
    if kind == "frame":
        first, other = Records(frame, [0, 1, 0, 1]), Records(frame.iloc[1:], [1, 0, 1])
    else:
        ours = rng.integers(0, 9, (1_500, 3)).astype(np.uint8)
        theirs = rng.normal(size=(900, 3)).astype(np.float32 if kind == "mixed" else np.uint8)
        first = Records(ours, np.arange(1_500), categorical=(1,))
        other = Records(theirs, np.arange(900), categorical=(2,))
    rows = rng.integers(0, len(first) + len(other), 2 * len(first))
    spliced, expected = first.splice(other, rows), first.concat(other).take(rows)
    assert np.array_equal(spliced.row_keys(), expected.row_keys())
    assert spliced.y.tolist() == expected.y.tolist()
    assert spliced.categorical == expected.categorical
    assert isinstance(spliced.X, type(expected.X))


def test_an_encoding_of_several_sets_is_that_of_all_together():
    rng = np.random.default_rng(1)
    first = Records(rng.normal(size=(30, 3)).astype(np.float32), [0] * 30)
    other = Records(rng.normal(3, 9, size=(20, 3)).astype(np.float32), [0] * 20, categorical=(2,))
    apart, together = first.encoding(other), first.concat(other).encoding()
    assert np.array_equal(apart.encode(first.X), together.encode(first.X))


def test_joining_keeps_all_categories(frame):
    first = Records(frame.iloc[:2], [0, 1])
    other = frame.iloc[2:].assign(grade=pd.Categorical(["z", "b"]))
    joined = first.concat(Records(other, [0, 1]))
    assert len(joined) == 4
    assert set(joined.X["grade"].cat.categories) == {"a", "b", "c", "z"}


def test_joining_refuses_other_columns(frame):
    with pytest.raises(RecordError, match="columns agree"):
        Records(frame, [0] * 4).concat(Records(frame[["age"]], [0] * 4))


def test_joining_numbers_and_text_as_labels_is_noticed():
    joined = Records(np.zeros((1, 1)), [1]).concat(Records(np.zeros((1, 1)), ["1"]))
    with pytest.raises(SchemaError, match="int, str"):
        _ = joined.classes


def test_an_encoded_frame_decodes_to_itself(frame):
    encoding = Records(frame, [0] * 4).encoding()
    pd.testing.assert_frame_equal(encoding.decode(encoding.encode(frame)), frame)


def test_one_changed_category_is_a_step_of_length_one(frame):
    encoding = Records(frame, [0] * 4).encoding()
    changed = frame.assign(town=["hull", None, "hull", "york"])
    steps = np.linalg.norm(encoding.encode(changed) - encoding.encode(frame), axis=1)
    np.testing.assert_allclose(steps, [1, 0, 0, 0])


def test_any_point_decodes_to_a_valid_record(frame):
    encoding = Records(frame, [0] * 4).encoding()
    points = np.random.default_rng(0).normal(size=(200, encoding.width)) * 3
    decoded = encoding.decode(points)
    assert (decoded.dtypes == frame.dtypes).all()
    assert set(decoded["town"].dropna()) <= {"york", "hull"}
    assert set(decoded["member"]) <= {True, False}
    projected = encoding.project(points)
    np.testing.assert_array_equal(encoding.project(projected), projected)


def test_numeric_codes_named_categorical_stay_codes():
    X = np.array([[1.0, 0.5], [3.0, 0.1], [7.0, 0.9]])
    encoding = Records(X, [0, 0, 1], categorical=(0,)).encoding()
    assert encoding.blocks == (slice(0, 3),)
    assert encoding.numbers.tolist() == [3]
    decoded = encoding.decode(np.random.default_rng(0).normal(size=(50, 4)))
    assert set(decoded[:, 0]) <= {1.0, 3.0, 7.0}


@settings(max_examples=50, deadline=None)
@given(
    hnp.arrays(
        np.float64, (6, 3), elements=st.floats(-1e6, 1e6, allow_subnormal=False) | st.just(np.nan)
    )
)
def test_encoding_arrays_loses_no_bit(X):
    X = np.where(np.abs(X) < 1e-9, 0.0, X)
    encoding = RecordEncoding.learn(X)
    np.testing.assert_array_equal(encoding.decode(encoding.encode(X)), X)


def test_a_category_never_seen_is_refused_or_left_empty(frame):
    encoding = Records(frame, [0] * 4).encoding()
    strange = frame.assign(town="leeds")
    with pytest.raises(SchemaError, match=r"'town' has 4 values .* first is 'leeds' in row 0"):
        encoding.encode(strange)
    town = encoding.blocks[0]
    assert (encoding.encode(strange, unknown="ignore")[:, town] == 0).all()


def test_other_columns_are_refused(frame):
    with pytest.raises(SchemaError, match="must have the columns"):
        Records(frame, [0] * 4).encoding().encode(frame[["age"]])


def test_equal_records_with_equal_labels_have_equal_keys(frame):
    records = Records(frame, [0, 1, 0, 1])
    keys = records.row_keys()
    assert records.take([3, 1]).row_keys().tolist() == keys[[3, 1]].tolist()
    assert (Records(frame, [1, 1, 0, 1]).row_keys() == keys).tolist() == [False, True, True, True]
    assert (
        records.row_keys(with_labels=False) == Records(frame, [1] * 4).row_keys(with_labels=False)
    ).all()


def test_text_has_one_key_however_it_is_stored():
    text = pd.DataFrame({"a": ["x", None, "y"]})
    stored = [text, text.astype("category"), text.astype(object), text.astype("string")]
    keys = [Records(frame, [0, 1, 0]).row_keys() for frame in stored]
    assert all((key == keys[0]).all() for key in keys)


def test_whole_and_broken_numbers_of_one_value_have_one_key():
    whole, broken = pd.DataFrame({"a": [1, 0]}), pd.DataFrame({"a": [1.0, -0.0]})
    assert (Records(whole, [0, 1]).row_keys() == Records(broken, [0, 1]).row_keys()).all()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((3, 2)), [0, 1], "3 records and y has 2 labels"),
        (np.zeros(3), [0, 1, 1], r"x\[None, :\]"),
        (np.array([[1.0], [np.inf]]), [0, 1], "inf in row 1, column 0"),
        (np.array([["a"], ["b"]]), [0, 1], "data frame"),
        (np.zeros((2, 1)), [0, None], "1 missing labels, the first in row 1"),
        (np.zeros((2, 1)), np.zeros((2, 2)), "one class label per record"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), [0], "several columns called 'a'"),
        (pd.DataFrame({"a": [np.inf]}), [0], "'a' holds infinite"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), [0], "numbers or categories"),
    ],
)
def test_unusable_records_are_refused_by_name(X, y, message):
    with pytest.raises(SchemaError, match=message):
        Records(X, y)


def test_a_categorical_column_that_is_not_there_is_refused(frame):
    with pytest.raises(SchemaError, match="not there: 'city'"):
        Records(frame, [0] * 4, categorical=("city",))


def test_a_withheld_value_is_missing_and_comes_back_in_its_own_type(frame):
    records = Records(frame.assign(text=["a", "b", "c", "d"]), [0, 1, 0, 1])
    for name in records.columns:
        hidden = records.without_value(name)
        assert hidden.X[name].isna().all()
        pd.testing.assert_frame_equal(hidden.X.drop(columns=name), records.X.drop(columns=name))
        value = records.X[name].iloc[0]
        shown = hidden.take([0, 2]).with_value(name, value)
        assert shown.X[name].dtype == records.X[name].dtype
        assert (shown.X[name] == value).all()
        assert not shown.hidden
        assert records.with_value(name, value).X.dtypes.equals(records.X.dtypes)


def test_arrays_hide_and_show_a_column_by_position():
    records = Records(np.arange(6.0).reshape(3, 2), [0, 1, 0], categorical=(1,))
    hidden = records.without_value(1)
    assert np.isnan(hidden.X[:, 1]).all()
    np.testing.assert_array_equal(hidden.with_value(1, 7).X, [[0, 7], [2, 7], [4, 7]])
    np.testing.assert_array_equal(records.values_of(1), [1, 3, 5])
    assert records.X[0, 1] == 1


def test_a_dropped_column_takes_its_mark_along(frame):
    assert Records(frame, [0] * 4, categorical=("age",)).drop("town").categorical == (
        "age",
        "grade",
        "member",
    )
    left = Records(np.arange(6.0).reshape(2, 3), [0, 1], categorical=(0, 2)).drop(1)
    np.testing.assert_array_equal(left.X, [[0, 2], [3, 5]])
    assert left.categorical == (0, 1)
