"""Folders and files that somebody made to harm whoever opens them."""

import gzip
import io
import json
import os
import pickle
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from tapas.engine._index import APPLICATION, LAYOUT, TABLE, entry_digest

Content = bytes | Callable[[], bytes]  # made where it is large
Make = Callable[[Path], None]  # in a folder with a whole run in `run`, and a folder `outside`

COMMANDS = {
    "run": ("run", "audit.yaml", "--folder", "run", "--n-jobs", "1", "--quiet"),
    "report": ("report", "run"),
    "verify": ("verify", "run"),
    "repair": ("repair", "run"),
    "compare": ("compare", "run", "run", "--output", "compared"),
    "check": ("check", "hostile.yaml"),
    "init": ("init", "hostile", "--output", "made.yaml"),
}
LINKS = (
    "record.json", "index.sqlite", "lock", "report.html", "manifest.json", "question.json",
    "history.jsonl", "seal.json", "errors.log", "progress.json", "entries", "index.sqlite-wal",
    "index.sqlite-shm", "people.csv", "exposure.csv",
)  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """What somebody made, the commands that meet it, and whether they may end well."""

    name: str
    make: Make
    commands: tuple[str, ...]
    refused: bool = True
    needs: str = ""


class Payload:
    """Touches a file where it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (Path("ran"),))


PICKLE = pickle.dumps(Payload())


def _link(name: str) -> Make:
    def make(place: Path) -> None:
        victim = place / "outside" / ("folder" if name == "entries" else "file")
        path = place / "run" / name
        if path.is_dir():
            path.rename(place / "entries-before")
        path.unlink(missing_ok=True)
        path.symlink_to(victim)

    return make


def _pipe(name: str) -> Make:
    """Somebody who opens it waits for ever."""

    def make(place: Path) -> None:
        (place / "run" / name).unlink(missing_ok=True)
        os.mkfifo(place / "run" / name)

    return make


def _endless(place: Path) -> None:
    with (place / "run" / "history.jsonl").open("ab") as file:
        file.truncate(1 << 32)


def _name_twice(place: Path) -> None:
    """The digest is that of what stands last."""
    path = place / "run" / "record.json"
    path.write_text(path.read_text().replace('"title"', '"title": "Pass", "title"', 1))


def _sql(statements: str) -> Make:
    """Run on the index of a whole run."""

    def make(place: Path) -> None:
        with closing(sqlite3.connect(place / "run" / "index.sqlite")) as index, index:
            index.executescript(statements)

    return make


def _new_index(statements: str) -> Make:
    """In the place of the index, with the marks of a store."""

    def make(place: Path) -> None:
        path = place / "run" / "index.sqlite"
        path.unlink()
        with closing(sqlite3.connect(path)) as index, index:
            index.executescript(statements)
            index.execute(f"PRAGMA application_id={APPLICATION}")
            index.execute(f"PRAGMA user_version={LAYOUT}")

    return make


def _entry(made: Content, file: str | None = None) -> Make:
    """A value of the store, whose digest fits; in a file of any name."""

    def make(place: Path) -> None:
        content = made() if callable(made) else made
        with closing(sqlite3.connect(place / "run" / "index.sqlite")) as index, index:
            key = index.execute("SELECT key FROM entries WHERE key LIKE 'games/%'").fetchone()[0]
            row = (entry_digest(key, content), len(content), None if file else content, file, key)
            index.execute("UPDATE entries SET digest=?, size=?, content=?, file=? WHERE key=?", row)

    return make


def _npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **arrays)
    return buffer.getvalue()


def _zip(compression: int, size: int, name: str = "notes.npy") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression, compresslevel=1) as packed:
        packed.writestr(name, b"\0" * size)
    return buffer.getvalue()


def _claims_more() -> bytes:
    """A member that claims a size which it has not."""
    whole = bytearray(_npz(notes=np.frombuffer(b"{}", dtype=np.uint8)))
    at = whole.rfind(b"PK\x01\x02")
    whole[at + 20 : at + 28] = (2**31 - 1).to_bytes(4, "little") * 2
    return bytes(whole)


def _file(name: str, made: Content | str) -> Make:
    def make(place: Path) -> None:
        content = made() if callable(made) else made
        (place / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return make


def _table(name: str, content: Content | str) -> Make:
    """A table that `init` is pointed to, by a name without its ending."""
    return _file(f"hostile{name}", content)


def _audit(text: str) -> Make:
    return _file("hostile.yaml", text)


def _built(**changes: object) -> Make:
    values = {
        "data": {"sample": "census", "rows": 40, "targets": {"random": 1}},
        "generator": "Raw",
        "attacks": ["ClosestDistanceMIA"],
        "knowledge": {"records": 8},
        "trials": {"train": 2, "test": 2},
    }
    return _audit(yaml.safe_dump({**values, **changes}))


def _with_files(first: Make, *others: Make) -> Make:
    def make(place: Path) -> None:
        for one in (first, *others):
            one(place)

    return make


def _record(**changes: object) -> Make:
    """The record of the run, changed, with a digest that fits."""

    def make(place: Path) -> None:
        from tapas._spec import digest_of

        path = place / "run" / "record.json"
        content = {**json.loads(path.read_text()), **changes}
        content.pop("digest")
        path.write_text(json.dumps({**content, "digest": digest_of(content)}))

    return make


TAGS = (
    "!!python/object/apply:os.system ['touch ran']",
    "!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['ran']]",
    "!!python/object/new:os.system ['touch ran']",
    "!!python/name:os.system",
    "!!python/module:os",
    "!!python/tuple [1, 2]",
    "!!python/object:tests.Payload {}",
    "!!python/object/apply:subprocess.check_output [[touch, ran]]",
    "!!python/bytes 'AAAA'",
)
SCRIPT = "<script>document.title='ran'</script><img src=x onerror=alert(1)>"


def hostile() -> list[Hostile]:
    """All of them."""
    whole = ("run", "report", "verify", "repair")
    found = [
        Hostile(f"a link for {name}, met by {command}", _link(name), (command,))
        for name in LINKS
        for command in whole
    ]
    found += [
        Hostile(f"a pipe for {name}", _pipe(name), whole)
        for name in ("record.json", "index.sqlite", "history.jsonl", "report.html", "other")
    ]
    found += [
        Hostile("a history without end", _endless, ("run", "report", "repair")),
        Hostile("a record with a name twice", _name_twice, ("report", "compare", "verify")),
    ]
    objects = {
        "a trigger": "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
        "a view": "CREATE VIEW v AS SELECT randomblob(2000000000) FROM entries",
        "another table": "CREATE TABLE more (x)",
        "an index": "CREATE INDEX i ON entries (digest)",
        "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(x)",
    }
    found += [
        Hostile(f"a store with {name}", _sql(sql), ("run", "verify"))
        for name, sql in objects.items()
    ]
    found += [
        Hostile(
            "a view in the place of values",
            _new_index("CREATE VIEW entries AS SELECT 1 AS key, randomblob(2000000000) AS content"),
            ("run", "verify", "repair"),
        ),
        Hostile(
            "a default that is computed",
            _new_index(TABLE.replace("file TEXT", "file TEXT DEFAULT (randomblob(2000000000))")),
            ("verify",),
        ),
    ]
    values: dict[str, Content] = {
        "a pickle": PICKLE,
        "objects": _npz(notes=np.array([Payload()], dtype=object)),
        "a bomb": lambda: _zip(zipfile.ZIP_DEFLATED, 200_000_000),
        "a claim of more than it holds": _claims_more(),
        "a name that leads out": _zip(zipfile.ZIP_STORED, 10, "../../outside/file"),
    }
    found += [
        Hostile(f"a value that is {name}", _entry(content), ("verify",))
        for name, content in values.items()
    ]
    found += [
        Hostile(f"a value in {file}", _entry(b"mine", file), ("verify", "repair"), refused=False)
        for file in ("../../outside/file", "/etc/hostname", "..", "../record.json")
    ]
    found += [Hostile(f"YAML: {tag}", _audit(f"title: {tag}\n"), ("check",)) for tag in TAGS]
    tables = {
        ".csv": PICKLE, ".parquet": PICKLE, ".jsonl": PICKLE, ".csv.gz": gzip.compress(PICKLE),
        ".json": PICKLE, ".xlsx": PICKLE, ".tsv": PICKLE, ".pkl": PICKLE, ".npz": PICKLE,
    }  # fmt: skip
    ends = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
    for ending, content in tables.items():
        found.append(
            Hostile(f"a pickle called {ending}", _table(ending, content), ("init",),
                    needs=ends.get(ending, ""))
        )  # fmt: skip
    found += [
        Hostile(
            "a bomb of text",
            _table(".csv.gz", lambda: gzip.compress(b"a,b\n" + b"1,2\n" * 35_000_000, 1)),
            ("init",),
        ),
        Hostile(
            "a bomb of sheets",
            _table(".xlsx", lambda: _zip(zipfile.ZIP_DEFLATED, 200_000_000, "xl/workbook.xml")),
            ("init",),
            needs="openpyxl",
        ),
    ]
    found += [
        Hostile("a schema that is a pickle", _with_files(
            _file("t.csv", "a,b\n1,2\n"), _file("s.json", PICKLE),
            _built(data={"table": "t.csv", "schema": "s.json"})), ("check",)),
        Hostile("a model that is a pickle", _with_files(
            _file("t.csv", "a,b\n" + "1,2\n3,4\n" * 20), _file("m.onnx", PICKLE),
            _audit(yaml.safe_dump({"data": {"table": "t.csv"}, "attacks": ["LossMIA"],
                                   "model": {"file": "m.onnx", "class_column": "b"}}))),
            ("check",), needs="onnxruntime"),
        Hostile("a program of this folder called like a generator",
                _with_files(_file("Raw", "#!/bin/sh\ntouch ran\n"), _built()), ("check",), False),
        Hostile("labels that lead out", _with_files(
            _file("t.csv", "a,b\n" + "1,2\n3,4\n" * 20),
            _file("labels.csv", "file,phase,group,0\n../outside/file,test,1,1\n"),
            _audit(yaml.safe_dump({"data": {"table": "t.csv", "targets": {"rows": [0]}},
                                   "imported": {"folder": "made", "labels": "labels.csv"}}))),
            ("check",)),
        Hostile("a record with a script", _record(title=SCRIPT), ("report", "compare"), False),
        Hostile("a record with escape codes", _record(title="\x1b]0;ran\x07\x1b[2J"),
                ("report", "compare"), False),
        Hostile("a record with a name that leads out", _record(fingerprint="../../outside/file"),
                ("run", "report"), False),
    ]  # fmt: skip
    return found
