"""The robust attack: is the record likelier under this model than others are?"""

from typing import Any

import numpy as np

from tapas._validate import check_choice, check_probability
from tapas.attacks.models._reference_attack import ReferenceAttack, References, masked_moments
from tapas.attacks.models._score_statistics import TRUE
from tapas.errors import ConfigError
from tapas.metrics import auc

OFFLINE_WEIGHTS = np.arange(11) / 10
DEFAULT_WEIGHT = 0.6


class RMIA(ReferenceAttack):
    """Compares how much likelier the model finds the record than references do, with other records.

    Idea: the likelihood ratio of the record is set against those of population records; only
    records that stand out from the population are called members, which needs few references.

    Needs: scores, one query per record, and 4 or more reference models, half of which were trained
    on the record (online) or none (offline).

    Score: share of population pairs z with rho(x) / rho(z) > gamma, where rho = p_y / mean p_y
    over references, ties broken by rho(x). Offline the mean is ((1 + a) mean_out + (1 - a)) / 2.
    Population pairs are records on reference models that were not trained on them.

    Reference: Zarifzadeh, Liu and Shokri (2024).

    Parameters
    ----------
    mode : {"online", "offline"}
    gamma : float
    a : float, optional
        How far the mean outside stands for the mean of both worlds; chosen by attacking the
        references if None.
    criterion, clip, label
        As in `ReferenceAttack`.

    Attributes
    ----------
    a_ : float
        The weight that was used.
    """

    def __init__(
        self,
        mode: str = "online",
        gamma: float = 1.0,
        a: float | None = None,
        *,
        criterion: Any = "accuracy",
        clip: float | str = "auto",
        label: str | None = None,
    ) -> None:
        self.mode = check_choice(mode, "mode", ("online", "offline"))
        if not gamma > 0:
            raise ConfigError(f"gamma must be positive, got {gamma!r}")
        self.gamma = float(gamma)
        self.a = None if a is None else check_probability(a, "a")
        self.a_ = DEFAULT_WEIGHT if a is None else self.a
        self._population: np.ndarray | None = None
        super().__init__(criterion, clip=clip, label=label)

    def _needs_inside(self) -> bool:
        return self.mode == "online"

    def _default_label(self) -> str:
        return f"RMIA({self.mode}, gamma={self.gamma:g})"

    def compared(self, observations: np.ndarray, references: References) -> np.ndarray:
        """Share of the population that the record stands out from, then its own ratio."""
        ratio = self._log_ratio(observations, references)
        if self._population is None:
            return ratio
        below = np.searchsorted(self._population, ratio - np.log(self.gamma), side="left")
        tie_breaker = 0.5 + np.arctan(ratio) / np.pi
        return (below + tie_breaker) / (len(self._population) + 1)

    def _log_ratio(self, observations: np.ndarray, references: References) -> np.ndarray:
        likelihoods = np.maximum(references.values[..., TRUE], self._clip)
        _, outside, _ = masked_moments(likelihoods, ~references.inside)
        if self.mode == "online":
            _, inside, _ = masked_moments(likelihoods, references.inside)
            mean = (inside + outside) / 2
        else:
            weight = DEFAULT_WEIGHT if self.a_ is None else self.a_
            mean = ((1 + weight) * outside + (1 - weight)) / 2
        return np.log(np.maximum(observations[..., TRUE], self._clip)) - np.log(mean)

    def _tune(self, rehearsed: References) -> None:
        self._population = None
        if self.mode == "offline" and self.a is None:
            self.a_ = max(
                OFFLINE_WEIGHTS, key=lambda weight: self._rehearsed_auc(weight, rehearsed)
            )
        ratios, inside = self._rehearse(rehearsed)
        self._population = np.sort(ratios[~inside])

    def _rehearsed_auc(self, weight: float, references: References) -> float:
        self.a_ = float(weight)
        scores, inside = self._rehearse(references)
        return float(np.mean([auc(*pair) for pair in zip(inside, scores, strict=True)]))
