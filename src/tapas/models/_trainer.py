"""Training many models of one kind: the attacker's shadow models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tapas._random import integer_seed, seeded_globals
from tapas.engine import TaskFailedError, Workers, run_tasks
from tapas.errors import ConfigError, MechanismError, SchemaError
from tapas.models._adapt import as_model
from tapas.models._classes import as_labels, distinct_labels
from tapas.models._inputs import Inputs
from tapas.models._model import Model
from tapas.models._training_plan import TrainingPlan


class Trainer(ABC):
    """Trains a classifier on labelled records.

    A subclass writes `train`. Many models can then be trained anywhere and in any order: each
    depends on the seed, its own number and its own records alone.
    """

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    @property
    def models_at_once(self) -> int:
        """How many models of consecutive numbers are best trained together."""
        return 1

    @property
    def takes_shapes(self) -> bool:
        """Whether `train_some` takes arrays of any shape, and not rows alone."""
        return False

    @abstractmethod
    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model on the records `X` with classes `y`."""

    def train_some(self, plan: TrainingPlan, keys: Sequence[int]) -> list[Model]:
        """Train the models with the given numbers, wherever this is called.

        Parameters
        ----------
        plan : TrainingPlan
            What each model is trained on.
        keys : sequence of int
            Numbers of the models: consecutive, from a multiple of `models_at_once` on, and at
            most that many.

        Returns
        -------
        list of Model
            All with the classes of `y` in sorted order; a class that a model never saw has
            probability zero.
        """
        classes = distinct_labels(plan.y)
        lessons = map(plan.lesson, keys)
        return [self.train(X, y, rng=rng).aligned(classes) for X, y, rng in lessons]

    def train_many(
        self,
        X: Inputs,
        y: ArrayLike,
        masks: np.ndarray,
        *,
        rng: np.random.Generator,
        n_jobs: int | None = None,
    ) -> list[Model]:
        """Train one model for each row of `masks`, on the records that it marks.

        Parameters
        ----------
        X : array or DataFrame (n, d)
        y : array-like (n,)
        masks : array of bool (r, n)
            Which records each model is trained on.
        rng : Generator
        n_jobs : int, optional
            Number of processes; None decides by how long the work takes. The models do not
            depend on it.

        Returns
        -------
        list of Model
            As from `train_some`.
        """
        task = _TrainingTask(self, TrainingPlan.checked(X, y, masks, integer_seed(rng)))
        step = self.models_at_once
        stacks = [range(at, min(at + step, len(masks))) for at in range(0, len(masks), step)]
        made: dict[range, list[Model]] = {}
        try:
            run_tasks(task, stacks, receive=made.__setitem__, workers=Workers(n_jobs=n_jobs))
        except TaskFailedError as failure:
            cause = failure.__cause__
            if isinstance(cause, SchemaError | ConfigError):
                raise cause from None
            raise MechanismError(
                f"training {_named(failure.key)} failed: {type(cause).__name__}: {cause}"
            ) from cause
        return [model for stack in stacks for model in made[stack]]


@dataclass(frozen=True)
class CallableTrainer(Trainer):
    """Trains by calling a function.

    Attributes
    ----------
    function : callable
        ``function(X, y, seed)`` trains a model with the integer `seed` and returns anything that
        `as_model` accepts. The global numpy, random and torch generators are seeded as well.
    classes : sequence, optional
        Classes in the order of the outputs of what `function` returns; by default those that
        occur among the records it was given, sorted. Not used where the model knows its classes.
    outputs : str, optional
        As for `as_model`.
    """

    function: Callable[[Inputs, np.ndarray, int], object]
    classes: ArrayLike | None = None
    outputs: str | None = None

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def train(self, X: Inputs, y: ArrayLike, *, rng: np.random.Generator) -> Model:
        """Train one model."""
        labels, seed = as_labels(y), integer_seed(rng)
        with seeded_globals(seed):
            trained = self.function(X, labels, seed)
        knows_classes = isinstance(trained, Model) or hasattr(trained, "classes_")
        if knows_classes:
            return as_model(trained, outputs=self.outputs)
        classes = distinct_labels(labels) if self.classes is None else self.classes
        return as_model(trained, classes, outputs=self.outputs)


@dataclass(frozen=True, eq=False)
class _TrainingTask:
    """Trains the models of a stack; sent to each worker once."""

    trainer: Trainer
    plan: TrainingPlan

    def __call__(self, stack: range) -> list[Model]:
        return self.trainer.train_some(self.plan, stack)


def _named(stack: range) -> str:
    if len(stack) == 1:
        return f"model {stack.start}"
    return f"models {stack.start} to {stack.stop - 1}"
