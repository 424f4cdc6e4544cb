"""Inputs that are not what they should be: a command, the files that it meets, its exit code."""

import gzip
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

Content = bytes | str | Callable[[Path], None]  # a function makes what is no plain file


@dataclass(frozen=True)
class Malformed:
    """A command that meets what it cannot use, or can only just use, and how it ends."""

    name: str
    command: tuple[str, ...]
    files: dict[str, Content] = field(default_factory=dict)
    code: int = 4
    needs: str = ""


TABLE = "age,town,height\n" + "".join(
    f"{20 + i},{'Bern' if i % 2 else 'Ulm'},{i * 1.5}\n" for i in range(40)
)
SCHEMA: list[dict[str, Any]] = [
    {"name": "age", "type": "countable", "representation": "integer"},
    {"name": "town", "type": "finite", "representation": ["Bern", "Ulm"]},
    {"name": "height", "type": "real", "representation": "number"},
]
BASE: dict[str, Any] = {
    "data": {"sample": "census", "rows": 60, "targets": {"random": 1}},
    "generator": "Raw",
    "attacks": ["ClosestDistanceMIA"],
    "knowledge": {"records": 10},
    "trials": {"train": 2, "test": 4},
    "controls": False,
}


def _changed(path: str, value: object) -> dict[str, Any]:
    """The base with one key, given by its dotted path, set to a value."""
    values: dict[str, Any] = json.loads(json.dumps(BASE))
    *above, last = path.split(".")
    place = values
    for step in above:
        if not isinstance(place.get(step), dict):
            place[step] = {}
        place = place[step]
    place[last] = value
    return values


WRONG_VALUES: dict[str, tuple[object, ...]] = {
    "title": (7, None, ["a"], "x" * 2000),
    "seed": (-1, 1.5, "one", None, True),
    "data": (None, [], "census", {}),
    "data.sample": ("nobody", 1, None),
    "data.rows": (0, -1, "many", 1.5, 10**30),
    "data.targets": ({}, {"rows": []}, {"rows": [10**9]}, {"rows": [-1]}, {"random": 0},
                     {"random": 10**6}, {"made": 1, "random": 1}, "all", {"rows": ["a"]}),
    "data.drop": ("Age", [1], [["a"]]),
    "data.schema": ("nowhere.json", 3),
    "data.holdout": ("nowhere.csv",),
    "data.table": ("nowhere.csv",),
    "data.read": ({"dates": 1}, {"decimal": ";"}, {"skip_rows": -1}, {"unknown": 1},
                  {"quote": "''"}, {"delimiter": ""}),
    "generator": (None, 5, [], "NoSuchGenerator", "no_such_module:Thing", "os:system", "json:",
                  ":", "a b:c", {"use": "Raw", "command": ["true"]}, {"command": []},
                  {"command": ["/no/such/program"]}, {"use": "Raw", "parameters": {"odd": 1}},
                  {"use": "Raw", "records": 0}, {"use": "PrivBayes", "parameters": {"epsilon": -1}},
                  {"use": "json:loads"}, "../evil:Thing", "math:pi"),
    "model": ({"use": "sklearn.tree:DecisionTreeClassifier", "class_column": "Sex"},),
    "knowledge": ({"data": "psychic"}, {"split": 1.0}, {"split": -0.1}, {"records": 0},
                  {"mechanism": "glass-box"}, {"records": 10**9}, []),
    "goal": ("telepathy", {"membership": {}, "attribute": {"column": "Sex"}},
             {"attribute": {"column": "NoSuch"}}, {"attribute": {}},
             {"attribute": {"column": "Sex", "values": ["only"]}},
             {"attribute": {"column": "Sex", "values": ["x", "y"]}},
             {"property": {"column": "Sex", "value": 1}}, {}),
    "attacks": ([], "ClosestDistanceMIA", ["NoSuchAttack"], [{"use": "LiRA"}], [7], [None],
                [{"use": "ClosestDistanceMIA", "parameters": {"criterion": "odd"}}],
                ["ClosestDistanceMIA", "ClosestDistanceMIA"],
                [{"use": "ClosestDistanceMIA", "label": "x" * 5000}]),
    "trials": ({"test": 0}, {"train": -1}, {"test": 4, "timeout": 0}, {"test": 4, "timeout": -2},
               {"test": 4, "max_failures": -1}, {"test": "all"}, 7,
               {"test": 4, "stop_early": {"every": 1}}, {"test": 4, "stop_early": {}},
               {"test": float("nan")}, {"test": 4, "timeout": float("nan")}),
    "claim": ({"epsilon": -1}, {"epsilon": float("nan")}, {"epsilon": 1, "delta": 1},
              {"epsilon": 1, "delta": -0.5}, {"delta": 0.1}, "epsilon"),
    "gates": ([{"metric": "auc"}], [{"metric": "beauty", "at_most": 1}], {"auc": 0.5}, ["auc"],
              [{"metric": "auc", "at_most": 2}], [{"metric": "auc", "at_most": float("inf")}],
              [{"metric": "auc", "at_most": float("nan")}], [{"metric": "auc", "at_most": "low"}],
              [{"metric": "tpr_at_fpr", "at_most": 0.1, "fpr": 2}],
              [{"metric": "auc", "at_most": 0.6, "confidence": 1.0}]),
    "subgroups": ("Sex", [1]),
    "controls": ("maybe", 3),
    "unknown_key": (1,),
    "release": ({"file": "nowhere.csv"},),
    "imported": ({"folder": "nowhere", "labels": "nowhere.csv"},),
}  # fmt: skip

