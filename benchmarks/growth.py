"""How time grows: rows, trials, targets, people, reference models, columns; fitted exponents.

Run with ``python benchmarks/growth.py [PICTURE.svg]``. Each line is CPU seconds at growing sizes
on one core and the slope of its second half on a log-log scale: 1 is proportional. The picture
shows all lines. ``--only NAME`` measures one; ``--targets N`` times one reduce of N targets,
``--memory N`` says what N trials take in memory.
"""

import argparse
import math
import resource
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from tapas.attacks import ClosestDistanceMIA, GroundhogAttack, LiRA
from tapas.audit import Audit
from tapas.audit._subject_run import SubjectRun
from tapas.datasets import TabularDataset, load_sample, most_isolated
from tapas.engine import Workers
from tapas.game import Ledger, Observation, Release, Trial, TrialPolicy
from tapas.generators import Raw
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    Findings,
    MIAttackSummary,
    exposed_people,
)
from tapas.threat_models import AuxiliaryDataKnowledge, BlackBoxKnowledge, TargetedMIA

PRIVATE = 500


def game(data: TabularDataset, targets: int = 1) -> TargetedMIA:
    rest = data.drop_records(np.arange(targets))
    knows = AuxiliaryDataKnowledge(rest, num_training_records=PRIVATE, seed=0)
    box = BlackBoxKnowledge(Raw(), PRIVATE)
    return TargetedMIA(knows, data.take(np.arange(targets)), box, seed=1, n_jobs=1)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def rows(number: int) -> float:
    """Fifty trials on a table, and its twenty most isolated records."""
    data = load_sample("census", number)
    return seconds(lambda: (game(data).generate_training_samples(50), most_isolated(data, 20)))


def trials(number: int) -> float:
    """Play and observe."""
    played = game(load_sample("census", 4_000))
    return seconds(lambda: played.observe(ClosestDistanceMIA(), number))


def targets(number: int, trials: int = 1_000) -> float:
    """Learn and judge what was observed of so many targets."""
    threat_model = game(load_sample("census", number + 2_000), number)
    ledger, attack = Ledger(), ClosestDistanceMIA()
    run = SubjectRun(
        threat_model,
        [attack],
        trials // 2,
        trials // 2,
        ledger=ledger,
        workers=Workers(1),
        policy=TrialPolicy(),
    )
    key, rng = run.player.observer(attack).key, np.random.default_rng(0)
    for phase in ("train", "test"):
        for index in range(trials // 2):
            secrets = rng.random(number) < 0.5
            seen = {key: Observation(rng.normal(size=number) + secrets, 0)}
            ledger.keep(Trial(phase, index, Release(None), secrets, index), seen)
    return seconds(lambda: (run.learn(), run.test(trials // 2)))


def people(number: int, trials: int = 200) -> float:
    """Everything that is said of so many people: intervals, certificates, corrected p-values."""
    rng, pairs = np.random.default_rng(0), np.arange(trials) // 2
    summaries = []
    for target in range(number):
        member = np.stack([first := rng.random(trials // 2) < 0.5, ~first], axis=1).ravel()
        scores = rng.normal(size=trials) + 0.5 * member
        summaries.append(
            MIAttackSummary(member, scores > 0.25, scores, target_id=target, groups=pairs)
        )
    subject = AuditedSubject("mechanism", "audited", tuple(summaries), (), (), {"test": trials})
    record = AuditRecord("", {}, "", 0, (subject,))
    return seconds(lambda: (Findings(record).all, exposed_people(record)))


def references(number: int) -> float:
    """LiRA over the models that so many references made."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    from tapas.threat_models import ModelMIA

    inputs, classes = make_classification(2_000, random_state=0)
    members, others = (inputs[:1_000], classes[:1_000]), (inputs[1_000:], classes[1_000:])
    model = LogisticRegression().fit(*members)
    attacked = ModelMIA(
        model, members, others, trainer=LogisticRegression(), num_shadows=number, seed=1, n_jobs=1
    )
    attack = LiRA()
    return seconds(lambda: (attack.train(attacked), attacked.test(attack)))


def columns(number: int) -> float:
    """Groundhog's features, pairs of columns among them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2_000, number)), columns=[f"c{i}" for i in range(number)])
    played = game(TabularDataset.from_dataframe(frame))
    return seconds(lambda: played.observe(GroundhogAttack(), 20))


def memory(number: int) -> tuple[float, float]:
    """Megabytes at the peak of an audit without a folder, and before it."""

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    played, before = game(load_sample("census", 4_000)), peak()
    attack = ClosestDistanceMIA(criterion=("threshold", -1.0))
    Audit(played, [attack], 0, number).run(n_jobs=1)
    return peak(), before


SIZES: dict[str, tuple[Callable[[int], float], Sequence[int]]] = {
    "rows": (rows, [15_625 * 2**k for k in range(7)]),
    "trials": (trials, [15_625 * 4**k for k in range(4)]),
    "targets": (targets, [312, 625, 1_250, 2_500, 5_000, 10_000]),
    "people": (people, [2**k * 50 for k in range(6)]),
    "references": (references, [8, 16, 32, 64, 128, 256]),
    "columns": (columns, [16, 32, 64, 128, 256, 512, 1_024]),
}


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Of the larger half, where what does not grow counts least."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)[0])


def draw(found: dict[str, tuple[Sequence[int], list[float]]], path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5))
    axes = figure.subplots()
    for name, (sizes, times) in found.items():
        axes.loglog(sizes, times, "o-", label=f"{name}: size^{slope(sizes, times):.2f}")
    axes.set(xlabel="size", ylabel="CPU seconds")
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("picture", nargs="?")
    parser.add_argument("--only", choices=list(SIZES), nargs="+", default=list(SIZES))
    parser.add_argument("--targets", type=int)
    parser.add_argument("--memory", type=int, metavar="TRIALS")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.targets is not None:
        print(f"{asked.targets} targets x 1,000 trials: {targets(asked.targets):.2f} CPU seconds")
        return
    if asked.memory is not None:
        peak, before = memory(asked.memory)
        print(f"{asked.memory} trials: {peak:.0f} MB at the peak, {before:.0f} before them")
        return
    found = {}
    for name in asked.only:
        measure, sizes = SIZES[name]
        measure(sizes[0])
        times = [measure(size) for size in sizes]
        found[name] = sizes, times
        cells = "  ".join(f"{n:,d}: {t:.3g}" for n, t in zip(sizes, times, strict=True))
        print(f"{name:11s} exponent {slope(sizes, times):5.2f}   {cells}", flush=True)
    if asked.picture and not math.isnan(sum(t for _, ts in found.values() for t in ts)):
        draw(found, asked.picture)


if __name__ == "__main__":
    main()
