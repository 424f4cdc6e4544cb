"""CPU and memory of reading a CSV file: finding its dialect, describing its columns, encoding them.

Run with ``python benchmarks/bench_reading.py adult.csv [ROWS]``: the file repeated to a million
rows by default, once as it is and once with every cell in quotes, and as many rows of six columns
(numbers and identifiers) in which hardly a value occurs twice. Each line is a process of its own;
for comparison the same file as text by pandas, and as dictionaries by pyarrow (one thread), which
both stop short of describing and encoding it.
"""

import csv
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np

from tapas.datasets import TabularDataset


def ours(path: Path) -> None:
    TabularDataset.read(path)


def without_pyarrow(path: Path) -> None:
    sys.modules["pyarrow.csv"] = None  # type: ignore[assignment]
    TabularDataset.read(path)


def pandas_text(path: Path) -> None:
    import pandas as pd

    pd.read_csv(path, dtype=object, na_filter=False, low_memory=False)


def pyarrow_words(path: Path) -> None:
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = path.open().readline().strip().replace('"', "").split(",")
    words = pa.dictionary(pa.int32(), pa.string())
    arrow.read_csv(
        path,
        read_options=arrow.ReadOptions(use_threads=False),
        convert_options=arrow.ConvertOptions(column_types=dict.fromkeys(names, words)),
    ).unify_dictionaries()


READERS = {
    "tapas": ours,
    "tapas, no pyarrow": without_pyarrow,
    "pandas, as text": pandas_text,
    "pyarrow, as words": pyarrow_words,
}


def measure(reader: str, path: Path) -> None:
    start = time.process_time()
    READERS[reader](path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {reader:20s} {time.process_time() - start:6.2f} s CPU {memory:8.0f} MB", flush=True)


def all_different(rows: int) -> Iterator[list[object]]:
    rng = np.random.default_rng(0)
    reals = rng.normal(size=(rows, 3)).tolist()
    whole = rng.integers(10**9, size=(rows, 2)).tolist()
    names = rng.integers(rows, size=rows).tolist()
    for real, number, name in zip(reals, whole, names, strict=True):
        yield [*real, *number, f"p{name}"]


def compare(path: Path, what: str, rows: Iterable[list[object]], quoting: int) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator="\n")
        writer.writerows(rows)
    print(f"{what}, {path.stat().st_size / 1e6:.0f} MB", flush=True)
    for reader in READERS:
        subprocess.run([sys.executable, __file__, "--one", reader, path], check=True)


def main(source: Path, rows: int) -> None:
    with source.open(newline="") as file:
        header, *records = csv.reader(file)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "table.csv"
        for words, quoting in (("plain", csv.QUOTE_MINIMAL), ("quoted", csv.QUOTE_ALL)):
            what = f"{rows:,} rows of {len(header)} columns, {words}"
            compare(path, what, [header, *islice(cycle(records), rows)], quoting)
        names = ["x", "y", "z", "first", "second", "person"]
        what = f"{rows:,} rows of {len(names)} columns, all different"
        compare(path, what, [names, *all_different(rows)], csv.QUOTE_MINIMAL)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
