"""Every reader, fed with damaged files: they are read, or refused with an error of ours.

A few examples each, always the same, by default; ``TAPAS_FUZZ_SECONDS=3600 pytest tests/fuzz``
looks for so long, at others each time. What it finds becomes a row of ``tests/cli/malformed.py``.
"""

import contextlib
import gzip
import io
import json
import os
import random
import time
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tapas.audit._config import read_audit_file
from tapas.audit._seal import broken_seal
from tapas.datasets import DataDescription, TabularDataset, load_sample, read_table, write_table
from tapas.engine import Entry, FolderStore, damaged_entries
from tapas.errors import TapasError
from tapas.results import AttackSummary, AuditRecord, MIAttackSummary, read_history
from tapas.threat_models import PredictionsMIA

SECONDS = float(os.environ.get("TAPAS_FUZZ_SECONDS", "0"))
EXAMPLES = 12
PIECES = [
    b"", b"\x00", b"\xff\xfe", b"\n", b'"', b"'", b",", b";", b"{", b"}", b"[", b"]", b": ", b"- ",
    b"null", b"NaN", b"1e999", b"-1", b"99999999999999999999", b"true", b"*a", b"&a",
    b"!!python/x ",
    b"<<: ", b"\\ud800", b"%d.%m", b"=1+1", b"2020-02-30", b"\x1b[2J", b"[" * 50, b"\x80\x04.",
]  # fmt: skip

Operation = tuple[str, float, float, bytes]


def _changed(content: bytes, operations: list[Operation]) -> bytes:
    """Cut, repeat, overwrite, insert; places are shares of the length."""
    for kind, start, length, piece in operations:
        at = int(start * len(content))
        end = min(len(content), at + 1 + int(length * 40))
        if kind == "cut":
            content = content[:at]
        elif kind == "remove":
            content = content[:at] + content[end:]
        elif kind == "repeat":
            content = content[:end] + content[at:]
        elif kind == "flip" and content:
            at = min(at, len(content) - 1)
            content = (
                content[:at] + bytes([content[at] ^ 1 << int(length * 8) % 8]) + content[at + 1 :]
            )
        elif kind == "insert":
            content = content[:at] + piece + content[at:]
        elif kind == "overwrite":
            content = content[:at] + piece + content[at + len(piece) :]
    return content


KINDS = ["cut", "remove", "repeat", "flip", "flip", "insert", "insert", "overwrite"]
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.floats(0, 1),
        st.floats(0, 1),
        st.one_of(st.sampled_from(PIECES), st.binary(max_size=8)),
    ),
    min_size=1,
    max_size=5,
)

TABLE = load_sample("clinic", 12)
CSV = TABLE.data.to_csv(index=False).encode()
YAML = b"""\
title: "A title"
seed: 3
data: {sample: census, rows: 60, targets: {random: 1}, read: {dates: day-first}}
generator: {use: Raw, parameters: {}, records: 10}
knowledge: {data: auxiliary, split: 0.5, records: 10}
goal: {membership: {pairs: true}}
attacks: [ClosestDistanceMIA, {use: GroundhogAttack, label: other}]
trials: {train: 2, test: 4, timeout: 60, stop_early: {width: 0.1}}
controls: false
claim: {epsilon: 1.0}
gates: [{metric: auc, at_most: 0.7}]
"""


def _parquet(frame: pd.DataFrame) -> bytes:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def _summary() -> MIAttackSummary:
    rng = np.random.default_rng(0)
    truth = np.arange(20) % 2
    scores = rng.normal(size=20) + truth
    return MIAttackSummary(truth, scores > 0.5, scores, generator_info="g", attack_info="a")


def _record() -> bytes:
    from tapas.results import AuditedSubject, Claim, Copies, Gate

    half = AuditedSubject("g", summaries=(_summary(),), records={"row": list(range(20))})
    subject = AuditedSubject(
        "g",
        summaries=(_summary(),),
        trials={"train": 1, "test": 20},
        copies=Copies(4, 1, 4, 0, 0.5, 0, 0, 0.5, (2,), (0,), ("",), ("b",)),
        other_half=half,
    )
    record = AuditRecord("t", {"a": 1}, "f" * 32, 1, (subject,), Claim(1.0), (Gate("auc", 0.7),))
    return record.to_json().encode()


def _store_bytes(folder: Path) -> bytes:
    with FolderStore(folder) as store:
        for number in range(4):
            entry = Entry({"a": np.arange(5.0) + number}, {"number": number})
            store.save(f"games/g/test/{number:06d}/seen", entry)
    return (folder / "index.sqlite").read_bytes()


def _npz(folder: Path) -> bytes:
    write_table(folder / "t.npz", TABLE.table, {"a": 1})
    return (folder / "t.npz").read_bytes()


def _predictions() -> bytes:
    buffer, rng = io.BytesIO(), np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), 12)
    labels, members = rng.integers(0, 3, 12), np.arange(12) % 2
    np.savez(buffer, scores=scores, labels=labels, members=members)
    return buffer.getvalue()


def _excel(frame: pd.DataFrame) -> bytes:
    pytest.importorskip("openpyxl", reason="Excel files need openpyxl")
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    return buffer.getvalue()


