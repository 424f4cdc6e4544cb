"""CPU and memory of attacks on one released table, and how much each finds.

Run with ``python benchmarks/bench_files.py [ROWS]``: ROWS private records, as many that were not
used and as many released ones (interpolated between neighbours), of 15 mixed columns; 30,000 by
default. The last line is all attacks together.
"""

import resource
import sys
import time
import warnings

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
    print(f"{'all':<30} {total:>6.1f} s")


if __name__ == "__main__":
    main()
