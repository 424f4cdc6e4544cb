"""What perceptrons that are trained together are made of."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas.models._mlp import Layers
from tapas.models._training_sets import TrainingSets

Perceptron = tuple[Layers, np.ndarray, np.ndarray]  # layers, shift and scale of the inputs


@dataclass(frozen=True)
class Recipe:
    """How perceptrons are trained.

    Attributes
    ----------
    widths : tuple of int
        Inputs, hidden units of each layer, classes.
    epochs, batch_size : int
    learning_rate, weight_decay : float
    device : str
    """

    widths: tuple[int, ...]
    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    device: str

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Inputs and outputs of every layer."""
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a stack of models starts from.

    Attributes
    ----------
    pool : ndarray of float32 (n, d)
        All records.
    scaled : ndarray of bool (d,)
        Which inputs are standardised.
    codes : ndarray of int (n,)
        Their classes as positions.
    masks : ndarray of bool (models, n)
        The records of each model.
    schedule : ndarray of int (steps, batch)
        Places in the orders of models that each step visits.
    seed : int
    keys : sequence of int
        Numbers of the models.
    """

    pool: np.ndarray
    scaled: np.ndarray
    codes: np.ndarray
    masks: np.ndarray
    schedule: np.ndarray
    seed: int
    keys: Sequence[int]


@dataclass(frozen=True, eq=False)
class StackTask:
    """Trains models of consecutive numbers in lockstep.

    Attributes
    ----------
    inputs : ndarray of float64 (n, d)
    scaled : ndarray of bool (d,)
        Which inputs are standardised.
    codes : ndarray of int (n,)
        Classes as positions.
    sets : TrainingSets
        Records of every model.
    recipe : Recipe
    seed : int
    """

    inputs: np.ndarray
    scaled: np.ndarray
    codes: np.ndarray
    sets: TrainingSets
    recipe: Recipe
    seed: int

    def __call__(self, stack: Sequence[int]) -> list[Perceptron]:
        """Return the trained models of the stack."""
        from tapas.models._mlp_stack import train_stack
        from tapas.models._visits import schedule_of

        pool, centre, spread = self._centred()
        recipe, largest = self.recipe, self.sets.largest
        beginning = Beginning(
            pool=pool,
            scaled=self.scaled,
            codes=self.codes,
            masks=np.stack([self.sets.mask(key) for key in stack]),
            schedule=schedule_of(largest, recipe.epochs, recipe.batch_size, self.seed),
            seed=self.seed,
            keys=stack,
        )
        layers, shift, scale = train_stack(beginning, recipe)
        return list(zip(layers, centre + spread * shift, spread * scale, strict=True))

    def _centred(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs near zero, where float32 is precise; undone by each model's standardisation."""
        centre = np.where(self.scaled, self.inputs.mean(axis=0), 0.0)
        spread = self.inputs.std(axis=0)
        spread = np.where(self.scaled & (spread > 0), spread, 1.0)
        return ((self.inputs - centre) / spread).astype(np.float32), centre, spread
