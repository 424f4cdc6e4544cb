"""What a threat model remembers: trials, and what attacks observed in them."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from tapas.threat_models._trials import Phase, Trial


@dataclass
class Ledger:
    """Trials by phase and index, observations by attack; views of one threat model share it."""

    trials: dict[Phase, dict[int, Trial]] = field(default_factory=lambda: {"train": {}, "test": {}})
    observations: dict[tuple[Hashable, Phase], dict[int, np.ndarray]] = field(default_factory=dict)
    fresh_rounds: int = 0
    probed: bool = False

    def remembered(self, phase: Phase) -> list[Trial]:
        """All trials of a phase, in order."""
        return [trial for _, trial in sorted(self.trials[phase].items())]

    def observed(self, key: Hashable, phase: Phase) -> dict[int, np.ndarray]:
        """Observations that the attack known by `key` made, by trial index."""
        return self.observations.setdefault((key, phase), {})

    def next_round(self) -> int:
        """A round number that no earlier request used."""
        self.fresh_rounds += 1
        return self.fresh_rounds
