"""Which records each reference model is trained on.

Models come in pairs on opposite halves of the targets, so that every target is inside one model of
each pair. The draw never looks at who is a member of the audited model.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from tapas._random import Parts, part_stream
from tapas.errors import TapasWarning, ThreatModelError
from tapas.models import Records


@dataclass(frozen=True)
class ReferencePlan:
    """How reference models are drawn from targets and other records.

    Attributes
    ----------
    num_models : int
    num_targets : int
        Come first; each is inside half of the models, as far as `size` allows.
    num_others : int
        Fill the training sets up.
    size : int
        Training records of each model: as many as the audited model had.
    seed : int
    """

    num_models: int
    num_targets: int
    num_others: int
    size: int
    seed: int

    @property
    def largest(self) -> int:
        """Training records of each model, or all that there are."""
        return min(self.size, self.num_targets + self.num_others)

    def mask(self, model: int) -> np.ndarray:
        """Whether each record, targets first, is inside a model."""
        mask = np.zeros(self.num_targets + self.num_others, dtype=bool)
        mask[self._rows(model)] = True
        return mask

    def masks(self) -> np.ndarray:
        """The masks of all models: (models, records)."""
        return np.stack([self.mask(model) for model in range(self.num_models)])

    def pairs(self) -> np.ndarray:
        """Number of the pair of each model; two of a pair are complements of each other."""
        return np.arange(self.num_models) // 2

    def _rows(self, model: int) -> np.ndarray:
        pair, second = divmod(model, 2)
        drawn = part_stream(self.seed, Parts.REFERENCE_TARGETS, pair)
        targets = drawn.permutation(self.num_targets)
        if second:
            targets = targets[::-1]
        half = (self.num_targets + second) // 2
        number = min(max(half, self.size - self.num_others), self.size)
        drawn = part_stream(self.seed, Parts.REFERENCE_OTHERS, pair, 1 + second)
        filling = drawn.permutation(self.num_others)[: self.size - number]
        return np.concatenate([targets[:number], self.num_targets + filling])


def pool_with_targets(
    targets: Records, others: Records | None, num_models: int, size: int, seed: int
) -> tuple[Records, ReferencePlan]:
    """Judged records first, then other data of the attacker to fill training sets up."""
    pool = targets if others is None else targets.concat(others)
    number = len(pool) - len(targets)
    return pool, ReferencePlan(num_models, len(targets), number, size, seed)


def pool_of_others(
    others: Records | None, num_models: int, size: int, seed: int
) -> tuple[Records, ReferencePlan]:
    """The attacker's data without the judged records, at most twice `size` so that halves fit."""
    if others is None or len(others) < 4:
        raise ThreatModelError(
            "shadow models need data to train on: give a population, a known_share above 0, or "
            "train_on_targets=True"
        )
    if len(others) > 2 * size:
        rows = part_stream(seed, Parts.POOL_CUT, 1).permutation(len(others))
        others = others.take(rows[: 2 * size])
    half = min(size, (len(others) + 1) // 2)
    if half < size:
        warnings.warn(
            f"shadow models are trained on {half} records, the audited model on {size}: they "
            f"overfit more than it does. Give a population of at least {2 * size} records, or "
            f"train_on_targets=True",
            TapasWarning,
            stacklevel=8,
        )
    return others, ReferencePlan(num_models, len(others), 0, half, seed)
