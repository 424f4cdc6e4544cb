"""Shadow perceptrons on a GPU: 16 to 1,024 models in lockstep, one captured step replayed.

Run with ``PYTHONPATH=src python benchmarks/gpu/bench_batched_mlp.py [MODELS ...]``. Needs torch
with CUDA, numpy, pandas and what the package itself needs; no data. Every model has 5,000 of
10,000 records with 100 columns, 128 hidden units and 30 epochs, and its own standardisation,
initial weights and order. Times are seconds by the clock for the whole call, from numpy arrays to
models that answer in numpy; the best of three, after one small call that starts the device.
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from tapas.models import MLPModel, TorchMLPTrainer
from tapas.models import _mlp_stack as stack

RECORDS, COLUMNS, HIDDEN, EPOCHS = 10_000, 100, 128, 30
GOALS = {256: 1.0, 1024: 2.5}
REPEATS = 3


def make_data() -> tuple[np.ndarray, np.ndarray]:
    """Two noisy classes that a perceptron separates far better than chance, and not perfectly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(RECORDS, COLUMNS))
    hidden = np.tanh(X[:, :20] @ rng.normal(size=(20, 8)) / 2)
    y = (hidden @ rng.normal(size=8) + 0.5 * rng.normal(size=RECORDS) > 0).astype(int)
    return X * rng.uniform(0.5, 20, COLUMNS) + rng.normal(size=COLUMNS) * 10, y


def halves(models: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.random((models, RECORDS)).argsort(axis=1) < RECORDS // 2


def train(
    device: str, X: np.ndarray, y: np.ndarray, masks: np.ndarray, epochs: int = EPOCHS
) -> tuple[float, list[MLPModel]]:
    trainer = TorchMLPTrainer((HIDDEN,), epochs, device=device)
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    models = trainer.train_many(X, y, masks, rng=np.random.default_rng(2), n_jobs=1)
    return time.perf_counter() - start, models


def accuracies(
    models: list[MLPModel], X: np.ndarray, y: np.ndarray, masks: np.ndarray
) -> tuple[float, float]:
    few = range(0, len(models), max(1, len(models) // 16))
    correct = {i: models[i].predict(X) == y for i in few}
    return (
        float(np.mean([correct[i][masks[i]].mean() for i in few])),
        float(np.mean([correct[i][~masks[i]].mean() for i in few])),
    )


def replay_seconds(X: np.ndarray, y: np.ndarray, masks: np.ndarray) -> float:
    """The part of a call that is spent in training steps on the device, capture included."""
    spent = []
    original = stack._Stack.run

    def timed(self: stack._Stack) -> None:
        torch.cuda.synchronize()
        start = time.perf_counter()
        original(self)
        spent.append(time.perf_counter() - start)

    stack._Stack.run = timed
    try:
        train("cuda", X, y, masks)
    finally:
        stack._Stack.run = original
    return sum(spent)


def without_graph(X: np.ndarray, y: np.ndarray, masks: np.ndarray) -> float:
    """The same steps launched one kernel at a time."""

    def launched(step: Callable[[], None], times: int, state: object) -> None:
        for _ in range(times):
            step()
        torch.cuda.synchronize()

    original = stack.repeat_step
    stack.repeat_step = launched
    try:
        return train("cuda", X, y, masks)[0]
    finally:
        stack.repeat_step = original


def check_against_cpu(X: np.ndarray, y: np.ndarray) -> float:
    """Largest difference in probability from the same models trained on the CPU, a few epochs."""
    masks = halves(4)
    _, on_gpu = train("cuda", X, y, masks, epochs=2)
    _, on_cpu = train("cpu", X, y, masks, epochs=2)
    pairs = zip(on_gpu, on_cpu, strict=True)
    return max(float(np.abs(a.predict_proba(X) - b.predict_proba(X)).max()) for a, b in pairs)


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("this benchmark needs a GPU: torch.cuda.is_available() is False")
    sizes = [int(argument) for argument in sys.argv[1:]] or [16, 64, 256, 1024]
    X, y = make_data()
    first, _ = train("cuda", X, y, halves(2), epochs=1)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; first call {first:.2f} s")
    print(f"largest difference from the CPU after two epochs: {check_against_cpu(X, y):.1e}")
    print(
        f"{'models':>7}{'seconds':>9}{'goal':>6}{'on device':>11}{'no graph':>10}{'same bits':>11}"
        f"{'train acc':>11}{'test acc':>10}{'GiB':>6}"
    )
    for size in sizes:
        masks = halves(size)
        torch.cuda.reset_peak_memory_stats()
        runs = [train("cuda", X, y, masks) for _ in range(REPEATS)]
        peak = torch.cuda.max_memory_allocated() / 2**30
        first_run, last_run = runs[0][1], runs[-1][1]
        same = all(
            np.array_equal(a.predict_proba(X[:100]), b.predict_proba(X[:100]))
            for a, b in zip(first_run, last_run, strict=True)
        )
        seen, unseen = accuracies(last_run, X, y, masks)
        print(
            f"{size:>7}{min(run[0] for run in runs):>9.2f}{GOALS.get(size, ''):>6}"
            f"{replay_seconds(X, y, masks):>11.2f}{without_graph(X, y, masks):>10.2f}"
            f"{same!s:>11}{seen:>11.3f}{unseen:>10.3f}{peak:>6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
