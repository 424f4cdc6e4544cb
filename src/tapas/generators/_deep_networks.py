"""Many networks of one shape that learn from tables of their own in lockstep (torch)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from tapas.engine import AdamW, repeat_step
from tapas.generators._deep_columns import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

AVERAGED = 0.99  # of the moving average of parameters that is kept
LARGEST_DRAW = 2**27  # floats in one drawing


@dataclass(frozen=True)
class Descent:
    """How networks are trained.

    Attributes
    ----------
    steps, batch_size : int
    learning_rate : float
    """

    steps: int
    batch_size: int
    learning_rate: float


class Networks(ABC):
    """The parameters of a stack, and what is computed with them.

    Attributes
    ----------
    places : Places
    parameters : list of Tensor
        For each layer the weights, (models, inputs, outputs), and the biases, (models, 1,
        outputs).
    """

    def __init__(self, places: Places, parameters: list[torch.Tensor]) -> None:
        self.places, self.parameters = places, parameters

    @staticmethod
    @abstractmethod
    def shapes(places: Places, hidden: tuple[int, ...]) -> list[tuple[int, int]]:
        """Inputs and outputs of every layer."""

    @abstractmethod
    def loss(self, rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Mean over the rows of each model, (models,)."""

    @abstractmethod
    def draw(self, rows: int, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """New rows of each model: normal scores, and log-probabilities of all marks."""

    @abstractmethod
    def factors(self, rows: torch.Tensor) -> torch.Tensor:
        """How well each model knows each row, in parts, (models, rows, parts)."""

    @property
    def device(self) -> torch.device:
        """Where the parameters lie."""
        return self.parameters[0].device

    def perceptron(self, signal: torch.Tensor, first: int, last: int) -> torch.Tensor:
        """The layers from `first` up to `last`, with smooth steps (SiLU) between them."""
        for layer in range(first, last):
            weights, biases = self.parameters[2 * layer : 2 * layer + 2]
            signal = torch.baddbmm(biases, signal, weights)
            if layer < last - 1:
                signal = torch.nn.functional.silu(signal)
        return signal

    def log_shares(self, marks: torch.Tensor) -> torch.Tensor:
        """Log-probability of every mark among those of its choice."""
        parts = marks.split(self.places.choices, dim=-1)
        return torch.cat([part.log_softmax(dim=-1) for part in parts], dim=-1)

    def numbers_there(self, rows: torch.Tensor) -> torch.Tensor:
        """1 where a number is not missing, (models, rows, numbers)."""
        return rows[..., rows.shape[-1] - 2 * self.places.numbers :: 2]


@contextmanager
def one_torch_thread() -> "Iterator[None]":
    """Sums add up in one order."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def first_parameters(
    shapes: list[tuple[int, int]], rngs: Sequence[np.random.Generator]
) -> list[np.ndarray]:
    """Uniform weights and biases whose spread shrinks with the number of inputs."""
    sizes = [size for inputs, outputs in shapes for size in ((inputs, outputs), (1, outputs))]
    made = [np.empty((len(rngs), *size), dtype=np.float32) for size in sizes]
    for model, rng in enumerate(rngs):
        for number, block in enumerate(made):
            spread = np.float32(1 / np.sqrt(shapes[number // 2][0]))
            rng.random(out=block[model], dtype=np.float32)
            block[model] = (2 * block[model] - 1) * spread
    return made


def train(networks: Networks, tables: Sequence[np.ndarray], how: Descent, seed: int) -> None:
    """Take all steps of AdamW; what stays is the moving average of the parameters.

    Each step of a model sees rows of its own table, drawn with replacement.
    """
    device, leaves = networks.device, networks.parameters
    counts = torch.tensor([len(table) for table in tables], device=device)[:, None]
    pool = torch.zeros((len(tables), int(counts.max()), networks.places.width), device=device)
    for rows, table in zip(pool, tables, strict=True):
        rows[: len(table)] = torch.from_numpy(table).to(device)
    models = torch.arange(len(tables), device=device)[:, None]
    generator = torch.Generator(device).manual_seed(seed)
    average = [torch.zeros_like(leaf) for leaf in leaves]
    adam = AdamW(leaves, how.learning_rate)

    def step() -> None:
        drawn = torch.rand((len(tables), how.batch_size), generator=generator, device=device)
        rows = pool[models, (drawn * counts).long().clamp_(max=counts - 1)]
        with torch.enable_grad():
            loss = networks.loss(rows, generator).sum()
            gradients = torch.autograd.grad(loss, leaves)
        adam.step(gradients)
        for kept, leaf in zip(average, leaves, strict=True):
            kept.lerp_(leaf, 1 - AVERAGED)

    for leaf in leaves:
        leaf.requires_grad_()
    with torch.no_grad():
        repeat_step(step, how.steps, [*adam.state, *average], generator)
        share = 1 - AVERAGED**how.steps  # of an average that began with nothing
        networks.parameters = [(kept / share).requires_grad_(False) for kept in average]


def draw(
    networks: Networks, seen: np.ndarray, rows: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Normal scores and chosen marks of new rows of each model; only marks in `seen` occur."""
    device = networks.device
    generator = torch.Generator(device).manual_seed(seed)
    never = ~torch.from_numpy(seen).to(device)[:, None]
    width = max(1, len(seen) * networks.places.width)
    step = max(1, LARGEST_DRAW // width)
    scores, chosen = [], []
    with torch.no_grad():
        for start in range(0, rows, step):
            numbers, shares = networks.draw(min(step, rows - start), generator)
            even = torch.rand(shares.shape, generator=generator, device=device)
            shares = (shares - even.log_().neg_().log_()).masked_fill_(never, -torch.inf)
            parts = shares.split(networks.places.choices, dim=-1)
            scores.append(numbers.cpu().numpy())
            chosen.append(torch.stack([one.argmax(dim=-1) for one in parts], dim=-1).cpu().numpy())
    if not rows:
        empty = networks.places
        nothing = np.empty((0, empty.numbers)), np.empty((0, len(empty.choices)), dtype=int)
        return [nothing] * len(seen)
    return list(zip(np.concatenate(scores, axis=1), np.concatenate(chosen, axis=1), strict=True))
