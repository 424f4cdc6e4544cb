"""Shadow models by cloning a scikit-learn estimator."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas._random import integer_seed, seeded_globals
from tapas.errors import ConfigError
from tapas.models._classes import as_labels
from tapas.models._model import Model
from tapas.models._sklearn import SklearnModel
from tapas.models._trainer import Trainer


@dataclass(frozen=True)
class SklearnTrainer(Trainer):
    """Trains clones of an estimator or pipeline, fitted or not.

    Every ``random_state`` in it, however deep, gets a seed of its own.

    Attributes
    ----------
    estimator : scikit-learn classifier
    """

    estimator: Any

    def __post_init__(self) -> None:
        from sklearn.base import is_regressor

        name = type(self.estimator).__name__
        if isinstance(self.estimator, type):
            raise ConfigError(f"estimator must be an object, got the class: {self.estimator}()")
        if not all(hasattr(self.estimator, part) for part in ("fit", "get_params", "set_params")):
            raise ConfigError(
                f"estimator must be a scikit-learn classifier, got {name}; train anything else "
                f"with CallableTrainer"
            )
        if is_regressor(self.estimator):
            raise ConfigError(f"estimator must be a classifier; {name} is a regressor")

    @property
    def label(self) -> str:
        """Display name."""
        steps = getattr(self.estimator, "steps", None)
        return type(steps[-1][1] if steps else self.estimator).__name__

    def train(self, X: Any, y: Any, *, rng: np.random.Generator) -> Model:
        """Train one clone."""
        from sklearn.base import clone

        estimator = clone(self.estimator)
        names = sorted(
            name
            for name in estimator.get_params(deep=True)
            if name == "random_state" or name.endswith("__random_state")
        )
        estimator.set_params(**{name: integer_seed(rng) for name in names})
        with seeded_globals(integer_seed(rng)):
            estimator.fit(X, as_labels(y))
        return SklearnModel(estimator)
