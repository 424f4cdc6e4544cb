"""Speed and utility of the differentially private generators, one core.

    python benchmarks/bench_dp_generators.py [--rows 1000 10000 200000] [--epsilon 1]

Times are the best of some repeats of fit + generate (as many records as were fitted), as a ratio to
a bootstrap of the same table in the same run. Distances are mean total-variation distances of
one-way and two-way tables over the declared cells, beside those of the bootstrap.
"""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from itertools import combinations

import numpy as np

from tapas.datasets import load_sample
from tapas.generators._domain import Domain
from tapas.generators._mst import MST
from tapas.generators._noise import discrete_gaussian, discrete_laplace
from tapas.generators._noisy_marginals import NoisyMarginals
from tapas.generators._privbayes import PrivBayes
from tapas.generators._tables import count_cells

BOUNDS = {
    "triage time": ("2023-01-01", "2025-01-01"),
    "age": (0, 110),
    "length of stay": (0, 60),
    "charge": (0, 50_000),
    "temperature": (34, 42),
}


class Bootstrap:
    """The records themselves, drawn with replacement: no privacy, nearly no distance."""

    def fit(self, dataset, random_state=None):
        self.dataset = dataset
        return self

    def generate(self, size, random_state=None):
        rows = np.random.default_rng(random_state).integers(len(self.dataset), size=size)
        return self.dataset.take(rows, reset_index=True)

    def __str__(self):
        return "bootstrap"


def mean_distance(domain, own, made, width):
    """Mean total-variation distance of all tables of `width` columns."""
    distances = []
    for columns in combinations(range(len(domain.sizes)), width):
        sizes = [domain.sizes[i] for i in columns]
        tables = [count_cells(c[list(columns)], sizes) / c.shape[1] for c in (own, made)]
        distances.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(distances))


def measure(generator, data, domain, repeats):
    seconds = []
    for repeat in range(repeats):
        start = time.process_time()
        generator.fit(data, random_state=repeat)
        made = generator.generate(len(data), random_state=repeat)
        seconds.append(time.process_time() - start)
    own, copy = domain.cells_of(data), domain.cells_of(made)
    return min(seconds), mean_distance(domain, own, copy, 1), mean_distance(domain, own, copy, 2)


def naive_laplace(scale, size, rng):
    """The same distribution, one draw at a time: the difference of two geometric numbers."""
    share = 1 - np.exp(-1 / scale)
    return [int(rng.geometric(share)) - int(rng.geometric(share)) for _ in range(size)]


def noise_table(size):
    rng = np.random.default_rng(0)
    rows = [
        ("discrete Laplace, exact, vectorised", lambda: discrete_laplace(10.0, size, rng)),
        ("discrete Gaussian, exact, vectorised", lambda: discrete_gaussian(200.0, size, rng)),
        ("difference of geometrics, one by one", lambda: naive_laplace(10.0, size, rng)),
    ]
    print(f"\n{size:,} draws of noise{'CPU ms':>28}")
    for name, draw in rows:
        start = time.process_time()
        draw()
        print(f"{name:<38}{1e3 * (time.process_time() - start):>10.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 200_000])
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    for rows in options.rows:
        data = load_sample("clinic", rows=rows, seed=1).view(exclude_columns=["admitted"])
        domain = Domain.declared(data, bounds=BOUNDS)
        print(f"\n{rows:,} rows x {len(domain.sizes)} columns, epsilon {options.epsilon:g}")
        print(f"{'generator':<36}{'CPU ms':>10}{'ratio':>8}{'1-way TV':>10}{'2-way TV':>10}")
        generators = [
            Bootstrap(),
            NoisyMarginals(options.epsilon, bounds=BOUNDS),
            PrivBayes(options.epsilon, bounds=BOUNDS),
            MST(options.epsilon, 1e-6, bounds=BOUNDS),
        ]
        baseline = None
        for generator in generators:
            taken, one, two = measure(generator, data, domain, 5 if rows <= 10_000 else 2)
            baseline = baseline or max(taken, 1e-6)
            ratio = taken / baseline
            print(f"{generator!s:<36}{1e3 * taken:>10.1f}{ratio:>8.1f}{one:>10.4f}{two:>10.4f}")
    noise_table(20_000)


if __name__ == "__main__":
    main()
