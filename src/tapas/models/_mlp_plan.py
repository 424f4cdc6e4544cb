"""Everything random about training perceptrons, decided before the first step.

Which records each model sees in which order, its standardisation and its initial weights are
plain arrays made by numpy from addressed streams, so they are the same on every device.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas._random import stream
from tapas.models._mlp import Layers
from tapas.models._training_sets import TrainingSets

SCHEDULE, MODEL = 0, 1  # first part of a stream's address
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

        masks = np.stack([self.sets.mask(key) for key in stack])
        pool, centre, spread = self._centred()
        shift, scale = self._moments(pool, masks)
        streams = [stream(self.seed, MODEL, key) for key in stack]
        layers = train_stack(
            pool,
            self.codes,
            self._orders(masks, streams),
            self._schedule(),
            [self._initial(rng, mask) for rng, mask in zip(streams, masks, strict=True)],
            shift=shift,
            scale=scale,
            recipe=self.recipe,
        )
        shifts, scales = centre + spread * shift, spread * scale
        return list(zip(layers, shifts, scales, strict=True))

    def _centred(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs near zero, where float32 is precise; undone by each model's standardisation."""
        centre = np.where(self.scaled, self.inputs.mean(axis=0), 0.0)
        spread = self.inputs.std(axis=0)
        spread = np.where(self.scaled & (spread > 0), spread, 1.0)
        return ((self.inputs - centre) / spread).astype(np.float32), centre, spread

    def _moments(self, pool: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each model's own records, (models, d) each."""
        members = masks.astype(np.float32)
        counts = masks.sum(axis=1, dtype=np.float64)[:, None]
        mean = (members @ pool) / counts
        variance = (members @ np.square(pool)) / counts - mean**2
        spread = np.sqrt(variance.clip(0.0))
        constant = spread < 1e-4  # what float32 leaves of a column with one value
        return (
            np.where(self.scaled, mean, 0.0),
            np.where(self.scaled & ~constant, spread, 1.0),
        )

    def _orders(self, masks: np.ndarray, streams: list[np.random.Generator]) -> np.ndarray:
        """Each model's records, shuffled; -1 fills up to the longest and one place beyond."""
        orders = np.full((len(masks), self.sets.largest + 1), -1, dtype=np.int64)
        for order, mask, rng in zip(orders, masks, streams, strict=True):
            rows = rng.permutation(np.flatnonzero(mask))
            order[: len(rows)] = rows
        return orders

    def _schedule(self) -> np.ndarray:
        """Places of the orders that each step visits, (steps, batch).

        All models share it: their orders are shuffled apart already.
        """
        places = self.sets.largest
        steps = -(-places // self.recipe.batch_size)
        width = -(-places // steps)
        rng = stream(self.seed, SCHEDULE)
        schedule = np.full((self.recipe.epochs, steps * width), places, dtype=np.int64)
        for epoch in schedule:
            epoch[:places] = rng.permutation(places)
        return schedule.reshape(self.recipe.epochs * steps, width)

    def _initial(self, rng: np.random.Generator, mask: np.ndarray) -> Layers:
        """Uniform weights whose spread shrinks with the number of inputs.

        A class that is not among the model's records starts, and stays, impossible.
        """
        layers = []
        for inputs, outputs in self.recipe.shapes:
            bound = np.float32(1.0 / np.sqrt(inputs))
            drawn = rng.random((inputs + 1, outputs), dtype=np.float32)
            drawn = (2 * drawn - 1) * bound
            layers.append((drawn[:-1], drawn[-1]))
        seen = np.bincount(self.codes[mask], minlength=self.recipe.widths[-1]) > 0
        layers[-1][1][~seen] = -np.inf
        return tuple(layers)
