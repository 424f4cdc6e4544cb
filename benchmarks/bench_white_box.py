"""Whether the parameters of a model tell more of membership than its scores do.

Run with ``python benchmarks/bench_white_box.py [--adult PATH]``: AUC of white-box statistics beside
their black-box twins, each a number per record, on overfitted networks, linear models and forests
of scikit-learn's digits and of a simulated table; medians of a few splits. Then the attack that
reads trees beside its twin, on half of the records, the other half being known. With ``--part
property``: which of two shares of the training records has a binary input, from parameters and from
answers (overfitted models of 200 records, 80 to learn from and 80 to judge, mean of two seeds).
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from real_tables import load_adult
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks import (
    CertaintyMIA,
    PropertyClassifier,
    TreeMIA,
    WhiteBoxPropertyClassifier,
)
from tapas.metrics import auc
from tapas.models import Records, SklearnTrainer
from tapas.threat_models import ModelMIA, ModelPropertyInference

SEEDS = 3
Scores = dict[str, np.ndarray]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    X, y = load_digits(return_X_y=True)
    simulated = make_classification(
        4_000, 20, n_informative=8, n_classes=4, flip_y=0.2, random_state=0
    )
    return {"digits": (X / 16, y), "simulated": simulated}


def network(X: np.ndarray, y: np.ndarray, inside: np.ndarray, seed: int) -> Scores:
    model = MLPClassifier((64,), max_iter=300, random_state=seed).fit(X[inside], y[inside])
    p, hidden = model.predict_proba(X), np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    error = p - (y[:, None] == model.classes_)
    back = (error @ model.coefs_[1].T) * (hidden > 0)
    last = (error**2).sum(axis=1) * (1 + (hidden**2).sum(axis=1))
    first = (back**2).sum(axis=1) * (1 + (X**2).sum(axis=1))
    true = p[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return {"black box: loss": np.log(true + 1e-12), "gradient norm": -np.sqrt(last + first)}


def linear(X: np.ndarray, y: np.ndarray, inside: np.ndarray, seed: int) -> Scores:
    """Influence: how far a step of Newton without the record would move its own loss."""
    two = (y > np.median(y)).astype(int)
    model = LogisticRegression(C=10.0, max_iter=2_000).fit(X[inside], two[inside])
    p = model.predict_proba(X)[:, 1]
    rows = np.column_stack([X, np.ones(len(X))])
    weights = (p * (1 - p))[inside]
    curvature = (rows[inside].T * weights) @ rows[inside] + np.eye(rows.shape[1]) / 10
    reach = np.einsum("ij,jk,ik->i", rows, np.linalg.inv(curvature), rows)
    error = np.abs(p - two)
    loss = np.log(np.where(two == 1, p, 1 - p) + 1e-12)
    return {"black box: loss": loss, "influence on itself": -error * (1 + reach * error)}


def forest(X: np.ndarray, y: np.ndarray, inside: np.ndarray, seed: int) -> Scores:
    """Leaf occupancy: how few training records share the leaf, and whether they have its class."""
    model = RandomForestClassifier(100, random_state=seed, n_jobs=1).fit(X[inside], y[inside])
    p = model.predict_proba(X)
    codes = np.searchsorted(model.classes_, y)
    occupancy = np.zeros(len(X))
    for tree in model.estimators_:
        leaf = tree.apply(X)
        share = tree.tree_.value[leaf, 0][np.arange(len(X)), codes]
        occupancy += share / np.sqrt(tree.tree_.n_node_samples[leaf])
    return {"black box: loss": p[np.arange(len(y)), codes], "leaf occupancy": occupancy}


def show_trees(adult: str | None) -> None:
    of_trees = {name: Records(X, y) for name, (X, y) in tables().items()}
    of_trees["cancer"] = Records(*load_breast_cancer(return_X_y=True))
    if adult is not None:
        of_trees["adult"] = load_adult(adult).limited(4_000, np.random.default_rng(0)).records
    for table, records in of_trees.items():
        for model in (
            RandomForestClassifier(100),
            RandomForestClassifier(100, min_samples_leaf=5),
            DecisionTreeClassifier(),
        ):
            words = [f"{table:<10} {type(model).__name__:<24} leaf {model.min_samples_leaf}:"]
            inside = np.random.default_rng(0).random(len(records)) < 0.5
            sides = records.take(inside), records.take(~inside)
            trained = SklearnTrainer(model, encode=True).train(
                sides[0].X, sides[0].y, rng=np.random.default_rng(0)
            )
            for attack in (CertaintyMIA(), TreeMIA()):
                threat_model = ModelMIA(trained, *sides, access="parameters", seed=0)
                start = time.process_time()
                attack.train(threat_model)
                found = threat_model.test(attack)
                words.append(
                    f"{attack.label} {found.auc:.3f}/{100 * found.tpr_at_fpr(0.01).tpr:.1f}"
                    f" ({time.process_time() - start:.1f} s)"
                )
            print(*words, flush=True)


def marked_people(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, class, and a mark that is one of the inputs."""
    rng = np.random.default_rng(seed)
    marked = rng.random(4_000) < 0.5
    X = rng.standard_normal((4_000, 9))
    X[:, 0] += 0.5 * marked
    X[:, 1] -= 0.3 * marked
    told = 1.2 * X[:, 0] + X[:, 1] * X[:, 2] - 0.6 * marked * X[:, 3] + 0.5 * X[:, 4]
    y = (told + 0.7 * rng.logistic(size=4_000) > 0).astype(int)
    return np.column_stack([X, marked]), y, marked


def show_properties() -> None:
    network = MLPClassifier((32,), max_iter=200, learning_rate_init=0.01)
    for model in (RandomForestClassifier(20), network):
        attacks = PropertyClassifier(), WhiteBoxPropertyClassifier()
        found: dict[str, list[float]] = {attack.label: [] for attack in attacks}
        for seed in range(2):
            X, y, marked = marked_people(seed)
            threat_model = ModelPropertyInference(
                model, (X, y), marked, num_records=200, access="parameters", seed=seed, n_jobs=1
            )
            for attack in attacks:
                attack.train(threat_model, num_samples=80)
                found[attack.label].append(threat_model.test(attack, num_samples=80).auc)
        words = ", ".join(f"{name} {np.mean(one):.3f}" for name, one in found.items())
        print(f"{type(model).__name__:<24} {words}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--adult")
    parser.add_argument("--part", choices=["membership", "property"], default="membership")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.part == "property":
        return show_properties()
    show_trees(asked.adult)
    kinds: dict[str, Callable[..., Scores]] = {
        "network": network,
        "linear": linear,
        "forest": forest,
    }
    for table, (X, y) in tables().items():
        for kind, attack in kinds.items():
            found: dict[str, list[float]] = {}
            for seed in range(SEEDS):
                inside = np.random.default_rng(seed).random(len(X)) < 0.5
                for name, scores in attack(X, y, inside, seed).items():
                    found.setdefault(name, []).append(auc(inside, scores))
            words = ", ".join(f"{name} {np.median(one):.3f}" for name, one in found.items())
            print(f"{table:<10} {kind:<8} {words}", flush=True)


if __name__ == "__main__":
    main()
