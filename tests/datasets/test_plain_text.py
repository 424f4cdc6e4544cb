"""The faster parsers cut text as the careful one does, or leave it to that one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapas.datasets import TabularDataset, _arrow_text, _dialect, _plain_text, read_file
from tapas.datasets._plain_text import plainly_cut
from tapas.datasets._reading import Reading
from tapas.datasets._words import spelled_out
from tapas.errors import SchemaError

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from awkward_files import Awkward, corpus, hopeless, write

PIECES = [
    "a", "1", " ", ",", ",", "\n", "\n", "\r\n", "\r", '"', '""', '"x"', '"a,b"', "é", "'", '","',
    "\ufeff", "\x1a", "\x85", "\u2028", "#", "\\", "\0", "\ud800",
]  # fmt: skip
CELLS = ["a", "1", "", "é", " b", "#c", "\\", "'q'", '"x"', '"a,b"', '""', '"\\"', '"é;"', "\u2028"]
TEXTS = [case for case in corpus() if not case.name.endswith((".xlsx", ".parquet"))]
PARSERS = ["pyarrow", "pandas"]
RAGGED = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)


@st.composite
def tables(draw: st.DrawFn) -> str:
    """Whole rows, and maybe something in their midst that does not belong there."""
    width, end = draw(st.integers(1, 4)), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    row = st.lists(st.sampled_from(CELLS), min_size=width, max_size=width).map(",".join)
    text = end.join(draw(st.lists(row, min_size=1, max_size=6))) + draw(st.sampled_from(["", end]))
    place = draw(st.integers(0, len(text)))
    return text[:place] + draw(st.sampled_from(["", "", *PIECES])) + text[place:]


@contextmanager
def parser(name: str, piece: int = 7) -> Iterator[None]:
    """Text is cut by pyarrow, or by pandas as where pyarrow is missing; in small pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_plain_text, "_CHARACTERS_AT_ONCE", piece)
        patch.setattr(_arrow_text, "_BYTES_AT_ONCE", 16 * piece)
        if name == "pandas":
            patch.setitem(sys.modules, "pyarrow.csv", None)
        else:
            pytest.importorskip("pyarrow", reason="compares pyarrow")
        yield


def carefully_cut(text: str, quote: str) -> pd.DataFrame:
    return pd.DataFrame(_dialect._parse(text, ",", Reading(quote=quote)), dtype=object)


@pytest.mark.parametrize("name", PARSERS)
@given(text=st.one_of(tables(), RAGGED), quote=st.sampled_from(['"', '"', "'"]))
def test_all_parsers_cut_the_same_cells(name: str, text: str, quote: str) -> None:
    with parser(name):
        found = plainly_cut(text, ",", quote)
    if found is not None:
        cut = carefully_cut(text, quote)
        pd.testing.assert_frame_equal(spelled_out(found), cut, check_column_type=False)
        for column, cells in cut.items():
            assert found[column].array.words.texts.tolist() == list(dict.fromkeys(cells))


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_plain_tables_are_cut_by_the_faster_parsers(name: str, end: str) -> None:
    rows = [["name", "town"], ["Ann", "Bern, CH"], ["", "plain"], ["é", "Ann"]]
    text = end.join(",".join(f'"{cell}"' for cell in row) for row in rows) + end
    with parser(name, 100):
        found = plainly_cut(text, ",", '"')
    assert found is not None
    assert found.to_numpy().tolist() == rows


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_no_line_end_is_torn_apart_where_text_is_read_in_pieces(name: str, end: str) -> None:
    rows = [[f"{number}", "é" * (number % 11)] for number in range(200)]
    text = end.join(map(",".join, rows))
    for piece in range(4, 24):
        with parser(name, piece):
            found = plainly_cut(text, ",", '"')
        assert found is not None
        assert found.to_numpy().tolist() == rows


@pytest.mark.parametrize("name", PARSERS)
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
        "a,\ud800\n",
        "a,\0b\n",
    ],
)
def test_text_that_needs_care_is_left_to_the_careful_parser(text: str, name: str) -> None:
    with parser(name):
        assert plainly_cut(text, ",", '"') is None


def read(path: Path) -> object:
    try:
        found = read_file(path)
        data = TabularDataset.read(path, description=None)
    except SchemaError as error:
        return str(error)
    about = found.frame.to_dict("split"), found.choices, found.columns
    return about, data.description.explain(), data.table.digest()


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case.name)
def test_awkward_files_are_read_the_same_by_all(
    case: Awkward, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, case.name, case.make())
    with parser(name, 1 << 18):
        fast = read(tmp_path / case.name)
        monkeypatch.setattr(_dialect, "plainly_cut", lambda *_: None)
        assert repr(read(tmp_path / case.name)) == repr(fast)


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("file", hopeless())
def test_what_is_no_table_is_refused_in_the_same_words_by_all(
    file: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, file, hopeless()[file])
    with parser(name, 1 << 18):
        fast = read(tmp_path / file)
        monkeypatch.setattr(_dialect, "plainly_cut", lambda *_: None)
        assert repr(read(tmp_path / file)) == repr(fast)
