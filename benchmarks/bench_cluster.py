"""What a cluster costs: bytes sent for each trial, work of the client, and what workers add.

Run with ``python benchmarks/bench_cluster.py [ROWS ...]`` where Dask is installed. A scheduler and
two workers are started on this machine; bytes are those that the client sends to the scheduler.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from distributed import Client

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "cli"))

from dask_cluster import Cluster

from tapas.attacks import ClosestDistanceMIA, LiRA
from tapas.datasets import load_sample
from tapas.generators import Raw
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, ModelMIA, TargetedMIA

TRIALS, FEWER, SECONDS_PER_TRIAL, FORESTS = 400, 100, 0.05, 8


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


def forests(executor: object) -> np.ndarray:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    inputs, classes = make_classification(1_000, random_state=0)
    half = slice(500), slice(500, None)
    members, others = ((inputs[part], classes[part]) for part in half)
    forest = RandomForestClassifier(50, random_state=0)
    game = ModelMIA(
        forest.fit(*members),
        members,
        others,
        trainer=RandomForestClassifier(50),
        num_shadows=FORESTS,
        seed=1,
        executor=executor,
    )
    attack = LiRA()
    attack.train(game)
    return np.asarray(game.test(attack).scores)


def measure(case: str, address: str, rows: int, trials: int) -> None:
    """Runs in a process of its own: print seconds, CPU, megabytes and a digest as JSON."""
    with Client(address, set_as_default=False) as client:
        executor = client.get_executor()
        for worker in client.nthreads():
            client.submit(
                warm, workers=[worker], pure=False
            ).result()  # workers import what they need
        sent = client.scheduler_comm.byte_count
        start, cpu = time.perf_counter(), time.process_time()
        found = play(rows, executor, trials) if case == "trials" else forests(executor)
        told = {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "sent": client.scheduler_comm.byte_count - sent,
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "sum": repr(float(found.sum())),
        }
    print(json.dumps(told))


def figures(case: str, cluster: Cluster, rows: int = 0, trials: int = TRIALS) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", case, cluster.address, str(rows), str(trials)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [2_000, 20_000, 200_000]
    cluster = Cluster(Path.cwd())
    try:
        cluster.add_worker()
        cluster.wait_for_workers(1)
        alone = figures("trials", cluster, sizes[0])
        cluster.add_worker()
        cluster.wait_for_workers(2)
        print(
            f"{'':24s} {'seconds':>8s} {'client CPU':>10s} {'MB sent':>8s} {'kB a trial more':>18s}"
        )
        for rows in sizes:
            few, told = (figures("trials", cluster, rows, number) for number in (FEWER, TRIALS))
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
        told = figures("forests", cluster)
        print(
            f"{FORESTS} forests of 50 trees: {told['sent'] / 1e6:.1f} MB sent, client CPU "
            f"{told['cpu']:.1f} s, {told['peak']:.0f} MB at most in the client"
        )
    finally:
        cluster.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
