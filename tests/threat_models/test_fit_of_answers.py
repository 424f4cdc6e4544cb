"""How well answers fit inputs, by models that know of no side."""

import numpy as np
import pytest

from tapas.models import CallableModel, Records, ResidualModel, with_targets
from tapas.threat_models._fit_of_answers import answers_of, fit_of_answers
from tapas.threat_models._points import Points

RNG = np.random.default_rng
MODEL = CallableModel(lambda X: np.full((len(X), 2), 0.5), [0, 1])


def noisy_half(seed: int, size: int = 800) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, a class that half of the records follow and half toss a coin for, and which do."""
    rng = RNG(seed)
    X = rng.normal(size=(size, 4))
    follows = np.arange(size) % 2 == 0
    y = np.where(follows, X[:, 0] > 0, rng.random(size) < 0.5).astype(int)
    return X, y, follows


def fit(model: CallableModel | ResidualModel, *parts: Records) -> np.ndarray:
    return fit_of_answers(answers_of(Points(parts), model), rng=RNG(0))


def several(X: np.ndarray, *columns: np.ndarray, classes: list[np.ndarray] | None) -> np.ndarray:
    records = Records(with_targets(X, np.column_stack(columns).astype(float)), ["fits"] * len(X))
    return fit(ResidualModel(lambda rows: rows, np.ones(len(columns)), classes), records)


def test_classes_numbers_and_several_classes_that_follow_inputs_fit_better() -> None:
    X, y, follows = noisy_half(0)
    off = np.where(follows, 0.1, 1.0) * RNG(1).normal(size=len(X))
    for found in (
        fit(MODEL, Records(X, y)),
        several(X, X[:, 0] + off, classes=None),
        several(X, y, RNG(2).integers(0, 3, len(X)), classes=[np.arange(2), np.arange(3)]),
    ):
        assert found.shape == (len(X), 2)
        assert (found[follows].mean(axis=0) > found[~follows].mean(axis=0) + 0.3).all()


def test_nobody_is_judged_by_a_model_that_saw_them() -> None:
    X, y = RNG(3).normal(size=(800, 4)), RNG(4).integers(0, 2, 800)
    # Classes are coins: were a record seen, the forest would be sure of its class.
    assert np.abs(fit(MODEL, Records(X, y)).mean(axis=0)).max() < 0.2


def test_records_in_parts_fit_as_they_do_together() -> None:
    X, y, _ = noisy_half(5)
    whole = fit(MODEL, Records(X, y))
    parts = fit(MODEL, Records(X[:300], y[:300]), Records(X[300:], y[300:]))
    np.testing.assert_allclose(parts, whole)


@pytest.mark.parametrize("width", [0, 4])
def test_without_inputs_or_with_one_class_nothing_is_told(width: int) -> None:
    X = RNG(6).normal(size=(100, width))
    y = np.arange(100) % 2 if width == 0 else np.zeros(100, dtype=int)
    assert fit(MODEL, Records(X, y)).shape == (100, 0)
