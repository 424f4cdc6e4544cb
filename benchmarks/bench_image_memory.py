"""Memory that an audit of a model of images takes, by the bytes of the images themselves.

Run with ``python benchmarks/bench_image_memory.py [IMAGES]`` (20,000 by default, of 3 x 32 x 32
pixels, half of them members). What a script holds already, the images, counts as nothing: 1.0 is
one copy. "audit" is one of LossMIA and BlackBoxMIA, "default" one to which no attacks are given,
and so CertaintyMIA, which learns models of its own. The last column is what the latter takes at its
peak beyond what it holds afterwards, in megabytes: scores, part of the pixels as points, the
baseline of the inputs and one batch, whatever the type of a pixel.
"""

import sys
import tracemalloc
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from tapas.attacks import BlackBoxMIA, LossMIA
from tapas.audit import Audit
from tapas.models import as_model
from tapas.threat_models import ModelMIA

IMAGES, SHAPE, CLASSES = 20_000, (3, 32, 32), 10


def probabilities(X: np.ndarray) -> np.ndarray:
    """A model without memory of its own."""
    scores = X[:, 0, 0, :CLASSES].astype(np.float32) + 1
    return scores / scores.sum(axis=1, keepdims=True)


def audited(images: np.ndarray, labels: np.ndarray) -> tuple[int, int, int, int]:
    """Bytes that the game holds, and at the peak of making it and of both audits."""
    model, half = as_model(probabilities, np.arange(CLASSES)), len(images) // 2
    tracemalloc.start()
    game = ModelMIA(
        model, (images[:half], labels[:half]), (images[half:], labels[half:]), seed=0, n_jobs=1
    )
    held, making = tracemalloc.get_traced_memory()
    peaks = []
    for attacks in ([LossMIA(), BlackBoxMIA("gb")], None):
        tracemalloc.reset_peak()
        Audit(game, attacks).run(n_jobs=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    return held, making, *peaks


def main(number: int) -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for model in (LogisticRegression(), HistGradientBoostingClassifier()):
        model.fit(rng.normal(size=(40, 2)), np.arange(40) % 2)  # imports are no memory of audits
    labels = rng.integers(0, CLASSES, number)
    whole = rng.integers(0, 256, (number, *SHAPE), dtype=np.uint8)
    audited(whole[:200], labels[:200])
    print(f"{number:,} images of {SHAPE}; copies of them\n")
    print(
        f"{'type':10s}{'MB':>8s}{'held':>8s}{'making':>8s}{'audit':>8s}"
        f"{'default':>9s}{'beyond, MB':>12s}"
    )
    for dtype in ("uint8", "float32", "float64"):
        images = whole.astype(dtype)
        found = audited(images, labels)
        copies = "".join(f"{part / images.nbytes:8.2f}" for part in found[:3])
        beyond = f"{found[3] / images.nbytes:9.2f}{(found[3] - found[0]) / 1e6:12.0f}"
        print(f"{dtype:10s}{images.nbytes / 1e6:8.0f}{copies}{beyond}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
