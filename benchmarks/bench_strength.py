"""How much attacks find, by generator: AUC on vulnerable and on random people of one pool.

Run with ``python benchmarks/bench_strength.py FOLDER [--table snake] [--generator NAME ...]
[--releases 100] [--attacks NAME ...] [--knowledge exact]``, where FOLDER holds ``snake.parquet``
and ``adult.csv``. Each cell is the mean AUC over 25 vulnerable / 25 random targets, with an
interval of 95 % over releases. `untold` is the ensemble that does not know which marginals the
generator keeps; `fitted` reads the fitted mechanism, where that tells how
likely it finds records. With exact knowledge all private records but the targets are known, and the
same in all trials. ``--cost`` measures instead what 1,000 targets and 1,000 trials cost the subset
attack.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tapas.attacks import (
    DOMIAS,
    ClosestDistanceMIA,
    EnsembleAttack,
    GroundhogAttack,
    LikelihoodAttack,
    MarginalsAttack,
    NearnessAttack,
    SubsetAttack,
)
from tapas.attacks.features._subset_attack import SubsetObserver
from tapas.audit import Audit
from tapas.compat import AttackDoors
from tapas.datasets import DataDescription, TabularDataset, select_vulnerable_records
from tapas.game import MEMBERSHIP, Board, Release, TableBriefing, TellsLikelihood
from tapas.generators import (
    MST,
    BayesianNetwork,
    CartSynthesizer,
    GaussianCopula,
    Generator,
    PrivBayes,
    Smote,
)
from tapas.metrics import column_aucs
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    ExactDataKnowledge,
    TargetedMIA,
    WhiteBoxKnowledge,
)

ROWS, PRIVATE, HALF, RESAMPLES = 12_000, 1_000, 25, 200
# What anybody knows of the columns of adult that are numbers.
ADULT_BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hr_per_week": (1, 99),
}
GENERATORS = ("network", "cart", "mst1000", "privbayes1000", "mst10", "copula", "smote")
ATTACKS: dict[str, Callable[[str], AttackDoors]] = {
    "closest": lambda name: ClosestDistanceMIA(label=name),
    "groundhog": lambda name: GroundhogAttack(label=name),
    "subsets": lambda name: SubsetAttack(label=name),
    "transferred": lambda name: SubsetAttack(transfer=True, label=name),
    "nearness": lambda name: NearnessAttack(label=name),
    "domias": lambda name: DOMIAS(label=name),
    "tree": lambda name: MarginalsAttack(label=name),
    "untold": lambda name: EnsembleAttack(
        [SubsetAttack(), NearnessAttack(), MarginalsAttack()], name
    ),
    "ensemble": lambda name: EnsembleAttack(label=name),
    "fitted": lambda name: LikelihoodAttack(label=name),
}


def generator(name: str, table: str) -> Generator:
    """One of `GENERATORS` for a table."""
    bounds = ADULT_BOUNDS if table == "adult" else None
    if name in ("mst10", "mst1000"):
        return MST(epsilon=int(name.removeprefix("mst")), bounds=bounds)
    if name == "privbayes1000":
        return PrivBayes(epsilon=1000, bounds=bounds)
    others = {"network": BayesianNetwork, "cart": CartSynthesizer, "copula": GaussianCopula}
    return others.get(name, Smote)()


def load(folder: Path, table: str) -> TabularDataset:
    """A sample of a table; snake's columns are all categories."""
    if table == "texas":
        return TabularDataset.read(folder / "texas.csv", folder / "texas.json")
    if table == "adult":
        frame = pd.read_csv(folder / "adult.csv", na_values="?", skipinitialspace=True)
    else:
        frame = pd.read_parquet(folder / "snake.parquet")
    frame = frame.sample(ROWS, random_state=11).reset_index(drop=True)
    if table == "adult":
        return TabularDataset(frame, DataDescription.infer(frame))
    schema = [
        {"name": name, "type": "finite", "representation": sorted(frame[name].unique().tolist())}
        for name in frame
    ]
    return TabularDataset(frame, DataDescription(schema))


def game(
    data: TabularDataset,
    generator: Generator,
    seed: int,
    private: int = PRIVATE,
    *,
    exact: bool = False,
    fitted: bool = False,
) -> TargetedMIA:
    """25 vulnerable people, then 25 random others, all in the same releases."""
    vulnerable = select_vulnerable_records(data, HALF).table.index.to_numpy()
    others = np.setdiff1d(np.arange(len(data)), vulnerable)
    chosen = np.random.default_rng(seed).choice(others, HALF, replace=False)
    rows = np.concatenate([vulnerable, chosen])
    rest = data.drop_records(rows.tolist())
    knowledge: AuxiliaryDataKnowledge | ExactDataKnowledge
    if exact:
        knowledge = ExactDataKnowledge(rest.sample(private, random_state=seed))
    else:
        knowledge = AuxiliaryDataKnowledge(rest, num_training_records=private, seed=seed)
    box = (WhiteBoxKnowledge if fitted else BlackBoxKnowledge)(generator, private)
    return TargetedMIA(knowledge, data.take(rows), box, seed=seed, n_jobs=1)


