"""Shadow models: perceptrons trained many at once, beside loops that train them one by one.

Then a whole audit: the shadow models and every attack that reads scores. Run with
``python benchmarks/bench_shadow_training.py [MODELS]`` (36 by default). Every model has 5,000 of
10,000 records with 100 columns, 128 hidden units and 30 epochs; everything runs on one thread, and
times are CPU seconds of this process. The loops train a few models and are scaled up.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from tapas.attacks import (
    RMIA,
    BlackBoxMIA,
    CalibratedLossMIA,
    ConfidenceMIA,
    EntropyMIA,
    LiRA,
    LossMIA,
    ModifiedEntropyMIA,
    QuantileMIA,
    RuleBasedMIA,
)
from tapas.models import SklearnTrainer, TorchMLPTrainer
from tapas.threat_models import ModelMIA

RECORDS, COLUMNS, HIDDEN, EPOCHS, BATCH = 10_000, 100, 128, 30, 128
LOOPED = 3


def cpu_seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def halves(models: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    masks = np.zeros((models, RECORDS), dtype=bool)
    for mask in masks:
        mask[rng.permutation(RECORDS)[: RECORDS // 2]] = True
    return masks


def torch_loop(X: np.ndarray, y: np.ndarray, masks: np.ndarray) -> list[Callable]:
    """What a script does: a module, an optimiser and a loop over batches for every model."""
    answers = []
    for seed, mask in enumerate(masks):
        torch.manual_seed(seed)
        own = X[mask]
        mean, spread = own.mean(axis=0), own.std(axis=0)
        inputs = torch.tensor((own - mean) / spread, dtype=torch.float32)
        labels = torch.tensor(y[mask])
        module = torch.nn.Sequential(
            torch.nn.Linear(COLUMNS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 2)
        )
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        loss = torch.nn.CrossEntropyLoss()
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(inputs)).split(BATCH):
                optimizer.zero_grad()
                loss(module(inputs[rows]), labels[rows]).backward()
                optimizer.step()

        def predict(
            rows: np.ndarray, module: Any = module, mean: Any = mean, spread: Any = spread
        ) -> np.ndarray:
            with torch.no_grad():
                scaled = torch.tensor((rows - mean) / spread, dtype=torch.float32)
                return module(scaled).argmax(dim=1).numpy()

        answers.append(predict)
    return answers


def held_out_accuracy(
    predictors: list[Callable], X: np.ndarray, y: np.ndarray, masks: np.ndarray
) -> float:
    pairs = zip(predictors, masks, strict=True)
    return float(np.mean([(predict(X[~mask]) == y[~mask]).mean() for predict, mask in pairs]))


def sklearn_models(X: np.ndarray, y: np.ndarray, masks: np.ndarray) -> list[Callable]:
    estimator = MLPClassifier((HIDDEN,), max_iter=EPOCHS, batch_size=BATCH, n_iter_no_change=EPOCHS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained = SklearnTrainer(estimator).train_many(
            X, y, masks, rng=np.random.default_rng(0), n_jobs=1
        )
    return [model.predict for model in trained]


def audit(
    trainer: TorchMLPTrainer, X: np.ndarray, y: np.ndarray, number: int
) -> list[tuple[str, float, float]]:
    """CPU seconds and AUC of each attack; the first one waits for the shadow models."""
    half = RECORDS // 2
    target = trainer.train(X[:half], y[:half], rng=np.random.default_rng(5))
    threat_model = ModelMIA(
        target,
        (X[:half], y[:half]),
        (X[half:], y[half:]),
        trainer=trainer,
        num_shadows=number,
        seed=0,
        n_jobs=1,
    )
    attacks = [
        *(LiRA(), LiRA(mode="offline"), RMIA(), RMIA(mode="offline"), CalibratedLossMIA()),
        *(LossMIA(), ConfidenceMIA(), EntropyMIA(), ModifiedEntropyMIA(), RuleBasedMIA()),
        *(QuantileMIA(), BlackBoxMIA("nn"), BlackBoxMIA("rf"), BlackBoxMIA("gb")),
    ]

    def play(attack: Any) -> float:
        attack.train(threat_model)
        return threat_model.test(attack).auc

    return [(attack.label, *cpu_seconds(lambda a=attack: play(a))) for attack in attacks]


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 36
    X, y = make_classification(
        RECORDS, COLUMNS, n_informative=20, n_redundant=20, flip_y=0.1, random_state=0
    )
    masks = halves(number)
    trainer = TorchMLPTrainer((HIDDEN,), EPOCHS, BATCH, device="cpu")
    tiny = TorchMLPTrainer((2,), 1, device="cpu")
    tiny.train(X[:50], y[:50], rng=np.random.default_rng(0))
    torch.set_num_threads(1)
    with threadpool_limits(limits=1):
        batched, models = cpu_seconds(
            lambda: trainer.train_many(X, y, masks, rng=np.random.default_rng(0), n_jobs=1)
        )
        looped, loop_models = cpu_seconds(lambda: torch_loop(X, y, masks[:LOOPED]))
        cloned, clones = cpu_seconds(lambda: sklearn_models(X, y, masks[:LOOPED]))
        asked, scores = cpu_seconds(lambda: np.stack([m.predict_proba(X) for m in models]))
        attacked, played = cpu_seconds(lambda: audit(trainer, X, y, number))
        again = trainer.train_many(X, y, masks[:1], rng=np.random.default_rng(0), n_jobs=1)
    rows = [
        ("batched", batched / number, held_out_accuracy([m.predict for m in models], X, y, masks)),
        ("torch loop", looped / LOOPED, held_out_accuracy(loop_models, X, y, masks[:LOOPED])),
        ("scikit-learn", cloned / LOOPED, held_out_accuracy(clones, X, y, masks[:LOOPED])),
    ]
    print(f"{'training':<14}{'s a model':>10}{f'{number} models':>12}{'ratio':>7}{'accuracy':>10}")
    for name, each, accuracy in rows:
        total = each * number
        print(f"{name:<14}{each:>10.3f}{total:>12.1f}{total / batched:>7.2f}{accuracy:>10.3f}")
    print(f"scores of all {number} models on {RECORDS} records: {asked:.2f} s, {scores.shape}")
    drift = np.abs(again[0].predict_proba(X) - scores[0]).max()
    print(f"first model trained alone differs by at most {drift:.1e} in probability")
    print(f"\n{'attack':<34}{'CPU s':>8}{'AUC':>8}")
    for label, seconds, auc in played:
        print(f"{label:<34}{seconds:>8.2f}{auc:>8.3f}")
    print(f"{f'target, {number} shadow models, attacks':<34}{attacked:>8.2f}")


if __name__ == "__main__":
    main()
