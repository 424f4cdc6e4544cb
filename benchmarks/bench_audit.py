"""A whole audit on a table of 50,000 rows: time on one core and on all, memory by number of trials.

Run with ``python benchmarks/bench_audit.py [TABLE.csv] [TRIALS]``; by default a simulated table and
1,000 trials (half for training). Every figure comes from a process of its own.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROWS = 50_000


def one_run(table: str, trials: int, n_jobs: int) -> None:
    """Runs in a process of its own: audit, then print seconds and memory."""
    from tapas.attacks import ClosestDistanceMIA, GroundhogAttack
    from tapas.audit import Audit
    from tapas.datasets import TabularDataset, load_sample
    from tapas.generators import IndependentMarginals
    from tapas.threat_models import BlackBoxKnowledge, ExactDataKnowledge, TargetedMIA

    data = load_sample("clinic", ROWS) if table == "-" else TabularDataset.read(table)
    target, data = data.get_records([0]), data.drop_records([0])
    threat_model = TargetedMIA(
        ExactDataKnowledge(data),
        target,
        BlackBoxKnowledge(IndependentMarginals(), num_synthetic_records=1_000),
        seed=1,
    )
    audit = Audit(threat_model, [ClosestDistanceMIA(), GroundhogAttack()], trials // 2, trials // 2)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        record = audit.run(folder, n_jobs=n_jobs)
        seconds = time.perf_counter() - start
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    scores = [round(float(summary.auc), 6) for summary in record.subjects[0].summaries]
    print(json.dumps([len(data), seconds, max(here, workers) / 1024, scores]))


def measure(table: str, trials: int, n_jobs: int) -> list:
    command = [sys.executable, __file__, "--one", table, str(trials), str(n_jobs)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def main() -> None:
    table = sys.argv[1] if len(sys.argv) > 1 else "-"
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    cores = os.cpu_count() or 1
    print(f"{'trials':>7s} {'processes':>10s} {'seconds':>8s} {'per trial':>10s} {'peak MB':>8s}")
    seen = {}
    for number, n_jobs in ((trials // 5, cores), (trials, cores), (trials, 1)):
        rows, seconds, memory, scores = measure(table, number, n_jobs)
        seen[number, n_jobs] = seconds, memory, scores
        print(
            f"{number:7d} {n_jobs:10d} {seconds:8.1f} {1e3 * seconds / number:8.1f}ms {memory:8.0f}"
        )
    few, many, one = seen.values()
    print(f"\n{rows + 1} rows; {cores} processes are {one[0] / many[0]:.2f}x as fast as one")
    print(f"same results on one and on {cores}: {one[2] == many[2]}")
    print(f"peak memory with 5x the trials: {many[1] / few[1]:.2f}x")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
