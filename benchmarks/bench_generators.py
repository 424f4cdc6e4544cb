"""Time the built-in generators and show how close their tables come to the data.

Run it with ``python benchmarks/bench_generators.py [TABLE.csv | TABLE.parquet]``. Without a table,
a simulated one is used.
"""

import math
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Generator
from tapas.generators._bayesian_network import BayesianNetwork
from tapas.generators._bootstrap import Bootstrap
from tapas.generators._cart import CartSynthesizer
from tapas.generators._copula import GaussianCopula
from tapas.generators._discretise import Bins
from tapas.generators._marginals import IndependentMarginals
from tapas.generators._smote import Smote

GENERATORS = (
    Bootstrap(),
    IndependentMarginals(),
    Smote(),
    GaussianCopula(),
    CartSynthesizer(),
    BayesianNetwork(),
)
MOST_SECONDS = {
    "Bootstrap": 0.01,
    "IndependentMarginals": 0.01,
    "GaussianCopula": 0.1,
    "CartSynthesizer": 0.4,
    "BayesianNetwork": 0.5,
}


def seconds(task: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several runs."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


def naive_marginals(data: TabularDataset, num_samples: int) -> TabularDataset:
    """Columns resampled through data frames."""
    frame = data.data
    columns = {
        name: frame[name].sample(num_samples, replace=True, random_state=i).to_numpy()
        for i, name in enumerate(frame.columns)
    }
    return TabularDataset(columns, data.description)


def binned(data: TabularDataset, like: TabularDataset, num_bins: int = 10) -> list[np.ndarray]:
    """Every column as small integers, with the bins that `like` has."""
    columns = []
    for column in data.description.parsed:
        values = data.table.column(column.name)
        if not column.is_coded:
            values = Bins.from_data(like.table.column(column.name), num_bins).encode(values)
        columns.append(values.astype(np.int64) + 1)
    return columns


def total_variation(first: np.ndarray, second: np.ndarray) -> float:
    size = max(first.max(), second.max()) + 1
    shares = [np.bincount(part, minlength=size) / len(part) for part in (first, second)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def distances(data: TabularDataset, release: TabularDataset) -> tuple[float, float]:
    """Mean total-variation distance of the marginals and of the tables of two columns."""
    real, made = binned(data, data), binned(release, data)
    sizes = [max(a.max(), b.max()) + 1 for a, b in zip(real, made, strict=True)]
    single = [total_variation(a, b) for a, b in zip(real, made, strict=True)]
    pairs = [
        total_variation(real[i] * sizes[j] + real[j], made[i] * sizes[j] + made[j])
        for i, j in combinations(range(len(sizes)), 2)
    ]
    return float(np.mean(single)), float(np.mean(pairs))


def run(generator: Generator, data: TabularDataset) -> TabularDataset:
    return generator.fit(data, random_state=0).generate(len(data), random_state=1)


def print_times(data: TabularDataset) -> None:
    twin = seconds(lambda: naive_marginals(data, len(data)), 5)
    columns = data.description.num_features
    print(f"fit and generate, {len(data):,} x {columns} records, one core")
    print(f"{'generator':36}{'ours':>12}{'allowed':>12}{'resampled frame / ours':>25}")
    for generator in GENERATORS:
        took = seconds(lambda g=generator: run(g, data), 5)
        allowed = MOST_SECONDS.get(type(generator).__name__)
        limit = "" if allowed is None else f"{allowed * 1e3:.0f} ms"
        print(f"{generator.label:36}{took * 1e3:9.2f} ms{limit:>12}{twin / took:>24.2f}x")


def print_growth(data: TabularDataset, sizes: list[int]) -> None:
    print(f"\nseconds to fit and generate as many records ({data.label})")
    print(f"{'generator':36}" + "".join(f"{size:>12,}" for size in sizes))
    for generator in GENERATORS:
        parts = [data.sample(size, random_state=0) for size in sizes]
        took = [seconds(lambda g=generator, p=part: run(g, p), 1) for part in parts]
        print(f"{generator.label:36}" + "".join(f"{t:>12.3f}" for t in took))


def print_utility(data: TabularDataset) -> None:
    print(f"\nmean total-variation distance to {len(data):,} records ({data.label})")
    print(f"{'generator':36}{'one column':>12}{'two columns':>13}{'copies':>9}")
    rows = {row.tobytes() for row in np.column_stack(exact_values(data))}
    for generator in GENERATORS:
        release = run(generator, data)
        single, pairs = distances(data, release)
        copies = np.mean([row.tobytes() in rows for row in np.column_stack(exact_values(release))])
        print(f"{generator.label:36}{single:>12.4f}{pairs:>13.4f}{copies:>9.1%}")


def exact_values(data: TabularDataset) -> list[np.ndarray]:
    columns = (data.table.column(name) for name in data.description.columns)
    return [np.nan_to_num(values.astype(np.float64), nan=-1e18) for values in columns]


def main(path: Path | None) -> None:
    clinic = load_sample("clinic", rows=1000).view(exclude_columns=["smoker"])
    print_times(clinic)
    for name in ("clinic", "census"):
        print_utility(load_sample(name, rows=1000))
    large = load_sample("census", rows=200_000) if path is None else TabularDataset.read(path)
    print_utility(large.sample(min(len(large), 20_000), random_state=0))
    print_growth(large, [size for size in (1_000, 10_000, 50_000, 200_000) if size <= len(large)])


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
