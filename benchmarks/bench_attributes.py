"""How much attribute inference finds: AUC on vulnerable and on random people of one pool.

Run with ``python benchmarks/bench_attributes.py FOLDER [--attribute married] [--generator NAME ...]
[--releases 60]``, where FOLDER holds ``snake.parquet``. The attacker knows all other columns of
the private records. Each cell is the mean AUC (over values, where there are more than two) of 25
vulnerable / 25 random targets, with an interval of 95 % over releases. "Half copies" are half of
the private records beside as many of independent columns: nobody can tell the value of a record
that was not copied, so that no AUC exceeds 7/8 for two values.
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench_strength import HALF, PRIVATE, RESAMPLES, load

from tapas.attacks import (
    Attack,
    ClosestDistanceAIA,
    EnsembleAttack,
    ReconstructionAttack,
    SubsetAttack,
)
from tapas.audit import Audit
from tapas.datasets import TabularDataset, select_vulnerable_records
from tapas.generators import BayesianNetwork, CartSynthesizer, Generator, IndependentMarginals
from tapas.metrics import column_aucs
from tapas.threat_models import BlackBoxKnowledge, QuasiIdentifierKnowledge, TargetedAIA


class HalfCopies(Generator):
    """Half of the private records, and as many of independent columns."""

    def fit(self, dataset: TabularDataset, random_state: int | None = None) -> None:
        self.dataset, self.others = dataset, IndependentMarginals()
        self.others.fit(dataset)

    def generate(self, num_samples: int, random_state: int | None = None) -> TabularDataset:
        copied = num_samples // 2
        rows = np.random.default_rng(random_state).choice(len(self.dataset), copied, replace=False)
        others = self.others.generate(num_samples - copied, random_state=random_state)
        return self.dataset.take(rows, reset_index=True) + others


GENERATORS = {"half": HalfCopies(), "cart": CartSynthesizer(), "network": BayesianNetwork()}


def attacks() -> tuple[Attack, ...]:
    return (
        ClosestDistanceAIA(label="closest"),
        SubsetAttack(label="subsets"),
        EnsembleAttack(label="ensemble"),
        ReconstructionAttack(label="reconstruction"),
    )


def game(data: TabularDataset, generator: Generator, attribute: str, seed: int) -> TargetedAIA:
    """25 vulnerable people, then 25 random others, all in the same releases."""
    vulnerable = select_vulnerable_records(data, HALF).table.index.to_numpy()
    others = np.setdiff1d(np.arange(len(data)), vulnerable)
    chosen = np.random.default_rng(seed).choice(others, HALF, replace=False)
    rows = np.concatenate([vulnerable, chosen])
    knowledge = QuasiIdentifierKnowledge(
        data.drop_records(rows.tolist()), num_training_records=PRIVATE, seed=seed
    )
    values = next(one.values for one in data.description.parsed if one.name == attribute)
    box = BlackBoxKnowledge(generator, PRIVATE)
    targets = data.take(rows)
    return TargetedAIA(knowledge, targets, attribute, list(values or ()), box, seed=seed, n_jobs=1)


def areas(scores: np.ndarray, secrets: np.ndarray, values: Sequence[object]) -> np.ndarray:
    """AUC of each target, its mean over values where there are more than two."""
    if scores.ndim == 2:
        return column_aucs(scores, secrets == values[-1])
    each = [column_aucs(scores[..., n], secrets == value) for n, value in enumerate(values)]
    return np.nanmean(each, axis=0)


def cell(scores: np.ndarray, secrets: np.ndarray, values: Sequence[object]) -> str:
    rng = np.random.default_rng(0)

    def means(rows: np.ndarray) -> tuple[float, float]:
        each = areas(scores[rows], secrets[rows], values)
        return float(np.nanmean(each[:HALF])), float(np.nanmean(each[HALF:]))

    every = np.arange(len(scores))
    drawn = [means(rng.choice(every, len(every))) for _ in range(RESAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    parts = zip(means(every), low, high, strict=True)
    return " / ".join(f"{mean:.3f} ({a:.3f}-{b:.3f})" for mean, a, b in parts)


def row(data: TabularDataset, name: str, attribute: str, releases: int, seed: int) -> list[str]:
    played = game(data, GENERATORS[name], attribute, seed)
    (subject,) = Audit(played, attacks(), releases, releases).run(n_jobs=1).subjects
    found = []
    for attack in attacks():
        mine = [summary for summary in subject.summaries if summary.attack == attack.label]
        scores, secrets = (
            np.stack([np.asarray(getattr(one, what)) for one in mine], axis=1)
            for what in ("scores", "labels")
        )
        if scores.ndim == 2:
            found.append(cell(scores.astype(float), secrets.astype(bool), (False, True)))
        else:
            found.append(cell(scores.astype(float), secrets, played.attribute_values))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--attribute", default="married")
    parser.add_argument("--generator", nargs="+", default=list(GENERATORS), choices=[*GENERATORS])
    parser.add_argument("--releases", type=int, default=60, help="of each phase")
    parser.add_argument("--seed", type=int, default=3)
    asked = parser.parse_args()
    data = load(asked.folder, "snake")
    names = " | ".join(attack.label for attack in attacks())
    print(f"| {asked.attribute}, {asked.releases} releases | {names} | CPU s |")
    for name in asked.generator:
        start = time.process_time()
        found = row(data, name, asked.attribute, asked.releases, asked.seed)
        taken = time.process_time() - start
        print(f"| {name} | {' | '.join(found)} | {taken:.0f} |", flush=True)


if __name__ == "__main__":
    main()
