"""Cases in documented calls alone, so that any toolbox with that interface can be measured.

``python benchmarks/documented_cases.py [NAME ...]`` measures whichever `tapas` is on the path and
prints CPU seconds by case as JSON, and null where a case fails; ``benchmarks/run.py`` compares.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

ROWS, TRAIN, TEST = 1_000, 200, 200


def hospital_frame(rows: int, seed: int = 0) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Eighteen columns like those of a hospital discharge file, and their schema."""
    rng = np.random.default_rng(seed)
    schema: list[dict[str, Any]] = []
    values: dict[str, Any] = {}
    for name, width in zip("abcdefg", (7, 9, 23, 4, 6, 3, 7), strict=True):
        words = [f"{name}{number}" for number in range(width)]
        schema.append({"name": name, "type": "finite", "representation": words})
        values[name] = np.array(words)[np.minimum(rng.geometric(0.5, rows) - 1, width - 1)]
    for name in "hi":
        schema.append({"name": name, "type": "finite/ordered", "representation": 5})
        values[name] = rng.integers(0, 5, rows)
    for name in "jkl":
        schema.append({"name": name, "type": "countable/ordered", "representation": "integer"})
        values[name] = rng.poisson(8, rows)
    for name in "mnopqr":
        schema.append({"name": name, "type": "real/non-negative", "representation": "number"})
        values[name] = np.round(rng.lognormal(8, 1.5, rows), 2)
    return pd.DataFrame(values), schema


def hospital_table(rows: int, seed: int = 0) -> Any:
    from tapas.datasets import DataDescription, TabularDataset

    frame, schema = hospital_frame(rows, seed)
    return TabularDataset(frame, DataDescription(schema, "hospital"))


@cache
def _split(rows: int) -> tuple[Any, Any]:
    table = hospital_table(rows + 1)
    return table.get_records([0]), table.drop_records([0])


def game(rows: int = ROWS, pool: int = 4_000, **options: Any) -> Any:
    """A membership game about one record, with releases of the private records themselves."""
    from tapas.generators import Raw
    from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

    target, rest = _split(pool)
    knowledge = AuxiliaryDataKnowledge(rest, auxiliary_split=0.5, num_training_records=rows)
    mechanism = BlackBoxKnowledge(Raw(), num_synthetic_records=rows)
    return TargetedMIA(knowledge, target, mechanism, **options)


def attribute_game() -> Any:
    from tapas.generators import Raw
    from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedAIA

    target, rest = _split(4_000)
    knowledge = AuxiliaryDataKnowledge(rest, auxiliary_split=0.5, num_training_records=ROWS)
    mechanism = BlackBoxKnowledge(Raw(), num_synthetic_records=ROWS)
    return TargetedAIA(knowledge, target, "d", ["d0", "d1"], mechanism)


def play(threat_model: Any, attack: Any, train: int = TRAIN, test: int = TEST) -> None:
    attack.train(threat_model, num_samples=train)
    threat_model.test(attack, num_samples=test)


def trials(rows: int, number: int) -> None:
    game(rows, 20_000).generate_training_samples(number)


@cache
def twenty_summaries() -> list[Any]:
    """Five generators, four attacks, a thousand trials each."""
    from tapas.report import MIAttackSummary

    summaries = []
    for place in range(20):
        rng = np.random.default_rng(place)
        labels = rng.integers(0, 2, 1_000)
        scores = rng.normal(size=1_000) + labels
        about = (f"G{place // 4}", f"A{place % 4}", "D", "T")
        summaries.append(MIAttackSummary(labels, scores > 0.5, scores, *about))
    return summaries


