"""What a game of a model of images holds in memory, by the bytes of the images."""

import tracemalloc

import numpy as np
import pytest

from tapas.models import as_model
from tapas.threat_models import ModelMIA

SHAPE = (3, 20, 20)


def constant(X: np.ndarray) -> np.ndarray:
    """A model without memory of its own."""
    return np.full((len(X), 2), 0.5)


def game(images: np.ndarray) -> ModelMIA:
    half, classes = len(images) // 2, np.arange(len(images)) % 2
    members, others = (
        (images[part], classes[part]) for part in (slice(None, half), slice(half, None))
    )
    return ModelMIA(as_model(constant, [0, 1]), members, others, seed=0, n_jobs=1)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_images_are_copied_once_into_the_records_known_and_judged(dtype: str) -> None:
    images = np.random.default_rng(0).integers(0, 256, (1_000, *SHAPE)).astype(dtype)
    game(images[:40])  # imports are no memory of images
    tracemalloc.start()
    made = game(images).game
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.known is not None
    rows = [side.records.X for side in (made.known, made.candidates)]
    assert {part.dtype for part in rows} == {np.dtype(dtype)}  # no number is made wider
    assert sum(part.nbytes for part in rows) == images.nbytes
    assert 1.0 <= held / images.nbytes < 1.5


def test_telling_sides_apart_makes_no_wide_copy_of_the_images() -> None:
    images = np.random.default_rng(1).integers(0, 256, (6_000, *SHAPE), dtype=np.uint8)
    assert game(images[:40]).game.inputs_alone is not None
    made = game(images).game
    tracemalloc.start()
    assert made.inputs_alone is not None
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 0.1 * images.nbytes  # a number of each record
    # The directions that they are reduced to, and a block; as float64 they would be 8 times.
    assert peak < 6 * images.nbytes


def test_images_of_very_many_pixels_are_reduced_all_the_same() -> None:
    images = np.random.default_rng(2).integers(0, 256, (40, 3, 48, 48), dtype=np.uint8)
    made = game(images).game
    tracemalloc.start()
    assert made.inputs_alone is not None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    width = images[0].size
    assert peak < width * 600 * 8 * 2  # a matrix of all pixels by all would be 6 times that
