"""What a run relies on in a store, as checks that anybody can run on theirs."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from tapas._random import stream
from tapas.engine import Entry, Store
from tapas.errors import StoreError
from tapas.testing._promises import Promise, kept_promises

THREADS, SAVED_BY_THREADS = 4, 24
LARGE = 300_000  # bytes
TRACE = 64  # bytes by which a value is found again in a file

_DTYPES = (
    "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "F", "D",
    ">i4", ">f8", "S5", "V6", "M8[D]", "M8[ns]", "m8[s]",
)  # fmt: skip
_ODD_KEYS = (
    "100%", "100 percent", "a_b", "axb", "Case", "case", "it's", 'say "so"', "semi;colon",
    "back\\slash", "dots/../dots", "star*", "what?", "[x]", "ünï/côdé", "日本", "🗝",
    "tab\tnew\nline", " space ", "long" * 200,
)  # fmt: skip
_NOTES = {
    "nothing": None,
    "truth": [True, False],
    "number": [0, -1, 2**70, 0.1, 1e-300],
    "text": "größer, 日本, 🗝, \\ and \"quotes\"",
    "nested": {"list": [[], {}, [{"deep": [1, None]}]], "": 1},
}  # fmt: skip

MakeStore = Callable[[], Store]


def check_store(make_store: MakeStore, folder: str | PathLike[str] | None = None) -> list[str]:
    """Run every check on a kind of store.

    Parameters
    ----------
    make_store : callable
        Opens a store, each time it is called. Stores on disk are opened in the same place.
    folder : path, optional
        That place, for stores on disk; empty at first. Stores there must see each other's
        entries, and notice where files have been damaged. It is spoilt afterwards.

    Returns
    -------
    list of str
        Names of the promises that are kept.

    Raises
    ------
    BrokenPromiseError
        Names every promise that is broken, and what was seen instead.
    """
    with make_store() as store:
        label = type(store).__name__
    on_disk = [] if folder is None else [_in(Path(folder), one) for one in _PROMISES_ON_DISK]
    return kept_promises(label, [*_PROMISES, *on_disk], make_store)


def _in(folder: Path, promise: Promise[[MakeStore, Path]]) -> Promise[[MakeStore]]:
    return Promise(
        promise.name, promise.promise, lambda make_store: promise.find_breach(make_store, folder)
    )


# -- what is compared ------------------------------------------------------------------------


def _arrays() -> Iterator[tuple[str, np.ndarray]]:
    for name in _DTYPES:
        dtype = np.dtype(name)
        # Bytes of 0 and 1 are a value of every one of these types.
        content = stream(0).integers(0, 2, size=6 * dtype.itemsize, dtype=np.uint8)
        yield name, content.view(dtype)
    yield "words", np.array(["", "ü", "日本語", "seven!!"])
    yield "special", np.array([np.nan, -0.0, np.inf, -np.inf, 5e-324])
    yield "moments", np.array(["2020-02-29T12:00", "NaT"], dtype="M8[s]")
    yield "record", np.array([(1, 0.5, "a"), (2, -0.5, "b")], dtype="i4, f8, U3")
    yield "number", np.array(7.5)
    yield "nothing", np.empty((0, 3), dtype=np.float32)
    yield "columns first", np.asfortranarray(np.arange(12.0).reshape(3, 4))
    yield "every other", np.arange(12)[::2]
    yield "deep", np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    yield "name/with: odd 'marks'", np.arange(3)
    yield "notes", np.arange(2)


def _traced(size: int) -> np.ndarray:
    """Bytes that occur nowhere else; those in the middle lead back to them."""
    return stream(1, size).integers(1, 256, size=size, dtype=np.uint8)


def _difference(found: Entry, saved: Entry) -> str | None:
    if found.notes != saved.notes:
        return f"notes {saved.notes!r} came back as {found.notes!r}"
    if set(found.arrays) != set(saved.arrays):
        return f"arrays {sorted(saved.arrays)} came back as {sorted(found.arrays)}"
    for name, array in saved.arrays.items():
        back = found.arrays[name]
        if (back.dtype, back.shape) != (array.dtype, array.shape):
            return (
                f"array {name!r} of {array.dtype} {array.shape} came back as {back.dtype} "
                f"{back.shape}"
            )
        if back.tobytes() != array.tobytes():
            return f"array {name!r} came back with other values"
    return None


def _refuses(action: Callable[[], object]) -> bool:
    try:
        action()
    except StoreError:
        return True
    return False


# -- promises --------------------------------------------------------------------------------


def _arrays_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        for name, array in _arrays():
            store.save("arrays", Entry({name: array}))
            breach = _difference(store.load("arrays"), Entry({name: array}))
            if breach is not None:
                return breach
        together = Entry(dict(_arrays()), {"all": True})
        store.save("arrays", together)
        return _difference(store.load("arrays"), together)


def _notes_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        for entry in (Entry(), Entry(notes=_NOTES)):
            store.save("notes", entry)
            breach = _difference(store.load("notes"), entry)
            if breach is not None:
                return breach
    return None


def _large_breach(make_store: MakeStore) -> str | None:
    entry = Entry({"large": _traced(LARGE)}, {"text": "x" * LARGE})
    with make_store() as store:
        store.save("large", entry)
        return _difference(store.load("large"), entry)


def _objects_breach(make_store: MakeStore) -> str | None:
    objects = np.array([{"runs": "code"}], dtype=object)
    record = np.array([(1, object())], dtype="i4, O")
    refused = {
        "an array of objects": Entry({"a": objects}),
        "a record with an object": Entry({"a": record}),
        "notes that JSON cannot hold": Entry(notes={"a": {1, 2}}),
    }
    with make_store() as store:
        store.save("objects", Entry(notes={"before": True}))
        for words, entry in refused.items():
            if not _refuses(partial(store.save, "objects", entry)):
                return f"{words} was taken"
            if store.load("objects").notes != {"before": True}:
                return f"{words}, though refused, replaced what was there"
    return None


def _overwriting_breach(make_store: MakeStore) -> str | None:
    small, large = Entry({"a": np.arange(3)}), Entry({"b": _traced(LARGE)}, {"second": True})
    with make_store() as store:
        for entry in (small, large, Entry(), large, small):
            store.save("again", entry)
            breach = _difference(store.load("again"), entry)
            if breach is not None:
                return breach
        if list(store.keys("again")) != ["again"]:
            return f"one name, saved five times, is listed as {list(store.keys('again'))}"
    return None


def _own_copy_breach(make_store: MakeStore) -> str | None:
    array, notes = np.zeros(4), {"list": [1]}
    with make_store() as store:
        store.save("own", Entry({"a": array}, notes))
        array[:] = 1
        notes["list"].append(2)
        first = store.load("own")
        if first.arrays["a"].any() or first.notes != {"list": [1]}:
            return "what was changed after it was saved is changed in the store"
        first.notes["list"].append(3)
        if store.load("own").notes != {"list": [1]}:
            return "what was changed after it was loaded is changed in the store"
    return None


def _missing_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        if "never saved" in store:
            return "it says that a name is there which was never saved"
        try:
            store.load("never saved")
        except StoreError as error:
            return None if "never saved" in str(error) else f"the error is {error}"
    return "loading it raised no StoreError"


def _discard_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        for entry in (Entry(notes={"a": 1}), Entry({"large": _traced(LARGE)})):
            store.save("gone/1", entry)
            store.save("gone/10", Entry())
            store.discard("gone/1")
            if "gone/1" in store or not _refuses(lambda: store.load("gone/1")):
                return "it is still there"
            if list(store.keys("gone/")) != ["gone/10"]:
                return f"of gone/1 and gone/10 there remain {list(store.keys('gone/'))}"
        store.discard("never saved")
    return None


def _keys_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        for number, name in enumerate(_ODD_KEYS):
            store.save(f"odd/{name}", Entry(notes={"number": number}))
        found = list(store.keys("odd/"))
        if found != sorted(f"odd/{name}" for name in _ODD_KEYS):
            return f"the names are listed as {found}"
        for number, name in enumerate(_ODD_KEYS):
            if store.load(f"odd/{name}").notes != {"number": number}:
                return f"{name!r} was taken for another name"
            prefix = f"odd/{name[:2]}"
            expected = [key for key in found if key.startswith(prefix)]
            if list(store.keys(prefix)) != expected:
                return f"{list(store.keys(prefix))} begin with {prefix!r}"
        if not set(found) <= set(store.keys()):
            return "some names are missing where all are listed"
    return None


def _threads_breach(make_store: MakeStore) -> str | None:
    names = [f"threads/{number:03}" for number in range(SAVED_BY_THREADS)]
    with make_store() as store, ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda name: store.save(name, Entry(notes={"name": name})), names))
        found = list(threads.map(lambda name: store.load(name).notes["name"], names))
        return None if found == names == list(store.keys("threads/")) else f"{found} came back"


def _closing_breach(make_store: MakeStore) -> str | None:
    with make_store() as store:
        store.save("closed", Entry())
    for words, action in {
        "read": lambda: store.load("closed"),
        "saved": lambda: store.save("closed", Entry()),
        "listed": lambda: list(store.keys()),
        "looked for": lambda: "closed" in store,
    }.items():
        if not _refuses(action):
            return f"something could be {words} after the block, without a StoreError"
    store.close()
    return None


def _interruption_breach(make_store: MakeStore) -> str | None:
    store = make_store()
    try:
        with store:
            store.save("interrupted", Entry())
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        return None if _refuses(lambda: store.load("interrupted")) else "it stayed open"
    return "the interruption was swallowed"


def _handles_breach(make_store: MakeStore, folder: Path) -> str | None:
    entries = {"shared/small": Entry(notes={"a": 1}), "shared/large": Entry({"a": _traced(LARGE)})}
    with make_store() as first, make_store() as second:
        for name, entry in entries.items():
            first.save(name, entry)
            if name not in second or list(second.keys(name)) != [name]:
                return f"{name} is not seen by the other"
            breach = _difference(second.load(name), entry)
            if breach is not None:
                return breach
        second.save("shared/small", Entry(notes={"a": 2}))
        if first.load("shared/small").notes != {"a": 2}:
            return "what the other saved again is not seen"
        second.discard("shared/large")
        if "shared/large" in first:
            return "what the other discarded is still seen"
    with make_store() as later:
        if later.load("shared/small").notes != {"a": 2}:
            return "it is lost when all have been closed"
    return None


def _damage_breach(make_store: MakeStore, folder: Path) -> str | None:
    for size in (4 * TRACE, LARGE):
        entry, name = Entry({"a": _traced(size)}), f"damaged/{size}"
        for words, damage in _DAMAGES.items():
            with make_store() as store:
                store.save(name, entry)
            if not damage(folder, entry.arrays["a"].tobytes()):
                continue
            with make_store() as store:
                if not _refuses_or_is_whole(store, name, entry):
                    return f"a value of {size} bytes, {words}, was handed out"
                store.discard(name)
                store.save(name, entry)
                if _difference(store.load(name), entry) is not None:
                    return f"after it had been {words}, it could not be saved again"
    return None


def _binding_breach(make_store: MakeStore, folder: Path) -> str | None:
    name, other = "bound/train/1", "bound/trial/1"
    with make_store() as store:
        store.save(name, Entry({"a": _traced(4 * TRACE)}))
    files = [path for path in folder.rglob("*") if path.is_file()]
    for file in files:
        file.write_bytes(file.read_bytes().replace(name.encode(), other.encode()))
    with make_store() as store:
        if other in store and not _refuses(lambda: store.load(other)):
            return f"what was saved as {name} was handed out as {other}"
        store.discard(other)
    return None


def _refuses_or_is_whole(store: Store, name: str, entry: Entry) -> bool:
    try:
        return _difference(store.load(name), entry) is None
    except StoreError:
        return True


def _flip(folder: Path, content: bytes) -> bool:
    file, at = _found(folder, content)
    if file is None:
        return False
    with file.open("r+b") as opened:
        opened.seek(at)
        before = opened.read(1)[0]
        opened.seek(at)
        opened.write(bytes([before ^ 1]))
    return True


def _cut(folder: Path, content: bytes) -> bool:
    file, at = _found(folder, content)
    if file is None or not _holds_nothing_else(file, content):
        return False
    with file.open("r+b") as opened:
        opened.truncate(at)
    return True


def _remove(folder: Path, content: bytes) -> bool:
    file, _ = _found(folder, content)
    if file is None or not _holds_nothing_else(file, content):
        return False
    file.unlink()
    return True


def _found(folder: Path, content: bytes) -> tuple[Path | None, int]:
    """The file in which the middle of a value is stored, and where."""
    trace = content[len(content) // 2 :][:TRACE]
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        at = file.read_bytes().find(trace)
        if at >= 0:
            return file, at
    return None, 0


def _holds_nothing_else(file: Path, content: bytes) -> bool:
    """Whether a file is the value's own, so that others do not suffer with it."""
    return file.stat().st_size < 2 * len(content)


