"""Which records every model of a stack visits in which step (torch)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from tapas._random import stream
from tapas.models._counted import counted_bits, starts_of

SCHEDULE, ORDER, WEIGHTS = 0, 1, 2  # what random numbers are for
_LAST = torch.iinfo(torch.int64).max


@dataclass(frozen=True, eq=False)
class Visits:
    """Records of each model in its own order, and the places of it that each step visits.

    Attributes
    ----------
    orders : Tensor of int64 (models, places)
        Records, shuffled; 0 where there is none.
    present : Tensor (models, places)
        1 where there is one. The last place never has one.
    schedule : Tensor of int64 (steps, batch)
        The same for all models: their orders are shuffled apart already.
    """

    orders: torch.Tensor
    present: torch.Tensor
    schedule: torch.Tensor


def visits_of(
    masks: np.ndarray, schedule: np.ndarray, seed: int, keys: Sequence[int], device: str
) -> Visits:
    """The visits of models with these numbers and masks, shuffled on the device."""
    places = torch.arange(int(schedule.max()) + 1, device=device)
    member = torch.from_numpy(np.pad(masks, ((0, 0), (0, 1)))).to(device)
    records = torch.arange(member.shape[1], device=device)
    numbers = counted_bits(starts_of(seed, ORDER, keys, device), records) & _LAST
    orders = numbers.masked_fill_(~member, _LAST).argsort(dim=1, stable=True)[:, : len(places)]
    present = places < member.sum(dim=1, keepdim=True)
    return Visits(orders * present, present.float(), torch.from_numpy(schedule).to(device))


def schedule_of(largest: int, epochs: int, batch_size: int, seed: int) -> np.ndarray:
    """Places that each step visits, (steps, batch); every epoch has all once.

    The place after the last, which has no record, fills up the last step.
    """
    steps = -(-largest // batch_size)
    width = -(-largest // steps)
    rng = stream(seed, SCHEDULE)
    schedule = np.full((epochs, steps * width), largest, dtype=np.int64)
    for epoch in schedule:
        epoch[:largest] = rng.permutation(largest)
    return schedule.reshape(epochs * steps, width)
