"""The robust attack: is the record likelier under this model than others are?"""

from dataclasses import dataclass, replace

import numpy as np

from tapas._validate import check_choice, check_probability
from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._reference_attack import (
    Comparison,
    ReferenceAttack,
    ReferenceScorer,
    masked_moments,
    rehearsed,
)
from tapas.attacks.models._score_statistics import TEMPERATURES, Clip, softened
from tapas.errors import ConfigError
from tapas.game import Board
from tapas.metrics import auc

OFFLINE_WEIGHTS = np.arange(11) / 10
DEFAULT_WEIGHT = 0.6


@dataclass(frozen=True, eq=False)
class PopulationShare:
    """Share of the population that a record stands out from, then its own likelihood ratio.

    Attributes
    ----------
    mode : str
        As in `RMIA`.
    gamma, clip : float
    temperature : int
    weight : float
        How far the mean outside stands for the mean of both worlds, offline.
    population : ndarray or None
        Ascending log ratios; without any, a record has its own log ratio.
    """

    mode: str
    gamma: float
    clip: float
    temperature: int
    weight: float
    population: np.ndarray | None = None

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        ratio = self._log_ratio(values, references)
        if self.population is None:
            return ratio
        below = np.searchsorted(self.population, ratio - np.log(self.gamma), side="left")
        tie_breaker = 0.5 + np.arctan(ratio) / np.pi
        return (below + tie_breaker) / (len(self.population) + 1)

    def _log_ratio(self, values: np.ndarray, references: Board) -> np.ndarray:
        likelihoods = softened(references.values, self.temperature, self.clip)
        _, outside, _ = masked_moments(likelihoods, ~references.secrets)
        if self.mode == "online":
            _, inside, _ = masked_moments(likelihoods, references.secrets)
            mean = (inside + outside) / 2
        else:
            mean = ((1 + self.weight) * outside + (1 - self.weight)) / 2
        return np.log(softened(values, self.temperature, self.clip)) - np.log(mean)


class RMIA(ReferenceAttack):
    """Compares how much likelier the model finds the record than references do, with other records.

    Idea: the likelihood ratio of the record is set against those of population records; only
    records that stand out from the population are called members, which needs few references.

    Needs: scores, one query per record, and 4 or more reference models, half of which were trained
    on the record (online) or none (offline).

    Score: share of population pairs z with rho(x) / rho(z) > gamma, where rho = p_y / mean p_y
    over references, with p_y from a softmax at a temperature (the Taylor softmax that was published
    beside it needs logits, which probabilities fix only up to a constant); ties are broken by
    rho(x). Offline the mean is ((1 + a) mean_out + (1 - a)) / 2. Population pairs are records on
    reference models that were not trained on them.

    Reference: Zarifzadeh, Liu and Shokri (2024).

    Parameters
    ----------
    mode : {"online", "offline"}
    gamma : float
        How much likelier than a population record: 2 as published.
    a : float, optional
        How far the mean outside stands for the mean of both worlds; chosen by attacking the
        references if None.
    temperature : {1, 2, 4}
        Divides the logits before p_y is read, so that records which any model is sure of still
        differ: 2 as published.
    criterion, clip, queries, label
        As in `ReferenceAttack`.

    Attributes
    ----------
    a_ : float
        The weight that was used.
    """

    def __init__(
        self,
        mode: str = "online",
        gamma: float = 2.0,
        a: float | None = None,
        *,
        temperature: int = 2,
        criterion: CriterionLike = "accuracy",
        clip: Clip = "auto",
        queries: int = 1,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, clip=clip, queries=queries, label=label)
        self.mode = check_choice(mode, "mode", ("online", "offline"))
        if not gamma > 0:
            raise ConfigError(f"gamma must be positive, got {gamma!r}")
        self.gamma = float(gamma)
        self.temperature = check_choice(temperature, "temperature", tuple(TEMPERATURES))
        self.a = None if a is None else check_probability(a, "a")

    def _needs_inside(self) -> bool:
        return self.mode == "online"

    def _default_label(self) -> str:
        return f"RMIA({self.mode}, gamma={self.gamma:g})"

    @property
    def a_(self) -> float:
        """The weight that was used, or would be without training."""
        scorer = None if self._trained is None else self._trained.scorer
        if isinstance(scorer, ReferenceScorer) and isinstance(scorer.comparison, PopulationShare):
            return scorer.comparison.weight
        return DEFAULT_WEIGHT if self.a is None else self.a

    def comparison(self, board: Board, clip: float) -> Comparison:
        """The share of a population, for which records on rehearsed references stand."""
        rehearsal = board.rehearsal
        weight = DEFAULT_WEIGHT if self.a is None else self.a
        ratio = PopulationShare(self.mode, self.gamma, clip, self.temperature, weight)
        if self.mode == "offline" and self.a is None:
            tried = [replace(ratio, weight=float(weight)) for weight in OFFLINE_WEIGHTS]
            ratio = max(tried, key=lambda one: _rehearsed_auc(one, rehearsal))
        ratios, inside = rehearsed(ratio, rehearsal)
        return replace(ratio, population=np.sort(ratios[~inside]))


def _rehearsed_auc(comparison: Comparison, references: Board) -> float:
    scores, inside = rehearsed(comparison, references)
    return float(np.mean([auc(*pair) for pair in zip(inside, scores, strict=True)]))
