"""Which records each reference model is trained on.

Models come in pairs on opposite halves of the targets, so that every target is inside one model of
each pair. The draw never looks at who is a member of the audited model.
"""

from dataclasses import dataclass

import numpy as np

from tapas._random import stream
from tapas.threat_models._model_game import PLAN


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

    def masks(self) -> np.ndarray:
        """Whether each record, targets first, is inside each model: (models, records)."""
        masks = np.zeros((self.num_models, self.num_targets + self.num_others), dtype=bool)
        for model in range(self.num_models):
            masks[model, self._rows(model)] = True
        return masks

    def pairs(self) -> np.ndarray:
        """Number of the pair of each model; two of a pair are complements of each other."""
        return np.arange(self.num_models) // 2

    def _rows(self, model: int) -> np.ndarray:
        pair, second = divmod(model, 2)
        targets = stream(self.seed, PLAN, pair).permutation(self.num_targets)
        if second:
            targets = targets[::-1]
        half = (self.num_targets + second) // 2
        number = min(max(half, self.size - self.num_others), self.size)
        others = stream(self.seed, PLAN, pair, 1 + second).permutation(self.num_others)
        filling = others[: self.size - number]
        return np.concatenate([targets[:number], self.num_targets + filling])