_DAMAGES: dict[str, Callable[[Path, bytes], bool]] = {
    "with one bit changed": _flip,
    "cut short": _cut,
    "removed": _remove,
}

_PROMISES = (
    Promise("arrays", "arrays of every type but objects come back bit for bit", _arrays_breach),
    Promise("notes", "notes come back as they were", _notes_breach),
    Promise("large values", "a large value comes back", _large_breach),
    Promise("objects", "what would have to be unpickled is refused", _objects_breach),
    Promise("overwriting", "a value that is saved again replaces the first", _overwriting_breach),
    Promise("own copy", "what is stored changes with nothing outside", _own_copy_breach),
    Promise("missing", "a name that was never saved is a StoreError that says it", _missing_breach),
    Promise("discarding", "a value that is discarded is gone, and no other", _discard_breach),
    Promise("names", "names of any characters are listed by prefix, in order", _keys_breach),
    Promise("threads", "threads share it", _threads_breach),
    Promise("closing", "a block closes it, and a closed one refuses", _closing_breach),
    Promise("interruption", "a block closes it when it is interrupted", _interruption_breach),
)
_PROMISES_ON_DISK = (
    Promise("two handles", "two that are open in one place see each other's", _handles_breach),
    Promise("binding", "a value under another name is noticed", _binding_breach),
    Promise("damage", "a damaged value is noticed, and can be saved again", _damage_breach),
)
