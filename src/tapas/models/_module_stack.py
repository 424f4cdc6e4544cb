"""Copies of a torch module, each with parameters of its own, that learn in lockstep (torch)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch.func import functional_call, vmap

from tapas._random import integer_seed, preserved_globals, stream
from tapas.engine import AdamW, repeat_step
from tapas.errors import ConfigError
from tapas.models._torch import first_output
from tapas.models._training_sets import TrainingSets
from tapas.models._visits import WEIGHTS, Visits, schedule_of, visits_of

STEPS = 3  # what random numbers of the steps are for


@dataclass(frozen=True)
class Lessons:
    """How modules are trained.

    Attributes
    ----------
    epochs, batch_size : int
    learning_rate, weight_decay : float
    device : str
    """

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    device: str


class RuledOut(torch.nn.Module):
    """Makes some classes impossible."""

    def __init__(self, unseen: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("unseen", unseen)

    def forward(self, answer: object) -> torch.Tensor:
        """Logits, minus infinity where a class never was seen."""
        return first_output(answer).masked_fill(self.unseen, -torch.inf)


def train_modules(
    make: Callable[[], torch.nn.Module],
    inputs: np.ndarray,
    codes: np.ndarray,
    sets: TrainingSets,
    how: Lessons,
    seed: int,
    keys: Sequence[int],
) -> list[torch.nn.Module]:
    """Train one module for each key on its own records; they come back on the CPU."""
    with preserved_globals():
        modules = [_made(make, integer_seed(stream(seed, WEIGHTS, key))) for key in keys]
    masks = np.stack([sets.mask(key) for key in keys])
    visits = visits_of(
        masks, schedule_of(sets.largest, how.epochs, how.batch_size, seed), seed, keys, how.device
    )
    stacked = [
        torch.stack(same).to(how.device) for same in zip(*map(_leaves, modules), strict=True)
    ]
    pool = _as_taken(inputs, modules[0]).to(how.device)
    _check_logits(modules[0], pool[:1].cpu(), int(codes.max()) + 1)
    with _repeatable(how.device, integer_seed(stream(seed, STEPS, keys[0]))), _advised():
        _descend(modules[0], stacked, pool, torch.from_numpy(codes).to(how.device), visits, how)
    for number, module in enumerate(modules):
        for leaf, trained in zip(_leaves(module), stacked, strict=True):
            leaf.copy_(trained[number])
    outputs = int(codes.max()) + 1
    return [_ruled(one, codes[mask], outputs) for one, mask in zip(modules, masks, strict=True)]


def _made(make: Callable[[], torch.nn.Module], seed: int) -> torch.nn.Module:
    torch.default_generator.manual_seed(seed)
    module = make()
    if not isinstance(module, torch.nn.Module):
        raise ConfigError(
            f"module must make a torch.nn.Module when it is called, got {type(module).__name__}"
        )
    for name, part in module.named_modules():
        if getattr(part, "track_running_stats", False):
            raise ConfigError(
                f"{type(part).__name__} {name!r} keeps running statistics, which modules in "
                "lockstep cannot; take GroupNorm or LayerNorm, or train one by one with "
                "CallableTrainer"
            )
    return module.train()


def _check_logits(module: torch.nn.Module, record: torch.Tensor, classes: int) -> None:
    """Refuse what has not one logit for each class."""
    layers = [layer for layer in module.modules() if not list(layer.children())]
    if isinstance(layers[-1], torch.nn.Softmax | torch.nn.LogSoftmax | torch.nn.Sigmoid):
        raise ConfigError(
            f"the module ends in {type(layers[-1]).__name__}: leave it out, cross-entropy takes "
            "logits"
        )
    with torch.no_grad():
        shape = tuple(first_output(module.eval()(record)).shape)
    module.train()
    if shape != (1, classes):
        raise ConfigError(
            f"the module must give each record one logit for each of {classes} classes, got shape "
            f"{shape} for one record"
        )


def _leaves(module: torch.nn.Module) -> list[torch.Tensor]:
    return [parameter.detach() for parameter in module.parameters()]


def _as_taken(inputs: np.ndarray, module: torch.nn.Module) -> torch.Tensor:
    """Numbers; whole ones for an embedding."""
    tokens = any(isinstance(part, torch.nn.Embedding) for part in module.modules())
    return torch.from_numpy(inputs.astype(np.int64 if tokens else np.float32, copy=False))


def _ruled(module: torch.nn.Module, codes: np.ndarray, classes: int) -> torch.nn.Module:
    unseen = torch.ones(classes, dtype=torch.bool)
    unseen[torch.from_numpy(np.unique(codes))] = False
    made = torch.nn.Sequential(module, RuledOut(unseen)) if unseen.any() else module
    return made.eval()


@contextmanager
def _repeatable(device: str, seed: int) -> Iterator[None]:
    """One order of all sums, and random numbers (dropout) by the seed."""
    threads = torch.get_num_threads()
    devices = [] if device == "cpu" else [torch.device(device)]
    with (
        torch.random.fork_rng(devices),
        torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True),
    ):
        torch.manual_seed(seed)
        if device == "cpu":
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)


@contextmanager
def _advised() -> Iterator[None]:
    """Layers that `torch.func.vmap` cannot stack are told with the remedy."""
    try:
        yield
    except RuntimeError as error:
        if "vmap" not in str(error) and "Batching rule" not in str(error):
            raise
        raise ConfigError(
            f"torch cannot train copies of this module in lockstep: {error} Train them one by one "
            f"with CallableTrainer"
        ) from error


def _descend(
    module: torch.nn.Module,
    leaves: list[torch.Tensor],
    pool: torch.Tensor,
    codes: torch.Tensor,
    visits: Visits,
    how: Lessons,
) -> None:
    """Take all steps of AdamW."""
    skeleton = module.to(how.device)
    names = [name for name, _ in skeleton.named_parameters()]

    def loss(
        own: list[torch.Tensor], x: torch.Tensor, classes: torch.Tensor, share: torch.Tensor
    ) -> torch.Tensor:
        answer = functional_call(skeleton, dict(zip(names, own, strict=True)), (x,))
        lost = torch.nn.functional.cross_entropy(first_output(answer), classes, reduction="none")
        return (lost * share).sum()

    losses = vmap(loss, randomness="different")
    number = torch.zeros(1, dtype=torch.int64, device=how.device)
    adam = AdamW(leaves, how.learning_rate, how.weight_decay)

    def step() -> None:
        places = visits.schedule.index_select(0, number).view(-1)
        rows, share = visits.orders[:, places], visits.present[:, places]
        share = share / share.sum(dim=1, keepdim=True).clamp(min=1.0)
        with torch.enable_grad():
            total = losses(leaves, pool[rows], codes[rows], share).sum()
            gradients = torch.autograd.grad(total, leaves)
        adam.step(gradients)
        number.add_(1)

    for leaf in leaves:
        leaf.requires_grad_()
    with torch.no_grad():
        repeat_step(step, len(visits.schedule), [*adam.state, number])
        skeleton.to("cpu")
