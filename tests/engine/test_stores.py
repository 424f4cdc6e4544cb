"""Every store keeps the same promises."""

import gc
import io
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tapas.engine import Entry, FolderStore, MemoryStore, Store
from tapas.errors import StoreError


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with MemoryStore() if request.param == "memory" else FolderStore(tmp_path / "run") as opened:
        yield opened


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Every connection that is opened, held so that only closing it can end it."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*arguments: object, **options: object) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))  # type: ignore[call-overload]
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    return opened


def _is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def _change_index(folder: Path, query: str) -> None:
    with closing(sqlite3.connect(folder / "index.sqlite")) as database, database:
        database.execute(query)


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


@pytest.mark.parametrize("prefix", ["odd\0", "odd\0n", "ö"])
def test_keys_are_found_by_a_prefix_of_any_characters(store: Store, prefix: str) -> None:
    for key in ("odd", "odd\0name", "odd\0other", "oddity", "öl", "o"):
        store.save(key, Entry())
    expected = {"odd\0": ["odd\0name", "odd\0other"], "odd\0n": ["odd\0name"], "ö": ["öl"]}
    assert list(store.keys(prefix)) == expected[prefix]


def test_a_small_value_in_the_place_of_a_large_one_leaves_no_file(tmp_path: Path) -> None:
    with FolderStore(tmp_path) as store:
        store.save("x", _large())
        store.save("y", _large())
        assert len(list((tmp_path / "entries").iterdir())) == 2
        store.save("x", Entry({}, {"b": 1}))
        assert len(list((tmp_path / "entries").iterdir())) == 1
        assert store.load("x").notes == {"b": 1}
        assert len(store.load("y").arrays["table"]) == 100_000


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
    _change_index(tmp_path, "UPDATE entries SET content = 'nonsense'")
    with pytest.raises(StoreError, match="damaged"):
        FolderStore(tmp_path).load("x")


@pytest.mark.parametrize("rows", [3, 10**9, 10**15, -4])
def test_an_array_that_says_it_is_larger_is_not_made_room_for(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    member, content = io.BytesIO(), io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": (rows, 2)}
    np.lib.format.write_array_header_1_0(member, about)
    with zipfile.ZipFile(content, "w") as packed:
        packed.writestr("array:x.npy", member.getvalue() + bytes(16))
    monkeypatch.setattr(Entry, "to_bytes", lambda self: content.getvalue())
    store = FolderStore(tmp_path)
    store.save("x", Entry())
    with pytest.raises(StoreError, match="another size than it says"):
        store.load("x")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(3.0),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["\N{SNOWMAN}", ""]),
        np.array([1, 2], dtype=">i2"),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_of_every_kind_come_back_and_may_be_written_to(array: np.ndarray) -> None:
    found = Entry.from_bytes(Entry({"x": array}).to_bytes()).arrays["x"]
    assert found.dtype == array.dtype
    assert np.array_equal(found, array)
    assert found.flags.writeable


def test_a_file_name_in_the_index_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "secret.npz"
    outside.write_bytes(_large().to_bytes())
    FolderStore(tmp_path / "run").save("x", _large())
    _change_index(tmp_path / "run", "UPDATE entries SET file = '../../secret.npz'")
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


def test_a_block_closes_its_store(tmp_path: Path, connections: list[sqlite3.Connection]) -> None:
    with FolderStore(tmp_path) as store:
        store.save("x", Entry())
        assert _is_open(connections[0])
    assert not _is_open(connections[0])
    with pytest.raises(StoreError, match="closed"):
        store.load("x")
    with pytest.raises(StoreError, match="closed"):
        store.save("x", Entry())
    store.close()


def test_a_store_that_is_dropped_is_closed(
    tmp_path: Path, connections: list[sqlite3.Connection]
) -> None:
    FolderStore(tmp_path).save("x", Entry())
    gc.collect()
    assert [_is_open(connection) for connection in connections] == [False]


def test_a_folder_that_cannot_be_used_is_not_held_open(
    tmp_path: Path, connections: list[sqlite3.Connection]
) -> None:
    (tmp_path / "index.sqlite").write_text("rubbish" * 1000)
    with pytest.raises(StoreError):
        FolderStore(tmp_path)
    assert [_is_open(connection) for connection in connections] == [False]


def test_threads_share_a_store(store: Store) -> None:
    names = [f"x/{number:03}" for number in range(100)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: store.save(name, Entry(notes={"name": name})), names))
        found = list(pool.map(lambda name: store.load(name).notes["name"], names))
    assert found == names == list(store.keys())


@pytest.mark.skipif(sys.version_info < (3, 13), reason="older sqlite modules tell of no leaks")
def test_nothing_leaks_where_nobody_closes(tmp_path: Path) -> None:
    program = (
        "import sys; from tapas.engine import Entry, FolderStore; folder = sys.argv[1]; "
        "FolderStore(folder).save('x', Entry()); held_until_the_end = FolderStore(folder)"
    )
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", program]
    done = subprocess.run([*command, tmp_path], capture_output=True, text=True, check=True)
    assert "ResourceWarning" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="no limits on files")
def test_a_disk_without_room_is_told_from_a_damaged_index(tmp_path: Path) -> None:
    import resource

    with FolderStore(tmp_path) as store:
        store.save("a", Entry(notes={"x": 1}))
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))  # no file may grow, as on a full disk
    try:
        with pytest.raises(StoreError, match="disk is full or fails") as full:
            FolderStore(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))
    assert "repair" not in str(full.value)
    with FolderStore(tmp_path) as store:
        assert store.load("a").notes == {"x": 1}
    (tmp_path / "index.sqlite").write_bytes(b"no index" * 1000)
    with pytest.raises(StoreError, match="tapas repair"):
        FolderStore(tmp_path)
