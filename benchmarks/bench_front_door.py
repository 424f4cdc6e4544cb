"""CPU of `tapas init` and `tapas check`, each in a process of its own.

Run with ``python benchmarks/bench_front_door.py [ADULT_CSV]``: 200,000 simulated rows of 15 columns
(numbers, integers, categories, European dates; independent, so that no record has near
neighbours), and UCI Adult where its path is given. Bytecode is
made beforehand, as by an installation. The last line tells how fast the machine was meanwhile.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 200_000


def write_table(path: Path, rows: int) -> None:
    rng = np.random.default_rng(1)
    columns: dict[str, np.ndarray] = {}
    for number in range(6):
        columns[f"amount_{number}"] = rng.normal(50, 12, rows).round(2)
    for number in range(3):
        columns[f"count_{number}"] = rng.integers(0, 90, rows)
    for number in range(5):
        kinds = np.array([f"kind {kind}" for kind in range(3 + 4 * number)])
        columns[f"category_{number}"] = kinds[rng.integers(0, len(kinds), rows)]
    days = pd.date_range("2001-01-01", periods=3000).strftime("%d/%m/%Y").to_numpy()
    columns["day"] = days[rng.integers(0, len(days), rows)]
    pd.DataFrame(columns).to_csv(path, index=False)


def cpu(*arguments: str, folder: Path, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "tapas", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        measure(ROWS // 100, "simulated", environment)
        print_table(environment)
    start = time.process_time()
    sum(1 for _ in range(10_000_000))
    print(f"counting to ten million: {time.process_time() - start:.2f} s")


def print_table(environment: dict[str, str]) -> None:
    print(f"{'table':<12} {'init':>8} {'check':>8} {'both':>8}  (s CPU)")
    for name in ("simulated", *sys.argv[1:2]):
        init, check = measure(ROWS, name, environment)
        print(f"{Path(name).stem:<12} {init:>8.1f} {check:>8.1f} {init + check:>8.1f}", flush=True)


def measure(rows: int, name: str, environment: dict[str, str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = folder / "people.csv"
        if name == "simulated":
            write_table(table, rows)
        else:
            table.write_bytes(Path(name).read_bytes())
        return (
            cpu("init", "people.csv", folder=folder, environment=environment),
            cpu("check", "audit.yaml", folder=folder, environment=environment),
        )


if __name__ == "__main__":
    main()
