"""Deep generators on a GPU: many fits in lockstep, one captured step replayed.

Run with ``PYTHONPATH=src:benchmarks python benchmarks/gpu/bench_deep_generators.py [FITS]``. Needs
torch with CUDA; tables are simulated. Every fit learns from 1,000 records with the default
settings and releases 1,000. Times are seconds by the clock, from tables to tables, after a small
call that starts the device. Distances are as in ``bench_generators.py``: of tables of two columns
to those of the data.
"""

import sys
import time

import numpy as np
import torch
from bench_generators import distances

from tapas.datasets import TabularDataset, load_sample
from tapas.generators import GaussianCopula, TableDiffusion, TableVAE

RECORDS, GOAL = 1000, 60.0


def stacked(
    generator: TableVAE | TableDiffusion, tables: list[TabularDataset]
) -> tuple[float, list[TabularDataset]]:
    start, released = time.perf_counter(), []
    for at in range(0, len(tables), generator.fits_at_once):
        some = tables[at : at + generator.fits_at_once]
        made = generator.run_stack(some, RECORDS, range(at, at + len(some)))
        released += [table for _, table in made]
    return time.perf_counter() - start, released


def main(fits: int) -> None:
    print(f"{torch.cuda.get_device_name()}, {fits:,} fits of {RECORDS:,} records (goal {GOAL:g} s)")
    print(
        f"{'table':9}{'generator':16}{'stack s':>9}{'one s':>8}{'ratio':>8}{'distance':>10}"
        f"{'copula':>8}"
    )
    for name in ("census", "clinic"):
        pool = load_sample(name, rows=5000)
        rng = np.random.default_rng(0)
        tables = [pool.take(rng.permutation(len(pool))[:RECORDS]) for _ in range(fits)]
        copula = np.mean(
            [distances(t, GaussianCopula()(t, RECORDS, random_state=0))[1] for t in tables[:3]]
        )
        for kind in (TableVAE, TableDiffusion):
            kind(steps=5, device="cuda").run_stack(tables[:2], 10, [0, 1])
            took, released = stacked(kind(device="cuda"), tables)
            alone, _ = stacked(kind(device="cuda", fits_at_once=1), tables[:2])
            again = kind(device="cuda").run_stack(tables[:128], RECORDS, range(128))
            same = all(
                a.table.same_values(b)
                for (_, a), b in zip(again, (r.table for r in released), strict=False)
            )
            off = np.mean([distances(t, r)[1] for t, r in zip(tables[:16], released, strict=False)])
            ratio = alone / 2 * fits / took
            print(
                f"{name:9}{kind.__name__:16}{took:>9.1f}{alone / 2:>8.2f}{ratio:>7.0f}x{off:>10.3f}"
                f"{copula:>8.3f}{'' if same else '  NOT THE SAME BITS TWICE'}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