def publish(report: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report.publish(folder)


def plain_report() -> None:
    from tapas.report import MIAttackReport

    publish(MIAttackReport(twenty_summaries()))


def roc_report() -> None:
    from tapas.report import ROCReport

    publish(ROCReport(twenty_summaries()))


def bootstrap_report() -> None:
    from tapas.report import MIAttackReport

    publish(MIAttackReport(twenty_summaries(), num_bootstrap=1_000))


def attacks() -> dict[str, Callable[[], None]]:
    from sklearn.neighbors import KernelDensity

    from tapas.attacks import (
        ClosestDistanceAIA,
        ClosestDistanceMIA,
        GroundhogAttack,
        HammingDistance,
        LocalNeighbourhoodAttack,
        LpDistance,
        ProbabilityEstimationAttack,
        sklearnDensityEstimator,
    )

    hamming, euclid = HammingDistance(), LpDistance(2)
    density = sklearnDensityEstimator(KernelDensity())
    return {
        "closest Hamming 200+200": lambda: play(game(), ClosestDistanceMIA(hamming)),
        "KDE 200+200": lambda: play(game(), ProbabilityEstimationAttack(density, "accuracy")),
        "closest L2 200+200": lambda: play(game(), ClosestDistanceMIA(euclid)),
        "neighbourhood 200+200": lambda: play(
            game(), LocalNeighbourhoodAttack(distance=hamming, radius=4)
        ),
        "closest AIA 200+200": lambda: play(attribute_game(), ClosestDistanceAIA(hamming)),
        "Groundhog 200+200": lambda: play(game(), GroundhogAttack()),
    }


def cases() -> dict[str, Callable[[], object]]:
    """All cases, by name."""
    return {
        **attacks(),
        "200 trials of 1,000 rows": partial(trials, 1_000, 200),
        "200 trials of 5,000 rows": partial(trials, 5_000, 200),
        "plain report of 20": plain_report,
        "ROC report of 20": roc_report,
        "bootstrap report of 20": bootstrap_report,
        "500+500 Raw trials": lambda: play(game(), _constant(), 500, 500),
    }


def _constant() -> Any:
    """An attack that costs nothing."""
    from tapas.attacks import ClosestDistanceMIA, HammingDistance

    return ClosestDistanceMIA(HammingDistance())


def cpu() -> float:
    """CPU seconds of this process and its children."""
    return sum(
        getattr(resource.getrusage(who), part)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        for part in ("ru_utime", "ru_stime")
    )


def best_cpu(case: Callable[[], object], repeats: int = 3) -> float:
    """The least of several runs, after one that does not count."""
    case()
    times = []
    for _ in range(repeats):
        start = cpu()
        case()
        times.append(cpu() - start)
    return min(times)


def memory() -> dict[str, float]:
    """Megabytes that 1,000 remembered releases of 5,000 rows x 18 columns take, and looked at."""

    def most() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    played = game(5_000, 20_000)
    played.generate_training_samples(1_000)
    remembered = most()
    _constant().train(played, num_samples=1_000)
    return {"memory": remembered, "memory, looked at": most()}


ROOMS = ("datasets", "generators", "threat_models", "attacks", "report")


def imports() -> float:
    """CPU seconds to import the documented rooms, without those of starting Python."""

    def seconds(code: str, environment: dict[str, str]) -> float:
        start = cpu()
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        return cpu() - start

    whole = "import " + ", ".join(f"tapas.{room}" for room in ROOMS)
    with tempfile.TemporaryDirectory() as folder:
        # Byte code is there, as it is once a package was installed.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        seconds(whole, environment)
        return min(seconds(whole, environment) - seconds("pass", environment) for _ in range(5))


def main() -> None:
    warnings.simplefilter("ignore")
    # One core, so that nothing is left to processes whose time is not counted while they live.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    asked = sys.argv[1:]
    if asked == ["memory"]:
        found: dict[str, float | None] = dict(memory())
    elif asked == ["import"]:
        found = {"import": imports()}
    else:
        found = {}
        for name, case in cases().items():
            if asked and name not in asked:
                continue
            try:
                found[name] = best_cpu(case)
            except Exception as error:  # another toolbox may lack what a case needs
                print(f"{name}: {error!r}", file=sys.stderr)
                found[name] = None
    print(json.dumps(found))


if __name__ == "__main__":
    main()