YAML_TEXTS: dict[str, Content] = {
    "empty": "",
    "a scalar": "hello",
    "a list": "- 1\n- 2\n",
    "a tab": "data:\n\tsample: census\n",
    "an open bracket": "data: {sample: census\n",
    "an open quote": "title: 'x\n",
    "two documents": "data: {sample: census}\n---\ndata: {sample: clinic}\n",
    "a reference": "a: &a [1]\nb: *a\n",
    "laughs": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
    "a recursive reference": "a: &a [*a]\n",
    "a tag that builds": "title: !!python/object/apply:os.system ['touch ran']\n",
    "a tag that imports": "title: !!python/name:os.system\n",
    "an unknown tag": "title: !thing x\n",
    "a binary tag": "title: !!binary R0lGODlh!!\n",
    "a set": "!!set {a, b}\n",
    "deep": "[" * 500 + "]" * 500,
    "deep mappings": "{a: " * 400 + "1" + "}" * 400,
    "aliases of aliases": "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    + "title: *a11\n",
    "a key twice": "title: a\ntitle: b\n",
    "a key that is a list": "? [a, b]\n: 1\n",
    "a key that is a mapping": "? {a: b}\n: 1\n",
    "numbers as keys": "1: 2\n3: 4\n",
    "a merge": "<<: {data: {sample: census}}\n",
    "a null key": "? \n: 1\n",
    "no text": b"\xff\xfe\x00\x00\x01",
    "latin text": "title: Köln\n".encode("latin-1"),
    "a zero byte": "title: a\0b\n",
    "too large": "# " + "x" * 1_100_000,
    "a date": "title: 2020-01-01\n",
    "an impossible date": "title: 2020-99-99\n",
    "a huge number": "seed: " + "9" * 5000 + "\n",
    "an odd float": "seed: 1e999\n",
    "base sixty": "seed: 1:99:99\n",
    "a comment alone": "# nothing\n",
    "escape codes": 'title: "\\e[2J"\n',
    "a lone surrogate": 'title: "\\ud800"\n',
    "windows lines and a mark": b"\xef\xbb\xbfdata: 1\r\n",
}


def _parquet(columns: dict[str, list[Any]], cut: int = 0) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        buffer = io.BytesIO()
        pd.DataFrame(columns, index=[0, 1]).to_parquet(buffer)
        path.write_bytes(buffer.getvalue()[: len(buffer.getvalue()) - cut])

    return make


