"""The likelihood-ratio attack: where logits lie with, and where without, the record."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from tapas._validate import check_choice
from tapas.attacks._criteria import CriterionLike
from tapas.attacks.models._reference_attack import (
    Comparison,
    ReferenceAttack,
    masked_moments,
    rehearsed,
    told,
)
from tapas.attacks.models._score_statistics import Clip, logits
from tapas.attacks.models._variance_prior import variance_prior
from tapas.game import Board

VARIANCES = ("auto", "per-record", "pooled", "shrunk", "agreed")
TRIED = ("shrunk", "agreed")  # by "auto"
FEWEST_TRIED = 8  # references; with fewer, rehearsals have no variance to speak of
PRIOR_WEIGHT = 4.0  # observations that the pooled variance counts for when it is shrunk to
LEAST_SHARE = 1e-6  # of the pooled variance: the least that a record's own may be


@dataclass(frozen=True, eq=False)
class _World:
    """Predictive distribution of each record's logit, with or without it in training."""

    mean: np.ndarray
    scale: np.ndarray
    freedom: np.ndarray | None

    def log_density(self, values: np.ndarray) -> np.ndarray:
        distance = (values - self.mean) / self.scale
        if self.freedom is None:
            return -(distance**2) / 2 - np.log(np.sqrt(2 * np.pi)) - np.log(self.scale)
        freedom = self.freedom
        constant = np.log(scipy.special.poch(0.5 * freedom, 0.5))
        constant = constant - 0.5 * (np.log(freedom) + np.log(np.pi))
        tails = (freedom + 1) / 2 * np.log1p(distance * distance / freedom)
        return constant - tails - np.log(self.scale)

    def log_below(self, values: np.ndarray) -> np.ndarray:
        """ln P(logit < value), with full precision near probability one."""
        distance = (values - self.mean) / self.scale
        if self.freedom is None:
            return scipy.special.log_ndtr(distance)
        beyond = scipy.special.stdtr(self.freedom, -np.abs(distance))
        return np.where(distance > 0, np.log1p(-beyond), np.log(np.maximum(beyond, 1e-300)))


@dataclass(frozen=True)
class _Spread:
    """Variance of all records in one world, and what a record's own is shrunk towards."""

    pooled: float
    weight: float
    common: float

    @classmethod
    def of(cls, squares: np.ndarray, freedom: np.ndarray, variance: str) -> "_Spread":
        pooled = max(squares.sum() / max(freedom.sum(), 1), 1e-12)
        if variance == "agreed":
            return cls(pooled, *variance_prior(squares, freedom))
        return cls(pooled, PRIOR_WEIGHT, pooled)


@dataclass(frozen=True)
class LikelihoodRatio:
    """Log likelihood ratio, or log probability of a smaller logit without the record.

    Attributes
    ----------
    mode, variance : str
        As in `LiRA`, "auto" decided.
    clip : float
    usual : (_Spread, _Spread) or None
        With and without the record, for references among which no record was seen twice.
    """

    mode: str
    variance: str
    clip: float
    usual: tuple[_Spread, _Spread] | None = None

    def __call__(self, values: np.ndarray, references: Board) -> np.ndarray:
        seen, found = logits(references.values, self.clip), logits(values, self.clip)
        with_it, without = self.usual or (None, None)
        outside = self._world(seen, ~references.secrets, without)
        if self.mode == "offline":
            return outside.log_below(found)
        inside = self._world(seen, references.secrets, with_it)
        return inside.log_density(found) - outside.log_density(found)

    def knowing(self, references: Board) -> "LikelihoodRatio":
        """With the spreads of references, for rehearsals that are left with too few of them."""
        seen = logits(references.values, self.clip)
        sides = (references.secrets, ~references.secrets)
        with_it, without = (self._spread(*masked_moments(seen, side)) for side in sides)
        return replace(self, usual=(with_it, without))

    def _spread(self, number: np.ndarray, mean: np.ndarray, squares: np.ndarray) -> _Spread:
        return _Spread.of(squares, np.maximum(number - 1, 0), self.variance)

    def _world(self, values: np.ndarray, chosen: np.ndarray, usual: _Spread | None) -> _World:
        number, mean, squares = masked_moments(values, chosen)
        freedom = np.maximum(number - 1, 0)
        spread = usual
        if spread is None or freedom.any():
            spread = _Spread.of(squares, freedom, self.variance)
        pooled = spread.pooled
        if self.variance == "pooled":
            return _World(mean, np.full(mean.shape, np.sqrt(pooled)), None)
        if self.variance == "per-record":
            own = np.where(freedom > 0, squares / np.maximum(freedom, 1), pooled)
            return _World(mean, np.sqrt(np.maximum(own, LEAST_SHARE * pooled)), None)
        freedom = spread.weight + freedom
        shrunk = (spread.weight * spread.common + squares) / freedom
        predictive = np.maximum(shrunk, LEAST_SHARE * pooled) * (1 + 1 / np.maximum(number, 1))
        return _World(mean, np.sqrt(predictive), freedom)


class LiRA(ReferenceAttack):
    """Likelihood ratio of the record's logit under models with and without it.

    Idea: reference models show, record by record, where the logit lies if the record was trained
    on and where if not.

    Needs: scores, one query per record, and 4 or more reference models, half of which were trained
    on the record (online) or none (offline).

    Score: ln N(phi; mu_in, s_in) - ln N(phi; mu_out, s_out) online, ln Phi((phi - mu_out)/s_out)
    offline, with phi = ln p_y - ln sum over c != y of p_c.

    Reference: Carlini, Chien, Nasr, Song, Terzis and Tramer (2022).

    Parameters
    ----------
    mode : {"online", "offline"}
    variance : {"auto", "per-record", "pooled", "shrunk", "agreed"}
        Of each record on its own; one for all records, of the residuals about each record's mean;
        or the former shrunk towards the latter, with Student's t as predictive distribution:
        "shrunk" as if the latter were 4 observations, "agreed" as much as the variances of the
        records agree. "auto" is the one of these two that finds more when the reference models are
        attacked in turn, and with fewer than 8 of them the first.
    criterion, clip, queries, label
        As in `ReferenceAttack`.
    """

    def __init__(
        self,
        mode: str = "online",
        variance: str = "auto",
        *,
        criterion: CriterionLike = "accuracy",
        clip: Clip = "auto",
        queries: int = 1,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, clip=clip, queries=queries, label=label)
        self.mode = check_choice(mode, "mode", ("online", "offline"))
        self.variance = check_choice(variance, "variance", VARIANCES)

    def _needs_inside(self) -> bool:
        return self.mode == "online"

    def _default_label(self) -> str:
        return f"LiRA({self.mode}, {self.variance})"

    def comparison(self, board: Board, clip: float) -> Comparison:
        """The likelihood ratio, with the variance that rehearsals favour."""
        if len(board) < FEWEST_TRIED:
            kind = TRIED[0] if self.variance == "auto" else self.variance
            return LikelihoodRatio(self.mode, kind, clip).knowing(board.rehearsal)
        if self.variance != "auto":
            return LikelihoodRatio(self.mode, self.variance, clip)
        ratios = [LikelihoodRatio(self.mode, kind, clip) for kind in TRIED]
        return max(ratios, key=lambda ratio: told(*rehearsed(ratio, board.rehearsal)))
