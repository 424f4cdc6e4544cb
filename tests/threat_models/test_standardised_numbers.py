"""Numbers on one scale, worked on by parts."""

import numpy as np
import pytest

from tapas.models import as_model
from tapas.threat_models import ModelMIA
from tapas.threat_models._standardised import Standardised


@pytest.fixture
def numbers() -> np.ndarray:
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(2_300, 5)) @ rng.normal(size=(5, 90))
    found = (40 * mixed + rng.normal(size=mixed.shape)).astype(np.float32)
    found[:, 7] = 0.1
    return found


def test_parts_are_standardised_as_the_whole(numbers: np.ndarray) -> None:
    whole = Standardised.of([numbers[:900], numbers[900:]]).whole()
    plain = numbers.astype(float)
    others = np.delete(np.arange(90), 7)
    expected = (plain - plain.mean(axis=0))[:, others] / plain.std(axis=0)[others]
    assert np.allclose(whole[:, others], expected)
    assert np.allclose(whole[:, 7], 0, atol=1e-5)


def test_units_do_not_matter(numbers: np.ndarray) -> None:
    small = Standardised.of([numbers.astype(float) * 2.0**-60]).whole()
    assert np.array_equal(small, Standardised.of([numbers.astype(float)]).whole())


@pytest.mark.parametrize("repeats", [1, 8])
def test_few_components_hold_nearly_all(numbers: np.ndarray, repeats: int) -> None:
    """Of 90 columns by themselves, and of 720 by a random projection: five directions say it."""
    wide = Standardised.of(np.split(np.tile(numbers, (1, repeats)), [1_000]))
    reduced = wide.reduced(5)
    assert reduced.shape == (2_300, 5)
    back, *_ = np.linalg.lstsq(reduced, wide.whole(), rcond=None)
    left = ((wide.whole() - reduced @ back) ** 2).sum() / (wide.whole() ** 2).sum()
    assert left < 0.01


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_models_are_asked_about_images_of_the_type_that_was_given(dtype: type) -> None:
    seen = set()

    def model(X: np.ndarray) -> np.ndarray:
        seen.add((X.dtype, X.shape[1:]))
        return np.full((len(X), 2), 0.5)

    rng = np.random.default_rng(1)
    sides = [(rng.integers(0, 255, (40, 1, 6, 6)).astype(dtype), np.arange(40) % 2) for _ in "ab"]
    game = ModelMIA(as_model(model, [0, 1]), *sides, seed=0)
    game.performance()
    assert game.game.inputs_alone is not None
    assert seen == {(np.dtype(dtype), (1, 6, 6))}
