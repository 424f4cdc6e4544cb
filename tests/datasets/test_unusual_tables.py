"""Values that tables trip over: mixed text and numbers, odd characters, odd types."""

import csv
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tapas.datasets import (
    DataDescription,
    Reading,
    TabularDataset,
    nearest_row,
    read_file,
    read_table,
    write_table,
)
from tapas.datasets._files import MISSING_TOKENS
from tapas.errors import RecordError, SchemaError, StoreError


def _column(type_: str, representation: Any, values: Any) -> TabularDataset:
    description = DataDescription(
        [{"name": "col", "type": type_, "representation": representation}]
    )
    return TabularDataset(pd.DataFrame({"col": pd.Series(values, dtype=object)}), description)


def _again(dataset: TabularDataset) -> TabularDataset:
    return TabularDataset.read_from_string(dataset.write_to_string(), dataset.description)


@pytest.mark.parametrize("rows", [{"b": [1.0], "a": [2.0]}, [{"b": 1.0, "a": 2.0}]])
def test_named_values_go_to_their_columns(rows: Any) -> None:
    description = DataDescription(
        [{"name": name, "type": "real", "representation": "number"} for name in "ab"]
    )
    assert TabularDataset(rows, description).data.values.tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize("representation", ["string", None])
def test_a_number_and_its_text_are_the_same_word(representation: str | None) -> None:
    dataset = _column("countable", representation, [5, 6, "5"])
    again = _again(dataset)
    assert again.get_records([0]) in dataset
    assert again.table.same_values(dataset.table)
    assert len(set(dataset.table.codes[:, 0].tolist())) == 2


@pytest.mark.parametrize("word", ["x\ry", 'say "hi"', "a,b", "two\nlines", "\r\n"])
def test_characters_that_end_cells_and_lines_survive_csv(word: str) -> None:
    dataset = _column("finite", [word, "z"], [word, "z"])
    assert _again(dataset).table.same_values(dataset.table)


def test_free_text_that_looks_missing_survives_csv() -> None:
    dataset = _column("countable", "string", ["NA", "u", None])
    assert _again(dataset).table.same_values(dataset.table)


def test_a_column_that_leaves_no_text_for_missing_is_refused() -> None:
    dataset = _column("finite", list(MISSING_TOKENS), [None, "NA"])
    with pytest.raises(SchemaError, match="'col' has missing values"):
        dataset.write_to_string()


def test_a_day_stays_the_day_that_its_own_clock_showed() -> None:
    days = pd.date_range("2020-06-01", periods=3, tz="Europe/London")
    dataset = TabularDataset.from_dataframe(pd.DataFrame({"d": days}))
    assert dataset.data["d"].dt.strftime("%d").tolist() == ["01", "02", "03"]


def test_not_a_time_is_missing() -> None:
    assert _column("countable/ordered", "date", [pd.NaT, pd.NaT]).data["col"].isna().all()


@pytest.mark.parametrize("values", [pd.Categorical([None, None]), [2**60, 5]])
def test_an_inferred_description_accepts_its_own_table(values: Any) -> None:
    assert len(TabularDataset.from_dataframe(pd.DataFrame({"c": values}))) == 2


def test_a_cell_that_holds_a_list_is_refused_by_row() -> None:
    with pytest.raises(SchemaError, match=r"'col', row 1: \[1\] is not a single value"):
        _column("finite", ["x"], ["x", [1]])


def test_one_row_cannot_be_replaced_twice(numbered: TabularDataset) -> None:
    with pytest.raises(RecordError, match="1 different rows"):
        numbered.replace(numbered.get_records([0, 1]), [3, 3])


def test_a_changed_file_is_noticed_wherever_it_changed(
    tmp_path: Path, mixed: TabularDataset
) -> None:
    path = tmp_path / "table.npz"
    write_table(path, mixed.table)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:-1]):
        path.write_bytes(damaged)
        with pytest.raises(StoreError, match=r"table\.npz"):
            read_table(path, mixed.description.parsed)
    noticed = 0
    for place in range(60, len(whole) - 200, 23):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            table, _ = read_table(path, mixed.description.parsed)
        except StoreError:
            noticed += 1
        else:
            assert table.same_values(mixed.table)
    assert noticed > 0


