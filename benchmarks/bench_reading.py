"""CPU and memory of reading a CSV file: finding its dialect, describing its columns, encoding them.

Run with ``python benchmarks/bench_reading.py adult.csv [ROWS]``: the file repeated to a million
rows by default, once as it is and once with every cell in quotes. Each line is a process of its
own; for comparison the same file as text by pandas, and as dictionaries by pyarrow (one thread),
which both stop short of describing and encoding it.
"""

import csv
import resource
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from tapas.datasets import DataDescription, TabularDataset, read_file


def ours(path: Path) -> None:
    frame = read_file(path).frame
    TabularDataset(frame, DataDescription.infer(frame))


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


READERS = {"tapas": ours, "pandas, as text": pandas_text, "pyarrow, as words": pyarrow_words}


def measure(reader: str, path: Path) -> None:
    start = time.process_time()
    READERS[reader](path)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {reader:20s} {time.process_time() - start:6.2f} s CPU {memory:8.0f} MB", flush=True)


def main(source: Path, rows: int) -> None:
    with source.open(newline="") as file:
        header, *records = csv.reader(file)
    with tempfile.TemporaryDirectory() as place:
        for words, quoting in (("plain", csv.QUOTE_MINIMAL), ("quoted", csv.QUOTE_ALL)):
            path = Path(place) / f"{words}.csv"
            with path.open("w", newline="") as file:
                writer = csv.writer(file, quoting=quoting, lineterminator="\n")
                writer.writerows([header, *islice(cycle(records), rows)])
            size = path.stat().st_size / 1e6
            print(f"{rows:,} rows of {len(header)} columns, {words}, {size:.0f} MB", flush=True)
            for reader in READERS:
                subprocess.run([sys.executable, __file__, "--one", reader, path], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
