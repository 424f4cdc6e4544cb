"""The contract of a trainer: kept by every built-in one, broken one promise at a time by others."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from tapas.errors import ConfigError, TapasError
from tapas.models import (
    CallableTrainer,
    Model,
    SklearnTrainer,
    TorchMLPTrainer,
    Trainer,
    TrainingPlan,
    as_model,
)
from tapas.testing import check_trainer

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(48, 4))
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > 0, "this", "that"))
Y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])]


def _tree(inputs: Any, labels: np.ndarray, seed: int) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_features=1, random_state=seed).fit(inputs, labels)


def _function(inputs: Any, labels: np.ndarray, seed: int) -> Callable[[Any], np.ndarray]:
    return _tree(inputs, labels, seed).predict_proba


def _perceptrons(**options: Any) -> Trainer:
    pytest.importorskip("torch", reason="torch is not installed")
    return TorchMLPTrainer(hidden=(6,), epochs=2, batch_size=16, device="cpu", **options)


BUILT_IN: dict[str, tuple[Callable[[], Any], Any]] = {
    "clones": (lambda: SklearnTrainer(RandomForestClassifier(3)), X),
    "an estimator": (lambda: DecisionTreeClassifier(max_features=1), X),
    "clones behind an encoding": (
        lambda: SklearnTrainer(DecisionTreeClassifier(), encode=True),
        FRAME,
    ),
    "a function": (lambda: CallableTrainer(_tree), X),
    "a function of functions": (lambda: CallableTrainer(_function), X),
    "perceptrons": (_perceptrons, X),
    "perceptrons, two at a time": (lambda: _perceptrons(models_at_once=2), FRAME),
}


@pytest.mark.parametrize("made", BUILT_IN)
def test_every_built_in_trainer_keeps_every_promise(made: str) -> None:
    make, inputs = BUILT_IN[made]
    assert len(check_trainer(make(), inputs, Y)) == 13


@dataclass(frozen=True)
class Trees(Trainer):
    """Keeps every promise, until a subclass does not."""

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        return as_model(_tree(X, y, int(rng.integers(2**31))))


class WithoutLabel(Trees):
    label = ""


class Whim(Trees):
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        return super().train(X, y, rng=np.random.default_rng())


class Counts(Trees):
    made = [0]  # noqa: RUF012 - what must not be shared

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        self.made[0] += 1
        return super().train(X, y, rng=np.random.default_rng(self.made[0] % 6))


class ManyAnotherWay(Trees):
    def train_many(self, X: Any, y: Any, masks: Any, *, rng: Any, n_jobs: Any = None) -> Any:
        return [self.train(X[mask], y[mask], rng=rng).aligned(np.unique(y)) for mask in masks]


class OneProcessAnotherWay(Trees):
    def train_many(self, X: Any, y: Any, masks: Any, *, rng: Any, n_jobs: Any = None) -> Any:
        if n_jobs == 2:
            rng.random()
        return super().train_many(X, y, masks, rng=rng, n_jobs=1)


class DrawsFromGlobals(Trees):
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        return as_model(_tree(X, y, np.random.randint(1000)))  # noqa: NPY002


class SeesEverything(Trees):
    def train_some(self, plan: TrainingPlan, keys: Any) -> Any:
        everybody = np.ones((keys[-1] + 1, len(plan.y)), dtype=bool)
        return super().train_some(TrainingPlan.checked(plan.X, plan.y, everybody, plan.seed), keys)


class ClassesAsSeen(Trees):
    def train_some(self, plan: TrainingPlan, keys: Any) -> Any:
        return [self.train(X, y, rng=rng) for X, y, rng in map(plan.lesson, keys)]


class ChangesLabels(Trees):
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        return super().train(X, y, rng=rng)

    def train_some(self, plan: TrainingPlan, keys: Any) -> Any:
        models = super().train_some(plan, keys)
        np.asarray(plan.X)[0] += 1
        return models


class Grows(Trees):
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        object.__setattr__(self, "last", y)
        return super().train(X, y, rng=rng)


class Immobile(Trees):
    def __reduce__(self) -> Any:
        raise TypeError("cannot be pickled")


class WhimsicalModels(Trees):
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        classes = np.unique(y)

        def drawn(inputs: np.ndarray) -> np.ndarray:
            return np.full((len(inputs), len(classes)), 1 / len(classes)) * (len(inputs) < 40) + (
                np.eye(len(classes))[np.zeros(len(inputs), dtype=int)] * (len(inputs) >= 40)
            )

        return as_model(drawn, classes)


def test_a_trainer_of_ones_own_can_keep_every_promise() -> None:
    assert len(check_trainer(Trees(), X, Y)) == 13


@pytest.mark.parametrize(
    ("trainer", "promise"),
    [
        (WithoutLabel(), "label"),
        (Whim(), "repetition"),
        (Counts(), "order"),
        (ManyAnotherWay(), "many"),
        (OneProcessAnotherWay(), "processes"),
        (DrawsFromGlobals(), "global randomness"),
        (SeesEverything(), "own records"),
        (SeesEverything(), "unseen class"),
        (ClassesAsSeen(), "classes"),
        (ChangesLabels(), "data"),
        (Grows(), "identity"),
        (Immobile(), "travel"),
        (WhimsicalModels(), "models"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_broken_promise_is_named(trainer: Trainer, promise: str) -> None:
    with pytest.raises(AssertionError, match=f"(?m)^- {promise}: ") as caught:
        check_trainer(trainer, X.copy(), Y.copy())
    assert isinstance(caught.value, TapasError)


def test_two_classes_are_too_few_to_leave_one_out() -> None:
    with pytest.raises(ConfigError, match="needs at least 3; y has 2"):
        check_trainer(Trees(), X, X[:, 0] > 0)
