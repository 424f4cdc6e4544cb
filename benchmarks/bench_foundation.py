"""Speed and memory of tables and trials, beside plain pandas twins in the same run.

Run with ``python benchmarks/bench_foundation.py [TABLE_PREFIX]``. TABLE_PREFIX names a table in
the documented format (e.g. 18 columns of hospital discharges); by default the simulated clinic.
"""

import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

ROWS = 20_000


def load() -> TabularDataset:
    source = TabularDataset.read(sys.argv[1]) if len(sys.argv) > 1 else load_sample("clinic")
    rows = np.random.default_rng(0).integers(0, len(source), ROWS)
    return source.take(rows, reset_index=True)


def best_of(function: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def naive_numeric(frame: pd.DataFrame, description: DataDescription) -> np.ndarray:
    """One column at a time, with get_dummies, as a script would."""
    blocks = []
    for column in description.parsed:
        values = frame[column.name]
        if column.is_one_hot:
            typed = pd.Categorical(values, categories=list(column.values or ()))
            blocks.append(pd.get_dummies(typed).to_numpy(dtype=float))
        elif column.values is not None:
            ranks = {value: rank for rank, value in enumerate(column.values)}
            blocks.append(values.map(ranks).to_numpy(dtype=float)[:, None])
        elif pd.api.types.is_datetime64_any_dtype(values):
            blocks.append(values.to_numpy().astype("datetime64[s]").astype(float)[:, None])
        else:
            blocks.append(values.to_numpy(dtype=float)[:, None])
    return np.concatenate(blocks, axis=1)


def naive_trials(frame: pd.DataFrame, target: pd.DataFrame, size: int, number: int) -> list:
    """Draw, add the target, sample: frames all the way."""
    rng = np.random.default_rng(0)
    releases = []
    for _ in range(number):
        private = frame.sample(size, random_state=int(rng.integers(2**32)))
        if rng.random() < 0.5:
            private = pd.concat([private, target])
        releases.append(private.sample(size, random_state=int(rng.integers(2**32))))
    return releases


def naive_contains(frame: pd.DataFrame, target: pd.DataFrame) -> bool:
    row = target.iloc[0]
    same = (frame == row) | (frame.isna() & row.isna())
    return bool(same.all(axis=1).any())


def threat_model(data: TabularDataset, target: TabularDataset, size: int) -> TargetedMIA:
    return TargetedMIA(
        AuxiliaryDataKnowledge(data, num_training_records=size, seed=0),
        target,
        BlackBoxKnowledge(Raw(), num_synthetic_records=size),
        seed=1,
        n_jobs=1,
    )


def row(name: str, ours: float, twin: float) -> None:
    print(f"{name:52s} {1e3 * ours:9.2f} {1e3 * twin:9.2f} {twin / ours:8.1f}x")


def main() -> None:
    warnings.simplefilter("ignore")
    data = load()
    target = data.get_records([0])
    frame, target_frame = data.copy().data, target.copy().data
    description = data.description
    print(f"{data}\n")
    print(f"{'CPU milliseconds, one core':52s} {'tapas':>9s} {'pandas':>9s} {'ratio':>9s}")

    for size in (1_000, 5_000):
        some, some_frame = data.take(np.arange(size)), frame.iloc[:size]
        ours = best_of(lambda some=some: some.copy().numeric())
        twin = best_of(lambda f=some_frame: naive_numeric(f, description))
        row(f"numeric form of an encoded table, {size} rows", ours, twin)
        validated = best_of(lambda f=some_frame: TabularDataset(f, description))
        row(f"validate, encode and turn numeric, {size} rows", validated + ours, twin)

    for size in (1_000, 5_000):
        ours = best_of(
            lambda size=size: threat_model(data, target, size).generate_training_samples(200), 3
        )
        twin = best_of(lambda size=size: naive_trials(frame, target_frame, size, 200), 3)
        row(f"200 trials of {size} rows", ours, twin)

    some, some_frame = data.take(np.arange(5_000)), frame.iloc[:5_000]
    ours = best_of(lambda: target in some, 20)
    twin = best_of(lambda: naive_contains(some_frame, target_frame), 5)
    row("is a record in a table of 5000 rows?", ours, twin)

    tracemalloc.start()
    model = threat_model(data, target, 5_000)
    model._generate_samples(1_000)
    held, _ = tracemalloc.get_traced_memory()
    one = frame.iloc[:5_000].reset_index(drop=True).memory_usage(deep=True).sum()
    print(
        f"\n1,000 remembered datasets of 5,000 rows: {held / 1e6:.0f} MB "
        f"({one * 1_000 / 1e6:.0f} MB as data frames)"
    )


if __name__ == "__main__":
    main()
