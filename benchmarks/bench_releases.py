"""AUC of the attacks on one released table, beside a standardised nearest record written in numpy.

Run with ``python benchmarks/bench_releases.py [--folder FOLDER] [--table NAME ...] [--generator
NAME ...] [--splits 5] [--reference 0]``: tables that come with scikit-learn, a sample of hospital
stays, and, where FOLDER holds them, ``adult.csv`` and ``snake.parquet``. Each is split at random
into private and holdout records (at most 1,000 of each), a generator releases as many as it was
given, and every attack is asked about the same half of both. Reference records are half of the
known ones of the holdout, or so many others. Each cell is the mean over splits with half of its
interval of 95 %; the last column is the largest of the default attacks less the nearest record.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from bench_strength import load as load_public
from scipy.stats import t
from sklearn import datasets
from sklearn.neighbors import KernelDensity

from tapas.attacks import DOMIAS, Attack, ProbabilityEstimationAttack
from tapas.audit._default_attacks import default_attacks
from tapas.datasets import DataDescription, TabularDataset, load_sample
from tapas.generators import (
    BayesianNetwork,
    CartSynthesizer,
    GaussianCopula,
    Generator,
    IndependentMarginals,
    Smote,
    TableDiffusion,
    TableVAE,
)
from tapas.metrics import column_aucs
from tapas.threat_models import ObservedMIA

MOST = 1_000  # records of each side
BUNDLED = ("iris", "wine", "diabetes", "breast_cancer", "digits")
PUBLIC = {"adult": "adult.csv", "snake": "snake.parquet"}
GENERATORS: dict[str, Callable[[], Generator]] = {
    "cart": CartSynthesizer,
    "network": BayesianNetwork,
    "copula": GaussianCopula,
    "smote": Smote,
    "independent": IndependentMarginals,
    "vae": TableVAE,
    "diffusion": TableDiffusion,
}


def table(name: str, folder: Path | None) -> TabularDataset:
    """A table by its name."""
    if name == "clinic":
        return load_sample(name, 12 * MOST)
    if name in PUBLIC and folder is not None:
        return load_public(folder, name)
    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bunch.data.copy()
    if name != "diabetes":  # whose outcome is a number
        frame["outcome"] = bunch.target.astype(str)
    return TabularDataset(frame, DataDescription.infer(frame))


def nearest_record(records: TabularDataset, released: TabularDataset) -> np.ndarray:
    """Minus the Euclidean distance to the nearest released record, numbers standardised.

    A category is one-hot and counts 1 where it differs; a missing number stands at the mean.
    """
    sides: list[list[np.ndarray]] = [[], []]
    for column in released.description.parsed:
        mine, theirs = (pd.Series(d.data[column.name].to_numpy()) for d in (records, released))
        if column.is_one_hot:
            whole = pd.get_dummies(pd.concat([mine, theirs]).astype(str)).to_numpy(float)
            parts = np.split(whole / np.sqrt(2), [len(mine)])
        else:
            numbers = [pd.to_numeric(s, errors="coerce").to_numpy(float) for s in (mine, theirs)]
            centre, unit = np.nanmean(numbers[1]), np.nanstd(numbers[1]) or 1.0
            parts = [np.nan_to_num((n - centre) / unit)[:, None] for n in numbers]
        for side, part in zip(sides, parts, strict=True):
            side.append(part)
    mine, theirs = (np.concatenate(side, axis=1) for side in sides)
    squares = (mine**2).sum(1)[:, None] + (theirs**2).sum(1) - 2 * mine @ theirs.T
    return -np.sqrt(np.maximum(squares, 0).min(axis=1))


def others() -> dict[str, Attack]:
    """Attacks that are not tried by default: densities, as documented and by the joint kernel."""
    return {
        "KDE": ProbabilityEstimationAttack(KernelDensity(), "accuracy"),
        "DOMIAS joint": DOMIAS(bandwidth=0.35),
    }


def split(
    data: TabularDataset, generator: Generator, seed: int, references: int
) -> dict[str, float]:
    """AUC of every attack on one release."""
    size = min(MOST, len(data) // 2)
    order = np.random.default_rng(seed).permutation(len(data))
    private, holdout = data.take(order[:size]), data.take(order[size : 2 * size])
    released = generator(private, size, random_state=seed)
    more = data.take(order[2 * size :][:references]) if references else None
    game = ObservedMIA(released, private, holdout, reference=more, seed=seed)
    attacks = {type(one).__name__: one for one in default_attacks(game.game.setting)}
    found: dict[str, float] = {}
    for name, attack in {**attacks, **others()}.items():
        attack.train(game)
        found[name] = float(game.test(attack).auc)
    judged = game.judged_records()
    members = (judged["source"] == "members").to_numpy()
    twin = np.empty(len(judged))
    for inside, side in ((members, private), (~members, holdout)):
        twin[inside] = nearest_record(side.take(judged["row"].to_numpy()[inside]), released)
    found["nearest"] = float(column_aucs(twin[:, None], members[:, None])[0])
    found["default - nearest"] = max(found[name] for name in attacks) - found["nearest"]
    return found


def cell(values: Sequence[float]) -> str:
    """Mean, and half of its interval."""
    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ± {half:.3f}"


def main(arguments: Sequence[str] | None = None) -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--table", nargs="+", choices=[*BUNDLED, "clinic", *PUBLIC])
    parser.add_argument("--generator", nargs="+", default=["cart", "network", "copula", "smote"])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--reference", type=int, default=0)
    asked = parser.parse_args(arguments)
    public = [
        name for name, file in PUBLIC.items() if asked.folder and (asked.folder / file).exists()
    ]
    header = False
    for name in asked.table or (*BUNDLED, "clinic", *public):
        data = table(name, asked.folder)
        for kind in asked.generator:
            start = time.process_time()
            rows = [
                split(data, GENERATORS[kind](), seed, asked.reference)
                for seed in range(asked.splits)
            ]
            if not header:
                print(f"| table | generator | {' | '.join(rows[0])} | CPU s |", flush=True)
                header = True
            cells = " | ".join(cell([row[key] for row in rows]) for key in rows[0])
            print(f"| {name} | {kind} | {cells} | {time.process_time() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
