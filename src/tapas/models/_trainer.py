"""Training many models of one kind: the attacker's shadow models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tapas._random import integer_seed, seeded_globals, stream
from tapas.engine import TaskFailedError, Workers, run_tasks
from tapas.errors import ConfigError, MechanismError, SchemaError
from tapas.models._adapt import as_model
from tapas.models._classes import as_labels, distinct_labels
from tapas.models._model import Model, as_rows


class Trainer(ABC):
    """Trains a classifier on labelled records.

    A subclass writes `train`. `train_many` then trains one model per mask on all cores; the models
    depend on the seed and on their own mask alone, not on how many cores there are.
    """

    @property
    def label(self) -> str:
        """Display name."""
        return type(self).__name__

    @abstractmethod
    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        """Train one model on the records `X` with classes `y`."""

    def train_many(
        self,
        X: Any,
        y: Any,
        masks: Any,
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
            Number of processes; None decides by how long the work takes.

        Returns
        -------
        list of Model
            All with the classes of `y` in sorted order; a class that a model never saw has
            probability zero.
        """
        rows, labels, chosen = checked_shadow_data(X, y, masks)
        task = _ShadowTask(self, rows, labels, distinct_labels(labels), chosen, integer_seed(rng))
        keys = list(range(len(chosen)))
        return run_training(task, keys, n_jobs=n_jobs, name=lambda key: f"model {key}")


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

    function: Callable[[Any, np.ndarray, int], Any]
    classes: Sequence[Any] | None = None
    outputs: str | None = None

    @property
    def label(self) -> str:
        """Display name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
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
class _ShadowTask:
    """Trains model number `key`; sent to each worker once."""

    trainer: Trainer
    X: Any
    y: np.ndarray
    classes: np.ndarray
    masks: np.ndarray
    seed: int

    def __call__(self, key: int) -> Model:
        rows = np.flatnonzero(self.masks[key])
        X = self.X.iloc[rows] if isinstance(self.X, pd.DataFrame) else self.X[rows]
        model = self.trainer.train(X, self.y[rows], rng=stream(self.seed, key))
        return model.aligned(self.classes)


def checked_shadow_data(X: Any, y: Any, masks: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return records, labels and masks of shapes that agree, no mask being empty."""
    rows, labels, chosen = as_rows(X), as_labels(y), np.asarray(masks)
    if len(rows) != len(labels):
        raise SchemaError(f"X has {len(rows)} records and y has {len(labels)} labels")
    if chosen.dtype != bool or chosen.ndim != 2 or chosen.shape[1] != len(rows):
        raise ConfigError(
            f"masks must be booleans of shape (models, {len(rows)}), got {chosen.dtype} of shape "
            f"{chosen.shape}"
        )
    empty = np.flatnonzero(~chosen.any(axis=1))
    if len(empty):
        raise ConfigError(f"mask {empty[0]} marks no record; every model needs some to train on")
    return rows, labels, chosen


def run_training(
    task: Callable[[Any], Any],
    keys: list[Any],
    *,
    n_jobs: int | None,
    name: Callable[[Any], str],
) -> list[Any]:
    """Return what `task` makes of every key; a failure names what was being trained."""
    made: dict[Any, Any] = {}
    try:
        run_tasks(task, keys, receive=made.__setitem__, workers=Workers(n_jobs=n_jobs))
    except TaskFailedError as failure:
        cause = failure.__cause__
        raise MechanismError(
            f"training {name(failure.key)} failed: {type(cause).__name__}: {cause}"
        ) from cause
    return [made[key] for key in keys]
