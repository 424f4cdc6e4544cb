"""How strong the default attacks on models are, beside the attacks that they are made of.

Run with ``python benchmarks/bench_model_strength.py [--adult PATH] [--seeds 1]
[--part references|alone|attribute|queries|extremes] [--counts 4 16]``.

"references": networks (128 units, torch) on digits, on simulated binary check-ins of 30 classes
(446 columns) and on UCI Adult, attacked with few and more reference models. "alone": a forest on
digits and one on Adult, boosting on simulated 20k tables, without any. "attribute": the sex of
those that a forest was trained on (Adult). "queries": reference attacks that ask once or nine times
about each record, of a network of digits as images and one of the check-ins. "extremes": LiRA by
each variance at 62 references, Adult, networks trained for 150 epochs (on a GPU if there is one):
TPR at 1 % and at .1 %, mean and standard deviation over 16 references attacked in turn. All splits
are drawn anew by the seed. AUC / TPR at 1 % false positives in %, or accuracy; CPU seconds of the
attack.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from real_tables import load_adult
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from tapas.attacks import (
    RMIA,
    BlackBoxMIA,
    CertaintyMIA,
    ConfidenceAIA,
    ImputationAIA,
    LiRA,
    LossMIA,
    QuantileMIA,
    RehearsedMIA,
)
from tapas.metrics import tpr_at_fpr
from tapas.models import Records, SklearnTrainer, TorchMLPTrainer
from tapas.threat_models import ModelAIA, ModelMIA

WITH_REFERENCES = {
    "LossMIA": LossMIA,
    "LiRA": LiRA,
    "RMIA, gamma and temperature 1": lambda: RMIA(gamma=1, temperature=1),
    "RMIA": RMIA,
    "RMIA offline": lambda: RMIA("offline"),
    "RehearsedMIA": RehearsedMIA,
}
ALONE = {
    "LossMIA": LossMIA,
    "BlackBoxMIA": lambda: BlackBoxMIA("gb"),
    "QuantileMIA": QuantileMIA,
    "CertaintyMIA": CertaintyMIA,
}


def checkins(number: int, seed: int, classes: int = 30, width: int = 446) -> Records:
    """Binary rows of four kinds in each class, as visits to places are."""
    rng = np.random.default_rng(seed)
    usual = rng.beta(0.35, 2.2, width)
    of_class = usual * np.exp(rng.normal(0, 0.9, (classes, 1, width)))
    kinds = np.clip(of_class * np.exp(rng.normal(0, 0.5, (classes, 4, width))), 0.002, 0.95)
    y = rng.integers(0, classes, number)
    X = rng.random((number, width)) < kinds[y, rng.integers(0, 4, number)]
    return Records(X.astype(float), y)


def halves(records: Records, seed: int) -> tuple[Records, Records]:
    order = np.random.default_rng(seed).permutation(len(records))
    half = len(order) // 2
    return records.take(order[:half]), records.take(order[half:])


def adult(path: str, rows: int, seed: int) -> Records:
    return load_adult(path).limited(rows, np.random.default_rng(seed)).records


def with_references(path: str | None, seed: int) -> Iterator[tuple[str, Records, int]]:
    yield "digits", Records(*load_digits(return_X_y=True)), 60
    yield "check-ins", checkins(4_000, seed), 30
    if path is not None:
        yield "adult", adult(path, 8_000, seed), 60


def alone(path: str | None, seed: int) -> Iterator[tuple[str, Records, SklearnTrainer]]:
    forest = SklearnTrainer(RandomForestClassifier(100), encode=True)
    yield "digits forest", Records(*load_digits(return_X_y=True)), forest
    if path is not None:
        yield "adult forest", adult(path, 8_000, seed), forest
    for classes in (5, 10):
        X, y = make_classification(
            20_000, 50, n_informative=20, n_classes=classes, random_state=seed
        )
        boosting = SklearnTrainer(HistGradientBoostingClassifier())
        yield f"20k boosting, {classes} classes", Records(X, y), boosting


def attacked(threat_model: ModelMIA, attacks: dict, count: int | None, where: str) -> None:
    for name, make in attacks.items():
        start, attack = time.process_time(), make()
        attack.train(threat_model, num_samples=count)
        summary = threat_model.test(attack)
        found = f"{summary.auc:.3f}/{100 * summary.tpr_at_fpr(0.01).tpr:.1f}"
        print(
            f"{where:24s} {name:32s} {found:>12s} {time.process_time() - start:6.1f} s", flush=True
        )


def show_references(options: argparse.Namespace, seed: int) -> None:
    for name, records, epochs in with_references(options.adult, seed):
        trainer = TorchMLPTrainer(epochs=epochs, device="cpu")
        inside, outside = halves(records, seed)
        model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(seed))
        threat_model = ModelMIA(
            model,
            inside,
            outside,
            known_share=0,
            trainer=trainer,
            num_shadows=max(options.counts),
            seed=seed,
            n_jobs=1,
        )
        for count in options.counts:
            attacked(threat_model, WITH_REFERENCES, count, f"{name}, {count} references")


def show_alone(options: argparse.Namespace, seed: int) -> None:
    for name, records, trainer in alone(options.adult, seed):
        inside, outside = halves(records, seed)
        model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(seed))
        attacked(ModelMIA(model, inside, outside, seed=seed), ALONE, None, name)


def show_attribute(options: argparse.Namespace, seed: int) -> None:
    if options.adult is None:
        return
    inside, outside = halves(adult(options.adult, 6_000, seed), seed)
    trainer = SklearnTrainer(RandomForestClassifier(100), encode=True)
    model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(seed))
    threat_model = ModelAIA(model, inside, "sex", population=outside, seed=seed)
    for attack in (ImputationAIA(), ConfidenceAIA(), ConfidenceAIA("imputation")):
        print(
            f"{'adult forest, sex':24s} {attack.label:32s} {threat_model.test(attack).accuracy:.3f}"
        )


def show_queries(options: argparse.Namespace, seed: int) -> None:
    images, digits = load_digits(return_X_y=True)
    visits = checkins(2_000, seed)
    flat = FunctionTransformer(lambda images: images.reshape(len(images), -1))
    network = MLPClassifier((64,), max_iter=60)
    for name, (X, y), trainer in (
        ("digits as images", (images.reshape(-1, 8, 8) / 16, digits), make_pipeline(flat, network)),
        ("check-ins", (visits.X, visits.y), network),
    ):
        order = np.random.default_rng(seed).permutation(len(X))
        inside, outside = np.array_split(order, 2)
        threat_model = ModelMIA(
            clone(trainer).fit(X[inside], y[inside]),
            (X[inside], y[inside]),
            (X[outside], y[outside]),
            known_share=0,
            trainer=trainer,
            num_shadows=16,
            seed=seed,
            n_jobs=1,
        )
        makes = {
            f"{make.__name__}, {number}": lambda make=make, number=number: make(queries=number)
            for make in (LiRA, RMIA, RehearsedMIA)
            for number in (1, 9)
        }
        attacked(threat_model, makes, 16, name)


def show_extremes(options: argparse.Namespace, seed: int) -> None:
    if options.adult is None:
        return
    inside, outside = halves(adult(options.adult, 8_000, seed), seed)
    trainer = TorchMLPTrainer(epochs=150)
    model = trainer.train(inside.X, inside.y, rng=np.random.default_rng(seed))
    threat_model = ModelMIA(
        model, inside, outside, known_share=0, trainer=trainer, num_shadows=64, seed=seed, n_jobs=1
    )
    board = threat_model.observe(LiRA(), training=True)
    for kind in ("auto", "shrunk", "agreed", "per-record", "pooled"):
        found = []
        for one in range(16):
            others = board.of_releases(board.groups != board.groups[one])
            compare = LiRA(variance=kind).comparison(others, 1e-12)
            scores = compare(board.values[[one]], others)[0]
            found.append([tpr_at_fpr(board.secrets[one], scores, at).tpr for at in (0.01, 0.001)])
        mean, spread = 100 * np.mean(found, axis=0), 100 * np.std(found, axis=0)
        told = "  ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(mean, spread, strict=True))
        print(f"{'adult, 62 references':24s} LiRA {kind:12s} {told}", flush=True)


def main() -> None:
    parts = {
        "references": show_references,
        "alone": show_alone,
        "attribute": show_attribute,
        "queries": show_queries,
        "extremes": show_extremes,
    }
    parser = argparse.ArgumentParser()
    parser.add_argument("--adult")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--part", choices=[*parts])
    parser.add_argument("--counts", type=int, nargs="+", default=[4, 16])
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # real tables hold equal records
        for seed in range(options.seeds):
            for name, show in parts.items():
                if options.part in (None, name):
                    show(options, seed)


if __name__ == "__main__":
    main()