def test_a_header_with_one_wrong_name_is_told_so(numbered: TabularDataset) -> None:
    text = numbered.write_to_string().replace("half", "Half", 1)
    with pytest.raises(SchemaError, match="header has 'Half' where the schema has 'half'"):
        TabularDataset.read_from_string(text, numbered.description)


def test_a_column_of_different_integers_is_suspected_to_be_an_identifier() -> None:
    frame = pd.DataFrame({"id": range(1000, 1100), "age": [30, 40] * 50})
    text = DataDescription.infer(frame).explain().splitlines()
    assert "identifier" in text[0]
    assert "identifier" not in text[1]


def test_rows_equal_to_a_record_are_those_without_differences() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": rng.choice(["a", "b", None], 200),
            "number": rng.choice([0.0, -0.0, 1.5, np.nan], 200),
            "name": rng.choice(["Ann Lee", "Bo Wu", None], 200),
        }
    )
    table = TabularDataset.from_dataframe(frame).table
    for row in range(20):
        record = table.take([row])
        naive = table.count_differences(record)[0] == 0
        assert table.matches(record).tolist() == naive.tolist()
        assert naive.sum() > 1


def test_numbers_are_read_once_for_all_equal_cells() -> None:
    description = DataDescription(
        [
            {"name": "n", "type": "real", "representation": "number"},
            {"name": "day", "type": "countable/ordered", "representation": "date"},
        ]
    )
    cells = {"n": ["1", 1, 1.0, None, "2.5", np.nan], "day": ["2020-01-02", 20200102, None] * 2}
    table = TabularDataset(pd.DataFrame(cells, dtype=object), description).table
    days = (pd.Timestamp("2020-01-02") - pd.Timestamp(0)).days
    expected = [[1, days], [1, days], [1, np.nan], [np.nan, days], [2.5, days], [np.nan, np.nan]]
    np.testing.assert_array_equal(table.numbers, np.array(expected))


def test_the_nearest_row_agrees_on_most_columns_and_numbers_agree_nearly() -> None:
    frame = pd.DataFrame(
        {
            "word": ["a", "b", "b", "a"],
            "number": [0.0, 50.4, 50.0, 100.0],
            "other": ["p", "q", "r", "q"],
        }
    )
    data = TabularDataset.from_dataframe(frame)
    record = TabularDataset(
        pd.DataFrame({"word": ["b"], "number": [50.0], "other": ["q"]}), data.description
    )
    assert nearest_row(data.table, record.table) == (1, ("word", "number", "other"))
    far = TabularDataset(
        pd.DataFrame({"word": ["a"], "number": [51.5], "other": ["r"]}), data.description
    )
    assert nearest_row(data.table, far.table) == (0, ("word",))


def test_the_columns_on_which_few_agree_come_first() -> None:
    frame = pd.DataFrame({"sex": list("mmmf"), "town": list("abcd"), "job": list("xxyy")})
    data = TabularDataset.from_dataframe(frame)
    row, columns = nearest_row(data.table, data.take([1]).table)
    assert (row, columns) == (1, ("town", "job", "sex"))


def test_plain_text_is_cut_as_by_the_csv_module(tmp_path: Path) -> None:
    rng = random.Random(1)
    pieces = ["a", " ", "NA", "é", "", "\u2028", "\x0b", "'", "#", "0"]
    for number in range(60):
        mark, end, width = rng.choice(",;|"), rng.choice(["\n", "\r\n", "\r"]), 2 + number % 3
        rows = [
            ["".join(rng.choices(pieces, k=2)) + "." for _ in range(width)]
            for _ in range(1 + number % 5)
        ]
        text = end.join([mark.join("abcd"[:width]), *map(mark.join, rows)]) + end * (number % 3)
        file = tmp_path / "table.csv"
        file.write_text(text, encoding="utf-8", newline="")
        reading = Reading(header=True, delimiter=mark, dates="text", index=False)
        found = read_file(file, reading=reading).frame
        cut = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row]
        assert [list(found.columns), *found.to_numpy().tolist()] == cut


def test_a_small_parquet_file_that_claims_a_huge_table_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    from pyarrow import parquet

    same = pa.chunked_array([pa.array(np.zeros(1_000_000))] * 40)
    file = tmp_path / "bomb.parquet"
    parquet.write_table(pa.table({"a": same}), file)
    assert file.stat().st_size < 200_000
    with pytest.raises(SchemaError, match=r"claims 40,000,000 rows"):
        TabularDataset.read(file)
