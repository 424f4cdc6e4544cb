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
class Beginning:
    """What a stack of models starts from.

    Attributes
    ----------
    pool : ndarray of float32 (n, d)
        All records.
    codes : ndarray of int (n,)
        Their classes as positions.
    orders : ndarray of int (models, places)
        The records of each model as it visits them; -1 where there is none.
    schedule : ndarray of int (steps, batch)
        Places that each step visits.
    draws : list of ndarray of float32 (models, inputs + 1, outputs)
        Random numbers for the weights of each layer.
    shift, scale : ndarray (models, d)
        Standardisation of each model.
    """

    pool: np.ndarray
    codes: np.ndarray
    orders: np.ndarray
    schedule: np.ndarray
    draws: list[np.ndarray]
    shift: np.ndarray
    scale: np.ndarray


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
        beginning = Beginning(
            pool=pool,
            codes=self.codes,
            orders=self._orders(masks, streams),
            schedule=self._schedule(),
            draws=self._draws(streams),
            shift=shift,
            scale=scale,
        )
        layers = train_stack(beginning, self.recipe)
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
            rows = np.flatnonzero(mask)
            rng.shuffle(rows)
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

    def _draws(self, streams: list[np.random.Generator]) -> list[np.ndarray]:
        """Numbers between 0 and 1 for the weights and biases of every layer.

        One block a layer, (models, inputs + 1, outputs); biases stand last.
        """
        shapes = [(len(streams), inputs + 1, outputs) for inputs, outputs in self.recipe.shapes]
        blocks = [np.empty(shape, dtype=np.float32) for shape in shapes]
        for model, rng in enumerate(streams):
            for block in blocks:
                rng.random(out=block[model], dtype=np.float32)
        return blocks