# Tables, by file name; those with code 0 are odd, and read nevertheless.
TABLES: dict[str, tuple[Content, int]] = {
    "empty.csv": ("", 4),
    "blank.csv": ("\n\n\n", 4),
    "header.csv": ("a,b,c\n", 4),
    "one_cell.csv": ("a", 4),
    "ragged.csv": ("a,b\n1,2\n3\n4,5,6\n", 4),
    "open_quote.csv": ('a,b\n1,"x\n2,y\n', 4),
    "zeros.csv": (b"a,b\n1,\x00\n2,3\n", 4),
    "only_zeros.csv": (b"\x00" * 4096, 4),
    "random.csv": (bytes(range(256)) * 20, 4),
    "elf.csv": (b"\x7fELF" + bytes(range(256)), 4),
    "twice.csv": ("a,a\n1,2\n3,4\n", 0),
    "no_name.csv": ("a,,c\n1,2,3\n4,5,6\n", 0),
    "long_name.csv": ("n" * 100_000 + ",b\n1,2\n3,4\n", 4),
    "many_columns.csv": (",".join(f"c{i}" for i in range(120)) + "\n" +
                         "\n".join(",".join("1" * 120) for _ in range(3)) + "\n", 0),
    "huge_cell.csv": ("a,b\n" + "x" * 300_000 + ",1\ny,2\n", 4),
    "missing_all.csv": ("a,b\n,\n,\n,\n", 0),
    "cut.csv.gz": (gzip.compress(TABLE.encode())[:-20], 4),
    "not_gzip.csv.gz": (TABLE, 4),
    "gzip_of_nothing.csv.gz": (gzip.compress(b""), 4),
    "not.parquet": (TABLE, 4),
    "cut.parquet": (_parquet({"a": [1, 2]}, cut=9), 4),
    "nested.parquet": (_parquet({"a": [[1, 2], [3]], "b": [{"c": 1}, {"c": 2}]}), 0),
    "no_columns.parquet": (_parquet({}), 4),
    "empty.parquet": ("", 4),
    "not.xlsx": (TABLE, 4),
    "zip.xlsx": (lambda p: zipfile.ZipFile(p, "w").close(), 4),
    "list.jsonl": ("[1, 2]\n[3, 4]\n", 4),
    "broken.jsonl": ('{"a": 1}\n{"a":\n', 4),
    "deep.jsonl": ('{"a": ' + "[" * 3000 + "]" * 3000 + "}\n", 4),
    "nested.jsonl": ('{"a": ' + "[" * 120 + "]" * 120 + "}\n", 4),
    "numbers.jsonl": ("1\n2\n", 4),
    "nan.jsonl": ('{"a": NaN, "b": 1}\n{"a": 1, "b": 2}\n', 0),
    "folder.csv": (lambda p: p.mkdir(), 4),
    "dangling.csv": (lambda p: p.symlink_to("nowhere"), 4),
    "unknown.xyz": (TABLE, 4),
    "no_ending": (TABLE, 4),
    "utf16.csv": (TABLE.encode("utf-16"), 0),
    "infinite.csv": ("a,b\ninf,1\n-inf,2\n1e400,3\n", 0),
    "huge_numbers.csv": ("a,b\n" + "9" * 400 + ",1\n1,2\n2,3\n", 0),
    "escape.csv": ("a\x1b[2J,b\n1,2\n3,4\n", 0),
    "formulas.csv": ("=1+1,b\n1,2\n3,4\n", 0),
}  # fmt: skip

