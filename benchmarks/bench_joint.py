"""What the joint of attacks, games and audits costs, and what looking early costs.

Run with ``python benchmarks/bench_joint.py [SRC]``; with the ``src`` folder of another version, the
same work is measured there too, each figure in CPU seconds, the best of a few processes.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

SHADOWS = "model, 16 shadows, 4 attacks"
INPUTS_ALONE = "of which: what inputs tell alone"
ROUNDS = 3
HERE = Path(__file__).resolve().parents[1] / "src"


def work() -> dict[str, Callable[[], object]]:
    """The cases, by name."""
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier

    from tapas.attacks import (
        RMIA,
        BlackBoxMIA,
        ClosestDistanceMIA,
        GroundhogAttack,
        LiRA,
        LossMIA,
    )
    from tapas.audit import Audit, StopEarly
    from tapas.datasets import load_sample
    from tapas.generators import Raw
    from tapas.results import Claim
    from tapas.threat_models import (
        AuxiliaryDataKnowledge,
        BlackBoxKnowledge,
        ModelMIA,
        TargetedMIA,
    )

    data = load_sample("census", 12_000, seed=2)

    def game(targets: int = 1, rows: int = 1_000) -> TargetedMIA:
        rest = data.drop_records(np.arange(targets))
        knowledge = AuxiliaryDataKnowledge(rest, num_training_records=rows, seed=1)
        box = BlackBoxKnowledge(Raw(), rows)
        return TargetedMIA(knowledge, data.take(np.arange(targets)), box, seed=5, n_jobs=1)

    def doors(attack: type, targets: int = 1) -> None:
        for view in game(targets):
            made = attack()
            made.train(view, num_samples=200)
            view.test(made, num_samples=200)

    def audit(stop: StopEarly | None) -> None:
        attacks = [ClosestDistanceMIA(), GroundhogAttack()]
        Audit(game(), attacks, 200, 1_000, stop_early=stop).run(n_jobs=1)

    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])

    def about_model() -> ModelMIA:
        return ModelMIA(
            forest,
            (X[::2], y[::2]),
            (X[1::2], y[1::2]),
            trainer=RandomForestClassifier(20),
            seed=1,
            n_jobs=1,
        )

    def model() -> None:
        threat_model = about_model()
        for attack in (LossMIA(), LiRA(), RMIA(), BlackBoxMIA("lr")):
            attack.train(threat_model)
            threat_model.test(attack)

    game()._generate_samples(5)  # imports and caches are paid for here
    knows = hasattr(ModelMIA, "game")  # earlier versions had no such baseline
    known = about_model().game if knows else None
    alone = {INPUTS_ALONE: lambda: replace(known).inputs_alone} if knows else {}
    return {
        "200 trials of 1,000 rows": lambda: game()._generate_samples(200),
        "200 trials of 5,000 rows": lambda: game(rows=5_000)._generate_samples(200),
        "closest distance, 200 + 200": lambda: doors(ClosestDistanceMIA),
        "closest distance, 20 targets": lambda: doors(ClosestDistanceMIA, 20),
        "Groundhog, 200 + 200": lambda: doors(GroundhogAttack),
        SHADOWS: model,
        **alone,
        "audit, 200 + 1,000, 2 attacks": lambda: audit(None),
        "the same, a look every 50": lambda: audit(StopEarly(Claim(50.0), every=50)),
    }


def measure() -> None:
    """Runs in a process of its own: print the best of two for each case."""
    warnings.simplefilter("ignore")
    seconds = {}
    for name, case in work().items():
        times = []
        for _ in range(2):
            start = time.process_time()
            case()
            times.append(time.process_time() - start)
        seconds[name] = min(times)
    print(json.dumps(seconds))


def figures(sources: list[Path]) -> list[dict[str, float]]:
    """The best of a few processes of each source, by turns: other work comes and goes."""
    best: list[dict[str, float]] = [{} for _ in sources]
    for _ in range(ROUNDS):
        for source, known in zip(sources, best, strict=True):
            command = [sys.executable, __file__, "--measure"]
            environment = {**os.environ, "PYTHONPATH": str(source)}
            run = subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True
            )
            for name, seconds in json.loads(run.stdout.splitlines()[-1]).items():
                known[name] = min(seconds, known.get(name, seconds))
    return best


def main() -> None:
    here, there = [*figures([HERE, *map(Path, sys.argv[1:2])]), {}][:2]
    print(f"{'CPU seconds':<32s} {'here':>8s} {'there':>8s} {'ratio':>7s}")
    for name, seconds in here.items():
        other = there.get(name)
        beside = "" if other is None else f" {other:8.3f} {seconds / other:7.2f}"
        print(f"{name:<32s} {seconds:8.3f}{beside}")
    if SHADOWS in there:
        shared = (here[SHADOWS] - here[INPUTS_ALONE]) / there[SHADOWS]
        print(f"\n{SHADOWS}: {shared:.2f} without what inputs tell alone")
    plain, looking = list(here.values())[-2:]
    print(f"\nlooks every 50 trials cost {looking / plain:.2f}x a run without")


if __name__ == "__main__":
    measure() if sys.argv[1:2] == ["--measure"] else main()
