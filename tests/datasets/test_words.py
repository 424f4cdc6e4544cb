"""Columns held by their words say the same as the texts row by row, and in the same order."""

import struct
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset, read_file, shared_description
from tapas.datasets._words import WordColumn, below_first, by_words, spelled_out, words_of

CELLS = st.lists(st.sampled_from(["a", "b", "1", "01", "", "NA", "2.5"]), min_size=1, max_size=12)
WITH_MISSING = st.lists(st.sampled_from(["a", "b", "1", np.nan]), max_size=12)


def column(cells: list[object]) -> WordColumn:
    return WordColumn.of(np.array([*cells, None], dtype=object)[:-1])


def rows(held: WordColumn) -> list[object]:
    return [None if cell != cell else cell for cell in held.astype(object)]


def check(held: WordColumn, cells: list[object]) -> None:
    """It holds these cells, by every word once in the order in which they first occur."""
    present = [None if cell != cell else cell for cell in cells]
    assert rows(held) == present
    assert held.words.texts.tolist() == list(dict.fromkeys(c for c in present if c is not None))
    assert held.isna().tolist() == [cell is None for cell in present]


@given(cells=WITH_MISSING)
def test_cells_come_back_and_words_stand_in_order(cells: list[object]) -> None:
    check(column(cells), cells)


@given(cells=CELLS)
def test_below_the_first_row_a_word_of_it_is_gone_or_moves(cells: list[object]) -> None:
    found = below_first(pd.DataFrame({"a": column(cells), "b": pd.Series(cells, dtype=object)}))
    check(found["a"].array, cells[1:])
    assert found["b"].tolist() == cells[1:]
    assert list(found.index) == list(range(len(cells) - 1))


@given(cells=WITH_MISSING, tokens=st.frozensets(st.sampled_from(["a", "b", "c"])))
def test_tokens_of_missing_values_are_no_words(cells: list[object], tokens: frozenset[str]) -> None:
    check(column(cells).without(tokens), [np.nan if cell in tokens else cell for cell in cells])


@given(cells=WITH_MISSING)
def test_two_words_may_become_one(cells: list[object]) -> None:
    new = {"a": "x", "b": "x", "1": "one"}
    held = column(cells)
    renamed = held.renamed([new[word] for word in held.words.texts])
    check(renamed, [new.get(cell, np.nan) for cell in cells])


@given(cells=st.lists(WITH_MISSING, min_size=2, max_size=4))
def test_columns_below_one_another_share_their_words(cells: list[list[object]]) -> None:
    whole = pd.concat([pd.Series(column(some)) for some in cells], ignore_index=True)
    check(whole.array, list(chain.from_iterable(cells)))


@given(cells=WITH_MISSING, data=st.data())
def test_some_rows_have_the_words_that_occur_in_them(
    cells: list[object], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(cells))))) if cells else []
    series = pd.Series(column(cells))
    check(series.iloc[chosen].array, [cells[row] for row in chosen])
    check(series.head(3).array, cells[:3])
    check(series[series.isna().to_numpy()].array, [cell for cell in cells if cell != cell])


@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_to_the_last_bit(numbers: list[float]) -> None:
    cells = pd.DataFrame({"x": column([repr(number) for number in numbers])})
    schema = [{"name": "x", "type": "real", "representation": "number"}]
    data = TabularDataset(cells, DataDescription(schema))
    found = data.table.numbers[:, 0].tolist()
    assert [struct.pack("d", f) for f in found] == [struct.pack("d", n) for n in numbers]


def test_a_text_file_is_held_by_its_words_and_spelled_out_on_demand(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,town\n31,Bern\n?,Bern\n42,town\n")
    found = read_file(file)
    assert words_of(found.cells["town"]).texts.tolist() == ["Bern", "town"]
    assert found.frame["town"].tolist() == ["Bern", "Bern", "town"]
    assert found.frame["age"].isna().tolist() == [False, True, False]
    assert set(found.frame.dtypes) == {np.dtype(object)}


@given(cells=st.lists(st.tuples(*[st.sampled_from(["a", "7", "07", "2020-01-02", "x1"])] * 2)))
def test_words_are_described_and_encoded_as_texts_are(cells: list[tuple[str, str]]) -> None:
    texts = pd.DataFrame(cells, columns=["a", "b"], dtype=object)
    held = by_words(texts)
    for most in (2, 100):
        described = DataDescription.infer(texts, max_categories=most)
        again = DataDescription.infer(held, max_categories=most)
        assert (again.schema, again.explanations) == (described.schema, described.explanations)
        table, same = TabularDataset(texts, described).table, TabularDataset(held, again).table
        assert same.digest() == table.digest()
    files = {Path("one"): held, Path("two"): held.head(2)}
    spelled = {name: spelled_out(one) for name, one in files.items()}
    assert shared_description(files) == shared_description(spelled)


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_that_somebody_declared_stay_declared(ordered: bool) -> None:
    declared = pd.Categorical(["7", "9"], categories=["9", "8", "7"], ordered=ordered)
    entry = DataDescription.infer(pd.DataFrame({"a": declared}))["a"]
    assert entry["representation"] == ["9", "8", "7"]
    assert entry["type"] == ("finite/ordered" if ordered else "finite")


def test_a_wrong_value_is_named_by_its_row() -> None:
    cells = pd.DataFrame({"x": column(["1", "2", "1", "many"])})
    schema = [{"name": "x", "type": "real", "representation": "number"}]
    with pytest.raises(ValueError, match="row 3: 'many' is not a number"):
        TabularDataset(cells, DataDescription(schema))


@pytest.mark.parametrize("number", [126, 127, 128, 129, 32767, 32768, 32769])
def test_any_number_of_words_fits_into_the_codes(number: int) -> None:
    cells = [f"w{word}" for word in range(number)] + [np.nan]
    series = pd.Series(column(cells))
    check(series.array, cells)
    check(series.iloc[1:].array, cells[1:])
    check(series.iloc[::-1].array, cells[::-1])
    check(series.array.below_first(), cells[1:])
    data = TabularDataset(series.to_frame("x"), DataDescription.infer(series.to_frame("x")))
    assert data.data["x"].tolist()[:-1] == cells[:-1]
