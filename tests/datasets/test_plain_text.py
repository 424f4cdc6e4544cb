"""The faster parser cuts text as the careful one does, or leaves it to that one."""

import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapas.datasets import _dialect, _plain_text, read_file
from tapas.datasets._plain_text import plainly_cut
from tapas.datasets._reading import Reading
from tapas.errors import SchemaError

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from awkward_files import Awkward, corpus, hopeless, write

PIECES = [
    "a", "1", " ", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', '"x"', '"a,b"', "é", "'", '","',
    "\ufeff", "\x1a", "\x85", "\u2028", "#", "\\",
]  # fmt: skip
CELLS = ["a", "1", "", "é", " b", "#c", "\\", "'q'", '"x"', '"a,b"', '""', '"\\"', '"é;"', "\u2028"]
TEXTS = [case for case in corpus() if not case.name.endswith((".xlsx", ".parquet"))]
RAGGED = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Whole rows, and maybe something in their midst that does not belong there."""
    width, end = draw(st.integers(1, 4)), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    row = st.lists(st.sampled_from(CELLS), min_size=width, max_size=width).map(",".join)
    text = end.join(draw(st.lists(row, min_size=1, max_size=6))) + draw(st.sampled_from(["", end]))
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(["", "", *PIECES])) + text[place:]


def carefully_cut(text: str, quote: str) -> pd.DataFrame:
    return pd.DataFrame(_dialect._parse(text, ",", Reading(quote=quote)), dtype=object)


@given(text=st.one_of(tables(), RAGGED), quote=st.sampled_from(['"', '"', "'"]))
def test_both_parsers_cut_the_same_cells(text: str, quote: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plain_text, "_CHARACTERS_AT_ONCE", 7)
        found = plainly_cut(text, ",", quote)
    if found is not None:
        pd.testing.assert_frame_equal(found, carefully_cut(text, quote), check_column_type=False)


def test_quoted_cells_are_cut_by_the_faster_parser() -> None:
    found = plainly_cut('"name","town"\n"Ann","Bern, CH"\n"",plain\n', ",", '"')
    assert found is not None
    assert found.to_numpy().tolist() == [["name", "town"], ["Ann", "Bern, CH"], ["", "plain"]]


@pytest.mark.parametrize(
    "text",
    [
        'a,"b\nc"\n',
        'a,"b""c"\n',
        'a, "b"\n',
        'a,b"c"\n',
        'a,"b"c\n',
        'a,"b,\n',
        "a,b\nc\n",
        "\ufeffa,b\n",
        "a\nb\n",
        "a," + "b" * 200_000,
    ],
)
def test_text_that_needs_care_is_left_to_the_careful_parser(text: str) -> None:
    assert plainly_cut(text, ",", '"') is None


def read(path: Path) -> object:
    try:
        found = read_file(path)
    except SchemaError as error:
        return str(error)
    return found.frame.to_dict("split"), found.choices, found.columns


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_awkward_files_are_read_the_same_by_both(
    case: Awkward, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, case.name, case.make())
    fast = read(tmp_path / case.name)
    monkeypatch.setattr(_dialect, "plainly_cut", lambda *_: None)
    assert repr(read(tmp_path / case.name)) == repr(fast)


@pytest.mark.parametrize("name", hopeless())
def test_what_is_no_table_is_refused_in_the_same_words_by_both(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, name, hopeless()[name])
    fast = read(tmp_path / name)
    monkeypatch.setattr(_dialect, "plainly_cut", lambda *_: None)
    assert repr(read(tmp_path / name)) == repr(fast)
