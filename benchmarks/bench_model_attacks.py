"""Attacks on models beside the published figures of the most used public toolbox.

Run with ``python benchmarks/bench_model_attacks.py [--seeds 3] [--only digits]
[--first-seed 0] [--label-only] [--networks]``.

Targets are a tree, a forest and a network on digits (1,797 x 64), and a tree and a forest on
``make_classification`` (20,000 x 50, five classes); half are members, half of each kind is known to
the attacker. Published figures (version 1.20.1 of that toolbox, one thread, medians of three seeds)
come from other splits, so the columns "twin" show, on the splits of this run, plain scikit-learn
models on the inputs that the toolbox's attack models read (probabilities and one-hot class).
Times are CPU seconds on one thread.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
import threadpoolctl
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.attacks.models._black_box import BlackBoxMIA
from tapas.attacks.models._calibrated import CalibratedLossMIA
from tapas.attacks.models._label_only import LabelOnlyMIA
from tapas.attacks.models._lira import LiRA
from tapas.attacks.models._quantile import QuantileMIA
from tapas.attacks.models._rmia import RMIA
from tapas.attacks.models._rule_based import RuleBasedMIA
from tapas.attacks.models._score_attacks import (
    ConfidenceMIA,
    EntropyMIA,
    LossMIA,
    ModifiedEntropyMIA,
)
from tapas.threat_models._model_mia import ModelMIA

TARGETS = [
    ("digits", "tree"),
    ("digits", "forest"),
    ("digits", "network"),
    ("20k", "tree"),
    ("20k", "forest"),
]
PUBLISHED = {
    "RuleBasedMIA": (0.593, 0.516, 0.510, 0.725, 0.598),
    "BlackBoxMIA(nn)": (0.503, 0.803, 0.529, 0.516, 0.971),
    "BlackBoxMIA(rf)": (0.616, 0.784, 0.505, 0.732, 0.963),
    "BlackBoxMIA(gb)": (0.614, 0.797, 0.504, 0.729, 0.972),
    "LabelOnlyMIA(boundary, 570 queries)": (0.666, 0.538, 0.571, 0.600, 0.602),
}
PUBLISHED_FIT = {"digits": "2.5-2.8", "20k": "25-30"}
PUBLISHED_WALK = {"tree": "21-24", "network": "40-52", "forest": "700"}
SHADOWS = 8
WALKED = {"digits": 898, "20k": 1_000}  # records of each kind, in the label-only table


def split(name: str, seed: int) -> tuple:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
    else:
        X, y = make_classification(20_000, 50, n_informative=20, n_classes=5, random_state=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    half = len(y) // 2
    return (X[order[:half]], y[order[:half]]), (X[order[half:]], y[order[half:]])


def untrained(kind: str, seed: int) -> object:
    if kind == "tree":
        return DecisionTreeClassifier(random_state=seed)
    if kind == "forest":
        return RandomForestClassifier(100, random_state=seed)
    return MLPClassifier((128,), max_iter=200, random_state=seed)


def twins(threat_model: ModelMIA, seed: int) -> dict[str, float]:
    """Attack models on probabilities and one-hot class, as a script would write them."""
    probe = BlackBoxMIA("lr")
    known = threat_model.observe(probe)
    judged = threat_model.observe(probe, training=False)

    def inputs(values: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [values[0][:, 1:], np.eye(values.shape[2] - 1)[values[0][:, 0].astype(int)]], axis=1
        )

    found = {}
    for name, model in (
        ("rf", RandomForestClassifier(100, random_state=seed)),
        ("gb", GradientBoostingClassifier(random_state=seed)),
        ("nn", MLPClassifier((64,), random_state=seed)),
    ):
        model.fit(inputs(known.values), known.secrets[0])
        scores = model.predict_proba(inputs(judged.values))[:, 1]
        found[f"BlackBoxMIA({name})"] = roc_auc_score(judged.secrets[0], scores)
    return found


def known_record_attacks() -> list:
    return [
        RuleBasedMIA(),
        LossMIA(),
        ConfidenceMIA(),
        EntropyMIA(),
        ModifiedEntropyMIA(),
        BlackBoxMIA("nn"),
        BlackBoxMIA("rf"),
        BlackBoxMIA("gb"),
        BlackBoxMIA("lr"),
        QuantileMIA(),
    ]


def reference_attacks() -> list:
    return [CalibratedLossMIA(), LiRA(), LiRA("offline"), RMIA(), RMIA("offline")]


def play(position: int, name: str, kind: str, seeds: range) -> None:
    found: dict[str, list] = defaultdict(list)
    beside: dict[str, list] = defaultdict(list)
    for seed in seeds:
        members, others = split(name, seed)
        model = untrained(kind, seed).fit(*members)
        known = ModelMIA(model, members, others, seed=seed)
        start = time.process_time()
        references = ModelMIA(
            model, members, others, trainer=model, num_shadows=SHADOWS, seed=seed, n_jobs=1
        )
        _ = references.shadow_models
        training = time.process_time() - start
        for label, value in twins(known, seed).items():
            beside[label].append(value)
        for threat_model, attacks in (
            (known, known_record_attacks()),
            (references, reference_attacks()),
        ):
            for attack in attacks:
                start = time.process_time()
                attack.train(threat_model)
                fit = time.process_time() - start
                summary = threat_model.test(attack)
                point = summary.tpr_at_fpr(0.01).tpr
                found[attack.label].append((summary.auc, point, summary.accuracy, fit))
    accuracy = model.score(*others)
    print(f"\n{name} {kind}: test accuracy {accuracy:.2f}; {SHADOWS} references {training:.1f} s")
    print(
        f"{'attack':36s} {'AUC':>6s} {'TPR@1%':>7s} {'acc':>6s} {'fit s':>7s}"
        f" {'twin':>6s} {'published':>10s}"
    )
    for label, values in found.items():
        auc, tpr, right, fit = np.median(values, axis=0)
        twin = f"{np.median(beside[label]):6.3f}" if label in beside else ""
        old = f"{PUBLISHED[label][position]:.3f}" if label in PUBLISHED else ""
        slow = f" (fit {PUBLISHED_FIT[name]})" if label == "BlackBoxMIA(nn)" else ""
        print(
            f"{label:36s} {auc:6.3f} {tpr:7.3f} {right:6.3f} {fit:7.2f} {twin:>6s} {old:>10s}"
            f"{slow}",
            flush=True,
        )


def walk(position: int, name: str, kind: str, seeds: range) -> None:
    """Label-only attacks on some of the records; seconds are per 1,000 records."""
    found: dict[str, list] = defaultdict(list)
    right: dict[str, list] = defaultdict(list)
    for seed in seeds:
        members, others = split(name, seed)
        model = untrained(kind, seed).fit(*members)
        few = [(X[: WALKED[name]], y[: WALKED[name]]) for X, y in (members, others)]
        right["train"].append(model.score(*members))
        right["test"].append(model.score(*others))
        threat_model = ModelMIA(model, *few, access="labels", seed=seed)
        for attack in (
            LabelOnlyMIA(max_queries=570),
            LabelOnlyMIA(max_queries=570, calibrate=False),
            LabelOnlyMIA(max_queries=231),
            LabelOnlyMIA("noise", 193),
            LabelOnlyMIA("noise", 193, calibrate=False),
            RuleBasedMIA(),
        ):
            start = time.process_time()
            attack.train(threat_model)
            summary = threat_model.test(attack)
            seconds = (time.process_time() - start) / (2 * len(summary)) * 1000
            found[attack.label].append((summary.auc, seconds))
    accuracy = "/".join(f"{np.median(values):.2f}" for values in right.values())
    print(
        f"\n{name} {kind}, label-only, {WALKED[name]} records of each kind; train/test accuracy "
        f"{accuracy}; seeds {seeds.start}-{seeds.stop - 1}"
    )
    for label, values in found.items():
        auc, seconds = np.median(values, axis=0)
        old = ""
        if label in PUBLISHED and "Label" in label:
            old = f"{PUBLISHED[label][position]:.3f}, {PUBLISHED_WALK[kind]} s"
        each = " ".join(f"{value:.3f}" for value, _ in values)
        print(f"{label:52s} AUC {auc:.3f} ({each}), {seconds:6.2f} s   {old}", flush=True)


def networks() -> None:
    """36 perceptrons on 5,000 x 100 rows (torch), then every score-based attack."""
    from tapas.models import TorchMLPTrainer

    X, y = make_classification(10_000, 100, n_informative=20, n_classes=5, random_state=0)
    trainer = TorchMLPTrainer(hidden=(128,), epochs=30, device="cpu")
    model = trainer.train(X[:5_000], y[:5_000], rng=np.random.default_rng(0))
    start = time.process_time()
    threat_model = ModelMIA(
        model,
        (X[:5_000], y[:5_000]),
        (X[5_000:], y[5_000:]),
        known_share=0,
        trainer=trainer,
        num_shadows=36,
        seed=0,
        n_jobs=1,
    )
    _ = threat_model.shadow_models
    training = time.process_time() - start
    print(f"36 networks: {training:.1f} CPU s")
    for attack in [*known_record_attacks(), *reference_attacks()]:
        if isinstance(attack, RuleBasedMIA):
            continue
        began = time.process_time()
        attack.train(threat_model)
        summary = threat_model.test(attack)
        took = time.process_time() - began
        print(f"{attack.label:36s} AUC {summary.auc:.3f}, {took:.2f} s", flush=True)
    print(f"all together: {time.process_time() - start:.1f} CPU s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", choices=("digits", "20k"))
    parser.add_argument("--label-only", action="store_true")
    parser.add_argument("--networks", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    with threadpoolctl.threadpool_limits(1):
        if options.networks:
            networks()
            return
        for position, (name, kind) in enumerate(TARGETS):
            if options.only in (None, name):
                (walk if options.label_only else play)(position, name, kind, seeds)


if __name__ == "__main__":
    main()
