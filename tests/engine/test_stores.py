"""Every store keeps the same promises."""

import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tapas.engine import Entry, FolderStore, MemoryStore, Store
from tapas.errors import StoreError


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else FolderStore(tmp_path / "run")


def _large() -> Entry:
    return Entry({"table": np.arange(100_000, dtype=np.int32)}, {"label": "größer"})


@pytest.mark.parametrize("entry", [Entry(), Entry({"a": np.eye(2)}, {"b": [1, None]}), _large()])
def test_what_is_saved_comes_back(store: Store, entry: Entry) -> None:
    store.save("x/1", entry)
    found = store.load("x/1")
    assert found.notes == entry.notes
    assert found.arrays.keys() == entry.arrays.keys()
    for name, array in entry.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)


def test_saving_again_replaces(store: Store) -> None:
    store.save("x", _large())
    store.save("x", Entry(notes={"second": True}))
    assert store.load("x").notes == {"second": True}


def test_a_missing_entry_is_named(store: Store) -> None:
    assert "x" not in store
    with pytest.raises(StoreError, match="no entry 'x'"):
        store.load("x")


def test_keys_are_found_by_prefix_in_order(store: Store) -> None:
    for key in ("b/2", "a/10", "a/02", "a%/1"):
        store.save(key, Entry())
    assert list(store.keys("a/")) == ["a/02", "a/10"]
    assert list(store.keys()) == sorted(["b/2", "a/10", "a/02", "a%/1"])


def test_discarding_forgets(store: Store) -> None:
    store.save("x", _large())
    store.discard("x")
    store.discard("never there")
    assert "x" not in store


def test_python_objects_are_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="Python objects"):
        store.save("x", Entry({"a": np.array([object()])}))


def test_a_folder_is_found_again(tmp_path: Path) -> None:
    FolderStore(tmp_path).save("x", _large())
    np.testing.assert_array_equal(
        FolderStore(tmp_path).load("x").arrays["table"], np.arange(100_000)
    )


def test_two_writers_share_a_folder(tmp_path: Path) -> None:
    first, second = FolderStore(tmp_path), FolderStore(tmp_path)
    first.save("a", Entry(notes={"by": 1}))
    second.save("b", Entry(notes={"by": 2}))
    assert first.load("b").notes == {"by": 2}
    assert list(second.keys()) == ["a", "b"]


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_file_is_noticed(tmp_path: Path, damage: str) -> None:
    store = FolderStore(tmp_path)
    store.save("x", _large())
    (file,) = (tmp_path / "entries").glob("*.npz")
    content = file.read_bytes()
    if damage == "flip":
        file.write_bytes(content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])
    elif damage == "cut":
        file.write_bytes(content[:1000])
    else:
        file.unlink()
    with pytest.raises(StoreError, match="damaged"):
        store.load("x")


def test_a_damaged_row_is_noticed(tmp_path: Path) -> None:
    FolderStore(tmp_path).save("x", Entry(notes={"a": 1}))
    with sqlite3.connect(tmp_path / "index.sqlite") as database:
        database.execute("UPDATE entries SET content = ?", (b"nonsense",))
    with pytest.raises(StoreError, match="damaged"):
        FolderStore(tmp_path).load("x")


def test_a_file_name_in_the_index_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "secret.npz"
    outside.write_bytes(_large().to_bytes())
    FolderStore(tmp_path / "run").save("x", _large())
    with sqlite3.connect(tmp_path / "run" / "index.sqlite") as database:
        database.execute("UPDATE entries SET file = '../../secret.npz'")
    with pytest.raises(StoreError, match="damaged"):
        FolderStore(tmp_path / "run").load("x")


def test_a_file_in_the_way_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot be used"):
        FolderStore(tmp_path / "run")


def test_an_index_that_is_no_database_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "index.sqlite").write_text("rubbish" * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        FolderStore(tmp_path)


def test_nothing_half_written_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = FolderStore(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        store.save("x", _large())
    assert "x" not in store
    assert list((tmp_path / "entries").iterdir()) == []
