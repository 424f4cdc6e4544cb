"""CPU and memory of attacks on one released table, and how much each finds.

Run with ``python benchmarks/bench_files.py [ROWS]``: ROWS private records, as many that were not
used and as many released ones (interpolated between neighbours), of 15 mixed columns; 30,000 by
default. After a line for each attack and one for all together comes the whole command, ``tapas
release`` on CSV files, from reading them to the page: with its attacks by default, and with its
two control tables beside them.
"""

import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pandas as pd

from tapas.attacks import (
    DOMIAS,
    ClosestDistanceMIA,
    InferenceAttack,
    LinkabilityAttack,
    LocalNeighboursWithReference,
    RecordEnsembleAttack,
    SinglingOutAttack,
)
from tapas.datasets import TabularDataset, load_sample
from tapas.generators import Smote
from tapas.threat_models import ObservedMIA

ATTACKS = (
    RecordEnsembleAttack,
    ClosestDistanceMIA,
    DOMIAS,
    SinglingOutAttack,
    LinkabilityAttack,
    InferenceAttack,
    LocalNeighboursWithReference,
)


def table(rows: int) -> TabularDataset:
    """Fifteen columns: hospital stays, and four columns about households."""
    parts = [load_sample(name, rows).data.reset_index(drop=True) for name in ("clinic", "census")]
    return TabularDataset.from_dataframe(pd.concat([parts[0], parts[1].iloc[:, :4]], axis=1))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def whole_command(tables: dict[str, TabularDataset]) -> None:
    """CPU and peak memory of ``tapas release`` on the same tables as files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.csv" for name in tables]
        for file, table in zip(files, tables.values(), strict=True):
            table.data.to_csv(file, index=False)
        for words, more in (("no controls", ["--no-controls"]), ("with controls", [])):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            out = ["--folder", str(Path(folder) / words.replace(" ", "-"))]
            command = [sys.executable, "-m", "tapas", "release", *map(str, files), *more, *out]
            told = subprocess.run(command, capture_output=True, text=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if told.returncode not in {0, 1}:
                sys.exit(told.stderr)
            taken = sum(getattr(after, n) - getattr(before, n) for n in ("ru_utime", "ru_stime"))
            most = after.ru_maxrss / 1024
            print(f"tapas release, {words:<15} {taken:>6.1f} s  peak {most:.0f} MB", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    data = table(2 * rows)
    members, others = data.take(range(rows)), data.take(range(rows, 2 * rows))
    released = Smote()(members, rows, random_state=0)
    print(f"{rows} private, unused and released records, {len(data.description.columns)} columns")
    total = 0.0
    for make in ATTACKS:
        attack = make()
        game = ObservedMIA(released, members, others, seed=0)
        start = time.process_time()
        attack.train(game)
        summary = game.test(attack)
        taken = time.process_time() - start
        total += taken
        words = f"AUC {summary.auc:.3f}, advantage {summary.mia_advantage:.3f}"
        print(f"{make.__name__:<30} {taken:>6.1f} s  {words}  peak {peak():.0f} MB", flush=True)
    print(f"{'all':<30} {total:>6.1f} s", flush=True)
    whole_command({"private": members, "holdout": others, "released": released})


if __name__ == "__main__":
    main()
