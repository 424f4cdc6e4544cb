"""Time the attacks on distances and on models of the release beside naive pandas twins.

Run it with ``python benchmarks/bench_attacks.py [PREFIX]``, where PREFIX.csv and PREFIX.json hold
a table to use instead of the simulated one. CPU seconds on one core; 200 training and 200 test
trials on private data and releases of 1,000 rows, trials included in "whole game".
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from documented_cases import hospital_table
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KernelDensity
from threadpoolctl import threadpool_limits

from tapas.attacks.tables._closest_distance import ClosestDistanceAIA, ClosestDistanceMIA
from tapas.attacks.tables._distances import HammingDistance, LpDistance
from tapas.attacks.tables._local_neighbourhood import LocalNeighbourhoodAttack
from tapas.attacks.tables._probability_estimation import ProbabilityEstimationAttack
from tapas.attacks.tables._synthetic_predictor import SyntheticPredictorAttack
from tapas.datasets import DataDescription, TabularDataset
from tapas.generators import Raw
from tapas.threat_models import (
    AuxiliaryDataKnowledge,
    BlackBoxKnowledge,
    TargetedAIA,
    TargetedMIA,
)

ROWS, TRAIN, TEST = 1_000, 200, 200
Twin = Callable[[pd.DataFrame, pd.DataFrame], object]


def cpu_seconds(task: Callable[[], object], repeats: int = 3) -> float:
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        task()
        best = min(best, time.process_time() - start)
    return best


def split(table: TabularDataset, num_targets: int) -> tuple[TabularDataset, TabularDataset]:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(table))
    rest = order[num_targets:]
    pool = table.take(rng.choice(rest, size=4 * ROWS, replace=len(rest) < 4 * ROWS))
    return table.take(order[:num_targets]), pool


def game(table: TabularDataset, goal: str, num_targets: int = 1) -> TargetedMIA | TargetedAIA:
    targets, pool = split(table, num_targets)
    knowledge = AuxiliaryDataKnowledge(pool, num_training_records=ROWS, seed=0)
    mechanism = BlackBoxKnowledge(Raw(), num_synthetic_records=ROWS)
    if goal == "membership":
        return TargetedMIA(knowledge, targets, mechanism, replace_target=True, seed=0, n_jobs=1)
    column, values = sensitive(table)
    return TargetedAIA(knowledge, targets, column, values, mechanism, seed=0, n_jobs=1)


def sensitive(table: TabularDataset) -> tuple[str, list[Any]]:
    """A categorical column and two of its frequent values."""
    column = table.description.one_hot_cols[min(3, len(table.description.one_hot_cols) - 1)]
    return column, table.data[column].value_counts().index[:2].tolist()


# -- naive twins: data frames, one release and one target at a time ----------------------------


def numeric(frame: pd.DataFrame, description: DataDescription) -> np.ndarray:
    parts = []
    for column in description.parsed:
        if column.is_one_hot:
            categories = pd.Categorical(frame[column.name], categories=list(column.values or ()))
            parts.append(pd.get_dummies(categories).to_numpy(float))
        elif column.is_coded:
            places = {value: place for place, value in enumerate(column.values or ())}
            parts.append(frame[column.name].map(places).to_numpy(float)[:, None])
        else:
            parts.append(frame[column.name].to_numpy(float)[:, None])
    return np.concatenate(parts, axis=1)


def twins(description: DataDescription, column: str, values: list[Any]) -> dict[str, Twin]:
    others = description.view([name for name in description.columns if name != column])

    def hamming(target: pd.DataFrame, data: pd.DataFrame) -> np.ndarray:
        return (data != target.iloc[0]).sum(axis=1).to_numpy()

    def euclidean(target: pd.DataFrame, data: pd.DataFrame) -> np.ndarray:
        gaps = numeric(data, description) - numeric(target, description)
        return np.sqrt((gaps**2).sum(axis=1))

    def predictor(target: pd.DataFrame, data: pd.DataFrame) -> object:
        kept = data[data[column].isin(values)]
        x = numeric(kept, others)
        centre, spread = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-9)
        model = LogisticRegression().fit((x - centre) / spread, kept[column].astype(str))
        return model.predict_proba((numeric(target, others) - centre) / spread)

    return {
        "ClosestDistanceMIA Hamming": lambda t, d: hamming(t, d).min(),
        "ClosestDistanceMIA L2": lambda t, d: euclidean(t, d).min(),
        "LocalNeighbourhood MIA": lambda t, d: (hamming(t, d) <= 4).mean(),
        "ProbabilityEstimation KDE": lambda t, d: (
            KernelDensity().fit(numeric(d, description)).score_samples(numeric(t, description))
        ),
        "ClosestDistanceAIA Hamming": lambda t, d: [
            hamming(t.assign(**{column: [value]}), d).min() for value in values
        ],
        "LocalNeighbourhood AIA": lambda t, d: d[column][
            hamming(t, d.assign(**{column: t[column].iloc[0]})) <= 4
        ].value_counts(),
        "SyntheticPredictor logistic": predictor,
    }


ATTACKS: dict[str, tuple[str, Callable[[], Any]]] = {
    "ClosestDistanceMIA Hamming": ("membership", lambda: ClosestDistanceMIA(HammingDistance())),
    "ClosestDistanceMIA L2": ("membership", lambda: ClosestDistanceMIA(LpDistance(2))),
    "LocalNeighbourhood MIA": ("membership", lambda: LocalNeighbourhoodAttack(radius=4)),
    "ProbabilityEstimation KDE": (
        "membership",
        lambda: ProbabilityEstimationAttack(KernelDensity(), "accuracy"),
    ),
    "ClosestDistanceAIA Hamming": ("attribute", lambda: ClosestDistanceAIA(HammingDistance())),
    "LocalNeighbourhood AIA": ("attribute", lambda: LocalNeighbourhoodAttack(radius=4)),
    "SyntheticPredictor logistic": (
        "attribute",
        lambda: SyntheticPredictorAttack(LogisticRegression(), "accuracy"),
    ),
}


def play(threat_model: Any, attack: Any) -> None:
    attack.train(threat_model, num_samples=TRAIN)
    threat_model.test(attack, num_samples=TEST)


def time_attack(table: TabularDataset, name: str) -> tuple[float, float, float]:
    """Seconds of the whole game, of the attack on trials already played, and of its twin."""
    goal, make = ATTACKS[name]
    repeats = 1 if name.startswith("SyntheticPredictor") else 3
    whole = cpu_seconds(lambda: play(game(table, goal), make()), repeats)
    alone = np.inf
    for _ in range(repeats):
        played = game(table, goal)
        played.generate_training_samples(TRAIN)
        played._generate_samples(TEST, training=False)
        alone = min(alone, cpu_seconds(lambda p=played: play(p, make()), repeats=1))
    releases, _ = played.generate_training_samples(20)
    frames = [release.data for release in releases]
    twin = twins(table.description, *sensitive(table))[name]
    target = played.target_record.data
    naive = cpu_seconds(lambda: [twin(target, frame) for frame in frames], 1)
    return whole, alone, naive * (TRAIN + TEST) / len(frames)


def main() -> None:
    table = TabularDataset.read(sys.argv[1]) if len(sys.argv) > 1 else hospital_table(5_000)
    play(game(table, "membership"), ClosestDistanceMIA())
    print(f"{table.label}: {TRAIN} + {TEST} trials of {ROWS} rows, CPU seconds on one core")
    print(f"{'attack':<32}{'whole game':>12}{'attack alone':>14}{'naive twin':>12}{'ratio':>8}")
    for name in ATTACKS:
        whole, alone, naive = time_attack(table, name)
        print(f"{name:<32}{whole:>12.2f}{alone:>14.3f}{naive:>12.2f}{naive / alone:>7.0f}x")
    for distance in (HammingDistance(), LpDistance(2)):
        many = game(table, "membership", num_targets=50)
        attack = ClosestDistanceMIA(distance)
        whole = cpu_seconds(lambda g=many, a=attack: g.observe(a, 500), 1)
        print(f"50 targets x 500 releases, {distance.label}: {whole:.2f}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
