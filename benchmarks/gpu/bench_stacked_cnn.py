"""Shadow networks of images on a GPU: copies of a small CNN in lockstep, beside one by one.

Run with ``PYTHONPATH=src python benchmarks/gpu/bench_stacked_cnn.py [MODELS ...]``. Needs torch
with CUDA, numpy, pandas and what the package itself needs; no data. Every model has 1,000 of 2,000
images of 8 x 8 with ten classes, and 20 epochs of its own order and initial weights. Times are
seconds by the clock for the whole call, from numpy arrays to modules that answer on the CPU; the
best of two, after one small call that starts the device.
"""

import sys
import time

import numpy as np
import torch

from tapas.models import Model, TorchTrainer

IMAGES, EPOCHS = 2_000, 20


def small_cnn() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 10),
    )


def make_images() -> tuple[np.ndarray, np.ndarray]:
    """Ten blurred patterns under noise, of which a network learns most, and not all."""
    rng = np.random.default_rng(0)
    patterns, y = rng.normal(size=(10, 1, 8, 8)), rng.integers(0, 10, IMAGES)
    return patterns[y] + 2.0 * rng.normal(size=(IMAGES, 1, 8, 8)), y


def train(
    models: int, X: np.ndarray, y: np.ndarray, masks: np.ndarray, at_once: int = 1024
) -> tuple[float, list[Model]]:
    trainer = TorchTrainer(small_cnn, EPOCHS, device="cuda", models_at_once=at_once)
    torch.cuda.synchronize()
    start = time.perf_counter()
    made = trainer.train_many(X, y, masks[:models], rng=np.random.default_rng(2))
    return time.perf_counter() - start, made


def eager_seconds(X: np.ndarray, y: np.ndarray, mask: np.ndarray) -> float:
    """One model by torch alone, as many people write it."""
    inputs = torch.tensor(X[mask], dtype=torch.float32, device="cuda")
    classes = torch.tensor(y[mask], device="cuda")
    torch.cuda.synchronize()
    start = time.perf_counter()
    module = small_cnn().cuda()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs), device="cuda").split(128):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(module(inputs[rows]), classes[rows]).backward()
            optimizer.step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def main() -> None:
    if not torch.cuda.is_available():
        sys.exit("this benchmark needs a GPU: torch.cuda.is_available() is False")
    sizes = [int(argument) for argument in sys.argv[1:]] or [16, 128, 1024]
    X, y = make_images()
    masks = np.random.default_rng(1).random((max(sizes), IMAGES)).argsort(axis=1) < IMAGES // 2
    train(2, X, y, masks)
    eager_seconds(X, y, masks[0])
    eager = min(eager_seconds(X, y, masks[0]) for _ in range(3))
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}; one by one {eager:.3f} s each"
    )
    print(
        f"{'models':>7}{'seconds':>9}{'one by one':>12}{'ratio':>7}{'same bits':>11}{'seen':>7}"
        f"{'unseen':>8}"
    )
    for size in sizes:
        torch.cuda.reset_peak_memory_stats()
        (first, models), (second, again) = (train(size, X, y, masks) for _ in range(2))
        same = all(
            np.array_equal(a.predict_proba(X[:50]), b.predict_proba(X[:50]))
            for a, b in zip(models[:50], again[:50], strict=True)
        )
        correct = models[0].predict(X) == y
        print(
            f"{size:>7}{min(first, second):>9.2f}{eager * size:>12.1f}"
            f"{eager * size / min(first, second):>7.0f}{same!s:>11}"
            f"{correct[masks[0]].mean():>7.3f}{correct[~masks[0]].mean():>8.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
