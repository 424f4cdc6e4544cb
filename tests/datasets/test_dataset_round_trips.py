"""What is written is read back: schemas, CSV text and files, encoded tables."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapas.datasets import DataDescription, TabularDataset, load_sample, read_table, write_table
from tapas.errors import SchemaError, StoreError

WORDS = st.one_of(
    st.sampled_from(["NA", "", "nan", "None", "null", "?", "N/A", "0", "1", "1.0", "-1", "True"]),
    st.text("ab ,\"'\n;\té日\\#%", max_size=6),
)
MOMENTS = st.datetimes(
    min_value=pd.Timestamp("1700-01-01").to_pydatetime(),
    max_value=pd.Timestamp("2250-01-01").to_pydatetime(),
)
FREE_TEXT = st.text("ab,\"'\né日 ", min_size=1, max_size=6)

KINDS: list[tuple[str, Any, st.SearchStrategy[Any]]] = [
    ("countable", "integer", st.integers(0, 2**53)),
    ("countable/ordered", "integer", st.integers(-(2**53), 2**53)),
    ("countable/ordered/least", "integer", st.integers(0, 100)),
    ("countable/ordered", "date", MOMENTS.map(lambda moment: moment.date().isoformat())),
    ("real", "datetime", MOMENTS.map(lambda moment: moment.isoformat())),
    ("real", "number", st.floats(allow_nan=False, allow_infinity=False)),
    ("real/non-negative", "number", st.floats(0, 1e300)),
    ("interval", "number", st.floats(0, 1)),
    ("countable", "string", FREE_TEXT),
]


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, Any, st.SearchStrategy[Any]]:
    choice = draw(st.integers(0, len(KINDS) + 3))
    if choice < len(KINDS):
        return KINDS[choice]
    type_ = draw(st.sampled_from(["finite", "finite/ordered"]))
    if choice % 2:
        size = draw(st.integers(1, 300))
        return type_, size, st.integers(0, size - 1)
    words = draw(st.lists(WORDS, min_size=1, max_size=6, unique=True))
    return type_, words, st.sampled_from(words)


@st.composite
def datasets(draw: st.DrawFn) -> TabularDataset:
    names = draw(st.lists(WORDS, min_size=1, max_size=4, unique=True))
    kinds = [draw(columns()) for _ in names]
    schema = [
        {"name": name, "type": type_, "representation": representation}
        for name, (type_, representation, _) in zip(names, kinds, strict=True)
    ]
    row = st.tuples(*(st.one_of(st.none(), values) for _, _, values in kinds))
    rows = draw(st.lists(row, max_size=5))
    frame = pd.DataFrame(
        {i: pd.Series([r[i] for r in rows], dtype=object) for i in range(len(names))}
    )
    return TabularDataset(frame.set_axis(names, axis=1), DataDescription(schema, "made"))


@given(datasets())
@settings(max_examples=40, deadline=None)
def test_schemas_survive_json(dataset: TabularDataset) -> None:
    description = dataset.description
    again = DataDescription(json.loads(json.dumps(description.schema)))
    assert again == description
    assert hash(again) == hash(description)
    assert again.parsed == description.parsed


@given(datasets())
@settings(max_examples=150, deadline=None)
def test_tables_survive_csv_text(dataset: TabularDataset) -> None:
    again = TabularDataset.read_from_string(dataset.write_to_string(), dataset.description)
    assert again.table.same_values(dataset.table)


@given(datasets())
@settings(max_examples=60, deadline=None)
def test_tables_survive_npz_files(dataset: TabularDataset) -> None:
    dataset = dataset.sample(len(dataset), random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "deep", "table.npz")
        write_table(path, dataset.table, {"note": [1, "two", None]})
        again, extra = read_table(path, dataset.description.parsed)
    assert again.same_values(dataset.table)
    assert again.index.tolist() == dataset.table.index.tolist()
    assert extra == {"note": [1, "two", None]}


@given(datasets())
@settings(max_examples=60, deadline=None)
def test_frames_rebuild_the_table(dataset: TabularDataset) -> None:
    again = TabularDataset(dataset.data, dataset.description)
    assert again.table.same_values(dataset.table)
    assert again.data.dtypes.tolist() == dataset.data.dtypes.tolist()


@pytest.mark.parametrize("name", ["census", "clinic"])
@pytest.mark.parametrize("header", [True, False])
def test_samples_survive_files(tmp_path: Path, name: str, header: bool) -> None:
    dataset = load_sample(name, rows=200)
    prefix = tmp_path / "new folder" / "table.v1"
    dataset.write(prefix, header=header)
    again = TabularDataset.read(prefix)
    assert again.table.same_values(dataset.table)
    assert again.description == dataset.description
    assert again.label == str(prefix)
    assert TabularDataset.read(f"{prefix}.csv", label="mine").label == "mine"
    schema = json.loads(Path(f"{prefix}.json").read_text())
    assert schema == dataset.description.schema
    first_line = Path(f"{prefix}.csv").read_text().splitlines()[0]
    assert first_line.startswith(dataset.description.columns[0]) == header


def test_parquet_is_read_like_csv(tmp_path: Path, mixed: TabularDataset) -> None:
    pytest.importorskip("pyarrow")
    mixed.data.to_parquet(tmp_path / "table.parquet")
    mixed.description.to_json(tmp_path / "table.json")
    for path in (tmp_path / "table", tmp_path / "table.parquet"):
        assert TabularDataset.read(path).table.same_values(mixed.table)


def test_without_a_schema_it_is_inferred(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,code\n31,007\n?,010\n")
    dataset = TabularDataset.read(tmp_path / "t")
    assert dataset.description["age"]["representation"] == "integer"
    assert dataset.description["code"]["representation"] == ["007", "010"]
    assert dataset.data["age"].isna().tolist() == [False, True]
    (tmp_path / "bare.csv").write_text("31,x\n40,y\n")
    assert TabularDataset.read(tmp_path / "bare").description.columns == ("column_0", "column_1")


def test_the_first_row_is_a_header_only_if_it_holds_the_names(numbered: TabularDataset) -> None:
    words = DataDescription(
        [
            {"name": "a", "type": "finite", "representation": ["x", "y"]},
            {"name": "b", "type": "finite", "representation": ["x", "y"]},
        ]
    )
    bare = TabularDataset.read_from_string("x,y\ny,x\n", words)
    assert bare.data.values.tolist() == [["x", "y"], ["y", "x"]]
    swapped = TabularDataset.read_from_string("b,a\nx,y\n", words)
    assert swapped.data[["a", "b"]].values.tolist() == [["y", "x"]]
    with pytest.raises(SchemaError, match="the header has 'c' where the schema has 'b'"):
        TabularDataset.read_from_string("a,c\nx,y\n", words)
    with pytest.raises(SchemaError, match="the header lacks 'b', which the schema has"):
        TabularDataset.read_from_string("a\nx\n", words)


def test_headers_can_be_declared(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\na\nb\n")
    (tmp_path / "t.json").write_text(
        json.dumps([{"name": "a", "type": "finite", "representation": ["a", "b"]}])
    )
    assert len(TabularDataset.read(tmp_path / "t")) == 2
    assert len(TabularDataset.read(tmp_path / "t", header=False)) == 3


def test_damaged_text_is_explained(tmp_path: Path, numbered: TabularDataset) -> None:
    with pytest.raises(SchemaError, match="row 1 has 2 cells"):
        TabularDataset.read_from_string("1,2,a\n1,2\n", numbered.description)
    with pytest.raises(SchemaError, match="2 columns and the schema 3"):
        TabularDataset.read_from_string("1,2\n", numbered.description)
    (tmp_path / "t.csv").write_text("1,2,a\n1,2,q\n")
    numbered.description.to_json(tmp_path / "t.json")
    with pytest.raises(SchemaError, match=r"t\.csv: column 'letter', row 1: 'q'"):
        TabularDataset.read(tmp_path / "t")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        TabularDataset.read(tmp_path / "nowhere")


def test_files_of_other_programs_are_understood(tmp_path: Path, numbered: TabularDataset) -> None:
    (tmp_path / "t.csv").write_bytes(b'\xef\xbb\xbfletter,number,half\r\n"b",3,0.5\r\n\r\n')
    dataset = TabularDataset.read(tmp_path / "t.csv", description=numbered.description)
    assert dataset.data.values.tolist() == [[3, 0.5, "b"]]
    assert len(TabularDataset.read_from_string("", numbered.description)) == 0


def test_missing_markers_can_be_chosen(tmp_path: Path, numbered: TabularDataset) -> None:
    (tmp_path / "t.csv").write_text("1,-9,a\n")
    dataset = TabularDataset.read(
        tmp_path / "t.csv", description=numbered.description, missing_values=["-9"]
    )
    assert dataset.data["half"].isna().all()


def test_npz_files_of_another_schema_are_refused(tmp_path: Path, mixed: TabularDataset) -> None:
    path = tmp_path / "table.npz"
    write_table(path, mixed.table)
    with pytest.raises(StoreError, match="other columns"):
        read_table(path, mixed.description.parsed[:-1])
    fewer = DataDescription([{"name": "a", "type": "finite", "representation": ["x"]}])
    more = DataDescription([{"name": "a", "type": "finite", "representation": ["x", "y"]}])
    write_table(path, TabularDataset([["y"]], more).table)
    with pytest.raises(StoreError, match="'a' has impossible codes"):
        read_table(path, fewer.parsed)


def test_a_label_that_json_cannot_hold_is_refused(tmp_path: Path, mixed: TabularDataset) -> None:
    strange = mixed.table.with_index(pd.Index([{1}, {2}, {3}, {4}, {5}], dtype=object))
    with pytest.raises(StoreError, match="row label"):
        write_table(tmp_path / "t.npz", strange)
    assert list(tmp_path.iterdir()) == []