SCHEMAS: dict[str, Content] = {
    "not json": "hello",
    "empty": "",
    "a number": "7",
    "null": "null",
    "a list of numbers": "[1, 2]",
    "an empty list": "[]",
    "an empty object": "{}",
    "deep": "[" * 100_000,
    "no names": json.dumps([{"type": "real"}]),
    "a name that is a number": json.dumps([{**SCHEMA[0], "name": 1}, *SCHEMA[1:]]),
    "a name twice": json.dumps([SCHEMA[0], SCHEMA[0]]),
    "an unknown type": json.dumps([{**SCHEMA[0], "type": "odd"}, *SCHEMA[1:]]),
    "a type that is a list": json.dumps([{**SCHEMA[0], "type": ["real"]}, *SCHEMA[1:]]),
    "an unknown representation": json.dumps([{**SCHEMA[0], "representation": "odd"}, *SCHEMA[1:]]),
    "no values": json.dumps([SCHEMA[0], {**SCHEMA[1], "representation": []}, SCHEMA[2]]),
    "values twice": json.dumps([SCHEMA[0], {**SCHEMA[1], "representation": ["a", "a"]}, SCHEMA[2]]),
    "values that are lists": json.dumps([SCHEMA[0], {**SCHEMA[1], "representation": [[1]]}]),
    "minus five values": json.dumps([SCHEMA[0], {**SCHEMA[1], "representation": -5}, SCHEMA[2]]),
    "other columns": json.dumps([{**one, "name": one["name"] * 2} for one in SCHEMA]),
    "fewer columns": json.dumps(SCHEMA[:1]),
    "more columns": json.dumps([*SCHEMA, {**SCHEMA[0], "name": "more"}]),
    "values that are not in the table": json.dumps(
        [SCHEMA[0], {**SCHEMA[1], "representation": ["x", "y"]}, SCHEMA[2]]
    ),
    "no text": b"\xff\xfe\xff",
    "a folder": lambda p: p.mkdir(),
    "not a number": '[{"name": "age", "type": "finite", "representation": NaN}]',
    "too many values": json.dumps([SCHEMA[0], {**SCHEMA[1], "representation": 10**12}, SCHEMA[2]]),
}

RECORD_KEYS = (
    "format", "version", "title", "question", "fingerprint", "seed", "claim", "gates",
    "provenance", "subjects",
)  # fmt: skip


