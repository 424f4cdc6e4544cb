"""What a cluster costs: bytes sent for each trial, work of the client, and what workers add.

Run with ``python benchmarks/bench_cluster.py [ROWS ...] [--forests N]`` where Dask is installed. A
scheduler and two workers are started on this machine; bytes are those that the client sends to the
scheduler. At the end N shadow forests (256), which a client that held them all would feel: once on
two processes of its own, once on the cluster.
"""

import argparse
import json
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from distributed import Client

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "cli"))

from dask_cluster import Cluster

from tapas.attacks import ClosestDistanceMIA, LiRA
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, ModelMIA, TargetedMIA

TRIALS, FEWER, SECONDS_PER_TRIAL = 400, 100, 0.05
FORESTS, TREES, RECORDS = 256, 100, 2_000


class Sleeping(Raw):
    """A mechanism that takes its time."""

    def __call__(self, dataset, num_samples=None, random_state=None):  # type: ignore[no-untyped-def]
        time.sleep(SECONDS_PER_TRIAL)
        return super().__call__(dataset, num_samples, random_state)


def warm() -> None:
    """Have a worker import what it needs."""
    play(2_000, None, 2)


def play(rows: int, executor: object, number: int = TRIALS) -> np.ndarray:
    people = load_sample("census", rows)
    knows = AuxiliaryDataKnowledge(people.drop_records([0]), num_training_records=500, seed=0)
    box = BlackBoxKnowledge(Sleeping(), 500)
    game = TargetedMIA(knows, people.take([0]), box, seed=1, executor=executor)
    return np.asarray(game.observe(ClosestDistanceMIA(), number).values)


def forests(executor: object, number: int) -> np.ndarray:
    """What LiRA says with so many shadow forests; by two processes where there is no executor."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    inputs, classes = make_classification(2 * RECORDS, flip_y=0.2, random_state=0)
    half = slice(RECORDS), slice(RECORDS, None)
    members, others = ((inputs[part], classes[part]) for part in half)
    forest = RandomForestClassifier(TREES, random_state=0).fit(*members)
    print(json.dumps({"forest": len(pickle.dumps(forest)) / 1e6}))
    game = ModelMIA(
        forest,
        members,
        others,
        trainer=RandomForestClassifier(TREES),
        num_shadows=number,
        seed=1,
        executor=executor,
        n_jobs=2 if executor is None else None,
    )
    attack = LiRA()
    attack.train(game)
    return np.asarray(game.test(attack).scores)


def taken(work: Callable[[], np.ndarray]) -> dict[str, object]:
    start, cpu = time.perf_counter(), time.process_time()
    found = work()
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "sum": repr(float(found.sum())),
    }


def measure(case: str, address: str, rows: int, number: int) -> None:
    """Runs in a process of its own: print seconds, CPU, megabytes and a digest as JSON."""
    if not address:
        print(json.dumps(taken(lambda: forests(None, number))))
        return
    with Client(address, set_as_default=False) as client:
        executor = client.get_executor()
        for worker in client.nthreads():
            client.submit(
                warm, workers=[worker], pure=False
            ).result()  # workers import what they need
        sent = client.scheduler_comm.byte_count
        work = play if case == "trials" else forests
        given = (rows, executor, number) if case == "trials" else (executor, number)
        told = taken(lambda: work(*given))
        print(json.dumps(told | {"sent": client.scheduler_comm.byte_count - sent}))


def figures(case: str, address: str, rows: int = 0, number: int = TRIALS) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", case, address, str(rows), str(number)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = {}
    for line in done.stdout.splitlines():
        told |= json.loads(line)
    return told


def tell_forests(cluster: Cluster, number: int) -> None:
    here, there = (figures("forests", where, number=number) for where in ("", cluster.address))
    print(
        f"{number} forests of {TREES} trees, {here['forest']:.1f} MB each: at most "
        f"{here['peak']:.0f} MB in the client with two processes, {there['peak']:.0f} MB with the "
        f"cluster, {there['sent'] / 1e6:.1f} MB sent, client CPU {there['cpu']:.1f} s; same "
        f"values: {here['sum'] == there['sum']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", type=int, default=[2_000, 20_000, 200_000])
    parser.add_argument("--forests", type=int, default=FORESTS)
    asked = parser.parse_args()
    sizes = asked.rows
    cluster = Cluster(Path.cwd())
    try:
        cluster.add_worker()
        cluster.wait_for_workers(1)
        alone = figures("trials", cluster.address, sizes[0])
        cluster.add_worker()
        cluster.wait_for_workers(2)
        print(
            f"{'':24s} {'seconds':>8s} {'client CPU':>10s} {'MB sent':>8s} {'kB a trial more':>18s}"
        )
        for rows in sizes:
            few, told = (
                figures("trials", cluster.address, rows, number) for number in (FEWER, TRIALS)
            )
            each = (told["sent"] - few["sent"]) / 1e3 / (TRIALS - FEWER)
            if rows == sizes[0]:
                both = told
            print(
                f"{rows:>9,d} rows, 2 workers {told['seconds']:8.2f} {told['cpu']:10.2f} "
                f"{told['sent'] / 1e6:8.1f} {each:18.2f}"
            )
        print(
            f"two workers play {TRIALS} trials of {SECONDS_PER_TRIAL} s "
            f"{alone['seconds'] / both['seconds']:.2f}x as fast as one; same values: "
            f"{alone['sum'] == both['sum']}"
        )
        tell_forests(cluster, asked.forests)
    finally:
        cluster.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