def _onnx() -> bytes:
    pytest.importorskip("onnxruntime", reason="ONNX files need onnxruntime")
    onnx = pytest.importorskip("onnx", reason="the file to damage is made by onnx")
    helper, number = onnx.helper, onnx.TensorProto
    weights = helper.make_tensor("w", number.FLOAT, [3, 2], np.ones(6, dtype=np.float32))
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["z"]),
        helper.make_node("Softmax", ["z"], ["probabilities"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", number.FLOAT, [None, 3])],
        [helper.make_tensor_value_info("probabilities", number.FLOAT, [None, 2])],
        [weights],
    )
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def _read_onnx(path: Path) -> object:
    from tapas.models import OnnxModel

    return OnnxModel(path).predict_proba(np.ones((2, 3), dtype=np.float32))


def _read_store(path: Path) -> None:
    damaged_entries(path.parent)
    with closing(FolderStore(path.parent)) as store:
        for key in list(store.keys()):
            store.load(key)


# By name: what a file of this kind holds, what it is called, and who reads it.
Reader = tuple[Callable[[Path], bytes], str, Callable[[Path], object]]
READERS: dict[str, Reader] = {
    "CSV": (lambda _: CSV, "t.csv", TabularDataset.read),
    "CSV, compressed": (lambda _: gzip.compress(CSV, mtime=0), "t.csv.gz", TabularDataset.read),
    "JSON lines": (
        lambda _: TABLE.data.to_json(orient="records", lines=True, date_format="iso").encode(),
        "t.jsonl",
        TabularDataset.read,
    ),
    "Parquet": (lambda _: _parquet(TABLE.data), "t.parquet", TabularDataset.read),
    "Excel": (lambda _: _excel(TABLE.data), "t.xlsx", TabularDataset.read),
    "predictions": (lambda _: _predictions(), "p.npz", PredictionsMIA.read),
    "schema": (
        lambda _: json.dumps(TABLE.description.schema).encode(),
        "s.json",
        DataDescription.from_json,
    ),
    "YAML": (lambda _: YAML, "audit.yaml", read_audit_file),
    "record": (lambda _: _record(), "record.json", AuditRecord.load),
    "summary": (lambda _: _summary().to_json().encode(), "s.json", AttackSummary.from_json),
    "store": (_store_bytes, "index.sqlite", _read_store),
    "entry": (
        lambda _: Entry({"a": np.arange(6).reshape(2, 3)}, {"b": [1]}).to_bytes(),
        "e.npz",
        lambda path: _entry(path.read_bytes()),
    ),
    "table in npz": (_npz, "t.npz", lambda path: read_table(path, TABLE.description.parsed)),
    "history": (
        lambda _: b'{"finished": null, "before": ""}\n',
        "history.jsonl",
        lambda path: read_history(path.parent),
    ),
    "seal": (lambda _: b'{"files": {"a": "b"}, "digest": "c"}', "seal.json",
             lambda path: broken_seal(path.parent)),
    "ONNX": (lambda _: _onnx(), "m.onnx", _read_onnx),
}  # fmt: skip


def _entry(content: bytes) -> None:
    """Of a store, which says of whatever goes wrong that the entry is damaged."""
    try:
        Entry.from_bytes(content)
    except MemoryError:
        raise
    except Exception:
        return


# What an hour of looking found: by reader, where bytes were changed.
FOUND: list[tuple[str, list[Operation]]] = [
    ("JSON lines", [("insert", 0.5, 0.0, b"\\ud800")]),
    ("Parquet", [("flip", 0.6218876082752999, 0.0, b"")]),
    ("Parquet", [("flip", 0.6171875, 0.0, b"")]),
    ("Parquet", [("flip", 0.6875, 0.0, b"")]),
    ("Parquet", [("flip", 0.0859375, 0.875, b"")]),
    ("store", [("insert", 0.318359375, 0.0, b"\x80")]),
    ("table in npz", [("flip", 0.9392585647243457, 0.0, b"")]),
    ("predictions", [("flip", 0.95, 0.0, b"")]),
]


@pytest.mark.parametrize(("name", "operations"), FOUND)
def test_what_was_found_is_read_or_refused_now(
    name: str, operations: list[Operation], tmp_path: Path
) -> None:
    make, file, read = READERS[name]
    (tmp_path / "whole").mkdir()
    whole = make(tmp_path / "whole")
    (tmp_path / file).write_bytes(_changed(whole, operations))
    with contextlib.suppress(TapasError):
        read(tmp_path / file)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    make, file, read = READERS[name]
    (tmp_path / "whole").mkdir()
    whole, path = make(tmp_path / "whole"), tmp_path / file

    words: set[str] = set()

    def check(operations: list[Operation]) -> None:
        path.write_bytes(_changed(whole, operations))
        for beside in ("index.sqlite-wal", "index.sqlite-shm"):
            (tmp_path / beside).unlink(missing_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(path)
            except TapasError as error:
                words.add(str(error))

    path.write_bytes(whole)
    read_or_refused = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    read_or_refused(given(OPERATIONS)(check))()
    assert "" not in words
    end = time.monotonic() + SECONDS / len(READERS)
    while time.monotonic() < end:
        longer = settings(read_or_refused, max_examples=300, derandomize=False)
        seed(random.getrandbits(64))(longer(given(OPERATIONS)(check)))()