def _index(statements: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as database, database:
            database.executescript(statements)

    return make


def _fifo(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir(parents=True)


FOLDERS: dict[str, dict[str, Content]] = {
    "an empty folder": {"run": _folder},
    "a file for a folder": {"run": "x"},
    "a record that is empty": {"run/record.json": ""},
    "a record of nothing": {"run/record.json": "{}"},
    "a record that is a list": {"run/record.json": "[]"},
    "a deep record": {"run/record.json": "[" * 100_000},
    "a record that is no text": {"run/record.json": b"\xff\xfe"},
    "a record that is a folder": {"run/record.json": _folder},
    "a record that is a pipe": {"run/record.json": _fifo},
    "a manifest that is a pipe": {"run/manifest.json": _fifo},
    "a manifest that is a list": {"run/manifest.json": "[]"},
    "a manifest of another version": {"run/manifest.json": '{"format": 99}'},
    "a deep manifest": {"run/manifest.json": "[" * 100_000},
    "a seal that is a pipe": {"run/seal.json": _fifo},
    "a history that is a pipe": {"run/history.jsonl": _fifo},
    "an index that is rubbish": {"run/index.sqlite": "rubbish" * 999},
    "an index that is empty": {"run/index.sqlite": ""},
    "an index that is a folder": {"run/index.sqlite": _folder},
    "an index that is a pipe": {"run/index.sqlite": _fifo},
    "an index of somebody else": {"run/index.sqlite": _index("CREATE TABLE t (x)")},
    "an index with a view": {
        "run/index.sqlite": _index("CREATE VIEW entries AS SELECT randomblob(1000000000) AS key")
    },
    "a link": {"run": lambda p: p.symlink_to("/"), "other": "x"},
}  # fmt: skip

USES: dict[str, tuple[str, ...]] = {
    "an unknown command": ("fly",),
    "no file": ("run",),
    "a file that is not there": ("run", "nowhere.yaml"),
    "a folder for a file": ("run", "."),
    "an unknown option": ("run", "audit.yaml", "--odd"),
    "words for a number": ("run", "audit.yaml", "--n-jobs", "many"),
    "no processes": ("run", "audit.yaml", "--n-jobs", "0"),
    "a file for the folder": ("run", "audit.yaml", "--folder", "audit.yaml"),
    "a folder below a file": ("run", "audit.yaml", "--folder", "audit.yaml/run"),
    "a folder that cannot be": ("run", "audit.yaml", "--folder", "/proc/nothing/run"),
    "a name that is too long": ("run", "audit.yaml", "--folder", "x" * 5000),
    "a zero byte in a name": ("run", "audit.yaml", "--folder", "a\0b"),
    "an address that is none": ("run", "audit.yaml", "--cluster", "nonsense"),
    "a plan of nothing": ("plan",),
    "a plan below nothing": ("plan", "--epsilon", "-1"),
    "a plan of no number": ("plan", "--epsilon", "nan"),
    "a plan with half a strength": ("plan", "--epsilon", "1", "--tpr", "0.5"),
    "a plan of certainty": ("plan", "--epsilon", "1", "--confidence", "1"),
    "a plan of no power": ("plan", "--epsilon", "1", "--power", "0"),
    "a plan of too much": ("plan", "--epsilon", "1", "--tpr", "2", "--fpr", "0"),
    "a release of nothing": ("release", "t.csv", "t.csv"),
    "a release of what is not there": ("release", "t.csv", "t.csv", "nowhere.csv"),
    "a release with other columns": ("release", "t.csv", "t.csv", "other.csv"),
    "a release with an odd share": ("release", "t.csv", "t.csv", "t.csv", "--known-share", "7"),
    "a release with an odd attack": ("release", "t.csv", "t.csv", "t.csv", "--attack", "Odd"),
    "a release with an odd limit": ("release", "t.csv", "t.csv", "t.csv", "--max-auc", "nan"),
    "a release with an odd seed": ("release", "t.csv", "t.csv", "t.csv", "--seed", "-1"),
    "an odd choice": ("init", "t.csv", "--read", "odd=1"),
    "a choice without a value": ("init", "t.csv", "--read", "dates"),
    "an odd kind": ("init", "t.csv", "--kind", "odd"),
    "a list of what there is not": ("list", "unicorns"),
    "a comparison of one": ("compare", "nowhere"),
    "a comparison of nothing": ("compare", "nowhere", "nowhere"),
    "a replay of none": ("verify", "nowhere", "--replay", "0"),
    "a replay of nothing": ("verify", "nowhere", "--replay", "3"),
    "a repair of nothing": ("repair", "nowhere"),
    "a view of nothing": ("view", "nowhere"),
}


def _of_audit_files() -> list[Malformed]:
    found = [
        Malformed(
            f"{path}: {str(value)[:70]}",
            ("check", "audit.yaml"),
            {"audit.yaml": yaml.safe_dump(_changed(path, value))},
        )
        for path, values in WRONG_VALUES.items()
        for value in values
    ]
    return found + [
        Malformed(f"YAML with {name}", ("check", "audit.yaml"), {"audit.yaml": text})
        for name, text in YAML_TEXTS.items()
    ]


def _of_tables() -> list[Malformed]:
    needs = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
    found = [
        Malformed(name, ("init", name), {name: text}, code, needs.get(Path(name).suffix, ""))
        for name, (text, code) in TABLES.items()
    ]
    audit = {**BASE, "data": {"table": "t.csv", "schema": "s.json", "targets": {"random": 1}}}
    return found + [
        Malformed(
            f"a schema with {name}",
            ("check", "audit.yaml"),
            {"audit.yaml": yaml.safe_dump(audit), "t.csv": TABLE, "s.json": text},
        )
        for name, text in SCHEMAS.items()
    ]


def _of_folders() -> list[Malformed]:
    commands = (("report", "run"), ("verify", "run"))
    found = [
        Malformed(f"{command[0]}: {name}", command, files)
        for name, files in FOLDERS.items()
        for command in commands
    ]
    return found


def _of_models() -> list[Malformed]:
    audit = {
        "data": {"table": "t.csv"},
        "model": {"file": "m.onnx", "class_column": "town"},
        "attacks": ["LossMIA"],
    }
    files: dict[str, Content] = {
        "rubbish": b"rubbish" * 50,
        "nothing": b"",
        "zeros": b"\0" * 500,
        "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",
        "lengths that run out": b"\x0a\xff\xff\xff\xff\x0f",
    }
    return [
        Malformed(
            f"a model of {name}",
            ("check", "audit.yaml"),
            {"audit.yaml": yaml.safe_dump(audit), "t.csv": TABLE, "m.onnx": content},
            needs="onnxruntime",
        )
        for name, content in files.items()
    ]


def _of_imports() -> list[Malformed]:
    audit = {**BASE, "data": {"table": "t.csv", "targets": {"rows": [0]}}}
    del audit["generator"], audit["knowledge"]
    labels = {
        "no rows": "file,phase,group,0\n",
        "no columns": "\n",
        "other columns": "a,b\n1,2\n",
        "an odd phase": "file,phase,group,0\nr.csv,dress,1,1\n",
        "files that are not there": "file,phase,group,0\nx.csv,test,1,1\n",
        "paths that lead out": "file,phase,group,0\n../t.csv,test,1,1\n",
        "a secret that is none": "file,phase,group,0\nr.csv,test,1,maybe\n",
        "a file twice": "file,phase,group,0\nr.csv,test,1,1\nr.csv,test,2,0\n",
        "a group that is none": "file,phase,group,0\nr.csv,test,,1\n",
    }
    return [
        Malformed(
            f"labels with {name}",
            ("check", "audit.yaml"),
            {
                "audit.yaml": yaml.safe_dump(
                    {**audit, "imported": {"folder": "made", "labels": "labels.csv"}}
                ),
                "t.csv": TABLE,
                "made/r.csv": TABLE,
                "labels.csv": text,
            },
        )
        for name, text in labels.items()
    ]


def _of_uses() -> list[Malformed]:
    files: dict[str, Content] = {
        "audit.yaml": yaml.safe_dump(BASE),
        "t.csv": TABLE,
        "other.csv": "x,y\n1,2\n3,4\n",
    }
    return [Malformed(name, command, files) for name, command in USES.items()]


def malformed() -> list[Malformed]:
    """All of them but records, which are made from one that is whole."""
    return [
        *_of_audit_files(), *_of_tables(), *_of_folders(), *_of_models(), *_of_imports(),
        *_of_uses(),
    ]  # fmt: skip


def write(place: Path, files: dict[str, Content]) -> None:
    """Put the files where a command meets them."""
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def spoilt_records(whole: str) -> dict[str, str]:
    """A record with one thing wrong in it each, whose digest was made to fit."""
    from tapas._spec import digest_of

    odd: list[object] = [None, 0, -1, "x", [], {}, [None], [[]], {"a": None}, True, 1e308]
    spoilt = {}
    rng = np.random.default_rng(7)
    for key in RECORD_KEYS:
        for value in odd:
            content = json.loads(whole)
            content.pop("digest")
            content[key] = value
            spoilt[f"{key} = {value!r}"] = json.dumps({**content, "digest": digest_of(content)})
    for path in (("question", "inputs"), ("question", "data"), ("provenance", "evidence")):
        for value in odd:
            content = json.loads(whole)
            content.pop("digest")
            content[path[0]][path[1]] = value
            spoilt[f"{path} = {value!r}"] = json.dumps({**content, "digest": digest_of(content)})
    content = json.loads(whole)
    places = list(_places(content["subjects"], ()))
    for position in rng.permutation(len(places))[:60]:
        content = json.loads(whole)
        content.pop("digest")
        *above, last = places[position]
        place = content["subjects"]
        for step in above:
            place = place[step]
        value = odd[int(rng.integers(len(odd)))]
        place[last] = value
        name = f"subjects{list(places[position])} = {value!r}"
        spoilt[name] = json.dumps({**content, "digest": digest_of(content)})
    return spoilt


def _places(value: Any, above: tuple[Any, ...]) -> Any:
    if isinstance(value, dict):
        for key in value:
            yield (*above, key)
            yield from _places(value[key], (*above, key))
    elif isinstance(value, list):
        for number in range(min(len(value), 3)):
            yield (*above, number)
            yield from _places(value[number], (*above, number))