def cell(scores: np.ndarray, members: np.ndarray, groups: np.ndarray) -> str:
    """Mean AUC on vulnerable / random targets, with intervals over groups of releases."""
    rng, found = np.random.default_rng(0), []
    of_group = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(of_group), size=len(of_group))
        rows = np.concatenate([of_group[group] for group in drawn])
        each = column_aucs(scores[rows], members[rows])
        found.append((each[:HALF].mean(), each[HALF:].mean()))
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    each = column_aucs(scores, members)
    means = (each[:HALF].mean(), each[HALF:].mean())
    parts = zip(means, low, high, strict=True)
    return " / ".join(f"{mean:.3f} ({a:.3f}-{b:.3f})" for mean, a, b in parts)


def row(
    data: TabularDataset,
    made: Generator,
    releases: int,
    seed: int,
    names: Sequence[str],
    *,
    exact: bool,
) -> dict[str, str]:
    """One line of the table: a cell for each attack, empty where the generator tells nothing."""
    names = [name for name in names if name != "fitted" or isinstance(made, TellsLikelihood)]
    if not names:
        return {}
    attacks = [ATTACKS[name](name) for name in names]
    threat_model = game(data, made, seed, exact=exact, fitted="fitted" in names)
    audit = Audit(threat_model, attacks, releases, releases, exposure_map=False)
    (subject,) = audit.run(n_jobs=1).subjects
    found = {}
    for label in names:
        mine = [summary for summary in subject.summaries if summary.attack == label]
        scores, members = (
            np.stack([np.asarray(getattr(one, what)) for one in mine], axis=1)
            for what in ("scores", "labels")
        )
        found[label] = cell(scores.astype(float), members.astype(bool), mine[0].groups)
    return found


def cost(targets: int = 1_000, trials: int = 1_000, rows: int = 1_000, columns: int = 15) -> None:
    """CPU and memory of the subset attack alone, half of the trials for training."""
    rng = np.random.default_rng(0)
    schema = [{"name": f"c{n}", "type": "finite", "representation": 6} for n in range(columns)]

    def table(size: int) -> TabularDataset:
        values = rng.integers(0, 6, (size, columns))
        frame = pd.DataFrame(values, columns=[f"c{n}" for n in range(columns)])
        return TabularDataset(frame, DataDescription(schema))

    briefing, observer = TableBriefing(MEMBERSHIP, table(targets)), SubsetObserver(1_000)
    training = trials // 2
    values, spent = None, {"count": 0.0, "learn": 0.0, "score": 0.0}
    secrets, scorer = rng.random((training, targets)) < 0.5, None
    for trial in range(trials):
        release = Release(table(rows))
        start = time.process_time()
        counts = observer(release, briefing, rng=rng)
        spent["count"] += time.process_time() - start
        if values is None:
            values = np.empty((training, *counts.shape), dtype=counts.dtype)
        start = time.process_time()
        if trial < training:
            values[trial] = counts
            continue
        if scorer is None:
            told = np.ones(targets, dtype=bool)
            board = Board(values, secrets, np.arange(training), MEMBERSHIP, told, briefing)
            scorer = SubsetAttack().fit(board, rng=rng)
            spent["learn"] = time.process_time() - start
            start = time.process_time()
        scorer.score(counts[None])
        spent["score"] += time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    parts = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in spent.items())
    print(f"{targets:,} targets, {trials:,} trials of {rows:,} rows x {columns}: {parts}")
    print(f"in all {sum(spent.values()):.1f} s CPU, at most {memory:.2f} GiB of memory")


def main(arguments: Sequence[str] | None = None) -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--table", default="snake", choices=["snake", "adult"])
    parser.add_argument("--generator", nargs="+", default=list(GENERATORS), choices=[*GENERATORS])
    parser.add_argument("--releases", type=int, default=100, help="of each phase")
    parser.add_argument("--attacks", nargs="+", default=list(ATTACKS), choices=[*ATTACKS])
    parser.add_argument("--knowledge", default="auxiliary", choices=["auxiliary", "exact"])
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--cost", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.cost:
        cost()
        return
    if asked.folder is None:
        parser.error("give the folder of snake.parquet and adult.csv")
    data = load(asked.folder, asked.table)
    exact = asked.knowledge == "exact"
    where = f"{asked.table}, {asked.releases} releases{', exact' if exact else ''}"
    print(f"| {where} | {' | '.join(asked.attacks)} | CPU s |")
    for name in asked.generator:
        start = time.process_time()
        made = generator(name, asked.table)
        found = row(data, made, asked.releases, asked.seed, asked.attacks, exact=exact)
        cells = " | ".join(found.get(label, "") for label in asked.attacks)
        print(f"| {name} | {cells} | {time.process_time() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
