"""Whether the parameters of a model tell more of membership than its scores do.

Run with ``python benchmarks/bench_white_box.py``: AUC of white-box statistics beside their
black-box twins, each a number per record, on overfitted networks, linear models and forests of
scikit-learn's digits and of a simulated table; medians of a few splits.
"""

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from tapas.metrics import auc

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


def main() -> None:
    warnings.simplefilter("ignore")
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
