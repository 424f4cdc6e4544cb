"""The contract of a store: kept by ours, broken one promise at a time by others."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tapas.engine import Entry, FolderStore, MemoryStore, Snapshot, Store
from tapas.errors import StoreError
from tapas.testing import BrokenPromiseError, check_store


def test_a_store_in_memory_keeps_every_promise() -> None:
    assert len(check_store(MemoryStore)) == 12


def test_a_store_in_a_folder_keeps_every_promise(tmp_path: Path) -> None:
    kept = check_store(lambda: FolderStore(tmp_path), tmp_path)
    assert kept[:12] == check_store(MemoryStore)
    assert kept[12:] == ["two handles", "binding", "damage"]


def test_a_snapshot_keeps_every_promise_and_leaves_its_folder_alone(tmp_path: Path) -> None:
    with FolderStore(tmp_path) as store:
        store.save("before", Entry(notes={"a": 1}))
    assert check_store(lambda: _Emptied(tmp_path)) == check_store(MemoryStore)
    with FolderStore(tmp_path) as store:
        assert list(store.keys()) == ["before"]
        assert store.load("before").notes == {"a": 1}


class _Emptied(Snapshot):
    """Begins without values, as the checks expect; the folder has one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        assert list(self.keys()) == ["before"]
        self.discard("before")


class AsFloats(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        kept = {name: a.astype(float) if a.dtype.kind == "f" else a for name, a in
                entry.arrays.items()}  # fmt: skip
        super().save(key, Entry(kept, entry.notes))


class DropsNothings(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        notes = {name: note for name, note in entry.notes.items() if note is not None}
        super().save(key, Entry(entry.arrays, notes))


class Small(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        if sum(array.nbytes for array in entry.arrays.values()) > 100_000:
            raise StoreError("too large")
        super().save(key, entry)


class KeepsTheFirst(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        if key not in self:
            super().save(key, entry)


class Takes(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        plain = {name: array for name, array in entry.arrays.items() if not array.dtype.hasobject}
        super().save(key, Entry(plain, entry.notes))


class Lends(MemoryStore):
    """Hands out the very object that was saved."""

    def __init__(self) -> None:
        super().__init__()
        self.lent: dict[str, Entry] = {}

    def save(self, key: str, entry: Entry) -> None:
        super().save(key, entry)
        self.lent[key] = entry

    def load(self, key: str) -> Entry:
        super().load(key)
        return self.lent[key]


class InventsEntries(MemoryStore):
    def load(self, key: str) -> Entry:
        return super().load(key) if key in self else Entry()


class KeepsAll(MemoryStore):
    def discard(self, key: str) -> None:
        pass


class IgnoresCase(MemoryStore):
    def save(self, key: str, entry: Entry) -> None:
        super().save(key.lower(), entry)

    def load(self, key: str) -> Entry:
        return super().load(key.lower())


class Unsorted(MemoryStore):
    def keys(self, prefix: str = "") -> Iterator[str]:
        return reversed(list(super().keys(prefix)))


class NeverCloses(MemoryStore):
    def close(self) -> None:
        pass


class Swallows(MemoryStore):
    def __exit__(self, *failure: object) -> bool:  # type: ignore[override]
        self.close()
        return True


@pytest.mark.parametrize(
    ("store", "promise"),
    [
        (AsFloats, "arrays"),
        (DropsNothings, "notes"),
        (Small, "large values"),
        (Takes, "objects"),
        (KeepsTheFirst, "overwriting"),
        (Lends, "own copy"),
        (InventsEntries, "missing"),
        (KeepsAll, "discarding"),
        (IgnoresCase, "names"),
        (Unsorted, "threads"),
        (NeverCloses, "closing"),
        (Swallows, "interruption"),
    ],
)
def test_each_broken_promise_is_named(store: type[Store], promise: str) -> None:
    with pytest.raises(BrokenPromiseError, match=f"(?m)^- {promise}: ") as caught:
        check_store(store)
    assert str(caught.value).startswith(f"{store.__name__} breaks ")


class Forgives(FolderStore):
    """Hands out something where a value is damaged."""

    def load(self, key: str) -> Entry:
        try:
            return super().load(key)
        except StoreError as error:
            if "damaged: digest" not in str(error):
                raise
            return Entry({"a": np.zeros(3)})


def test_damage_that_is_not_noticed_is_a_broken_promise(tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- damage: .*with one bit changed"):
        check_store(lambda: Forgives(tmp_path), tmp_path)


def test_stores_that_do_not_see_each_other_are_a_broken_promise(tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- two handles: .*not seen by the other"):
        check_store(MemoryStore, tmp_path)


class Unbound(FolderStore):
    """Hands values out under any name."""

    def load(self, key: str) -> Entry:
        try:
            return super().load(key)
        except StoreError:
            if not key.startswith("bound"):
                raise
            return Entry()


def test_values_that_are_not_bound_to_their_names_are_a_broken_promise(tmp_path: Path) -> None:
    with pytest.raises(BrokenPromiseError, match=r"(?m)^- binding: .*handed out as"):
        check_store(lambda: Unbound(tmp_path), tmp_path)
