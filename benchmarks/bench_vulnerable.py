"""CPU and memory of choosing the most isolated and the rarest records, beside comparing all pairs.

Run with ``python benchmarks/bench_vulnerable.py [ADULT_CSV]``: simulated tables of growing size,
and UCI Adult where its path is given. All pairs are compared where that takes less than minutes.
"""

import resource
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from tapas.datasets import TabularDataset, load_sample, most_isolated, most_rare, record_isolation

LARGEST_OF_ALL_PAIRS = 20_000


def tables() -> Iterator[TabularDataset]:
    if len(sys.argv) > 1:
        yield TabularDataset.read(sys.argv[1], "adult")
    for sample in ("census", "clinic"):
        for rows in (20_000, 50_000, 200_000):
            yield load_sample(sample, rows)


def cpu(function: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def main() -> None:
    print("table        rows     k   most_isolated   all pairs   most_rare   peak MB")
    for data in tables():
        for k in (2, 50):
            seconds, fast = cpu(lambda data=data, k=k: most_isolated(data, k))
            slow = ""
            if len(data) <= LARGEST_OF_ALL_PAIRS:
                taken, all_of_them = cpu(lambda data=data: record_isolation(data))
                equal = np.array_equal(fast, np.argsort(-all_of_them, kind="stable")[:k])
                slow = f"{taken:.1f} s {'=' if equal else 'DIFFERENT'}"
            rare, _ = cpu(lambda data=data, k=k: most_rare(data, k))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{data.label:<10} {len(data):>6} {k:>5} {seconds:>13.2f} s {slow:>11} "
                f"{rare:>9.2f} s {peak:>9.0f}"
            )


if __name__ == "__main__":
    main()
