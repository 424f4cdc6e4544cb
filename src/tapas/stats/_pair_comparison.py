"""How often a member scores above a non-member: one number that bounds epsilon."""

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas._random import stream
from tapas.stats._gaussian import gaussian_epsilon_from_mu
from tapas.stats._intervals import lower_limit
from tapas.stats._trials import Trials

__all__ = ["matched_scores", "matched_wins", "pair_epsilon", "pair_gaussian_epsilon"]

_TIES = 0


def matched_scores(trials: Trials) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of members and of non-members, in disjoint pairs of trials.

    A pair of the game is one; otherwise the i-th trial of one world goes with the i-th of the
    other.
    """
    ones, zeros = np.flatnonzero(trials.labels), np.flatnonzero(~trials.labels)
    if trials.paired:
        _, first, second = np.intersect1d(
            trials.units[ones], trials.units[zeros], return_indices=True
        )
        ones, zeros = ones[first], zeros[second]
    size = min(ones.size, zeros.size)
    return trials.scores[ones[:size]], trials.scores[zeros[:size]]


def matched_wins(trials: Trials) -> tuple[int, int]:
    """Return in how many disjoint pairs of trials the member scores higher, and all pairs.

    Ties are broken by coins that were thrown once for all.
    """
    member, other = matched_scores(trials)
    tied = member == other
    won = np.sum(member > other)
    if tied.any():
        won += np.sum(tied & (stream(_TIES).random(tied.size) < 0.5))
    return int(won), tied.size


@lru_cache(maxsize=4096)
def pair_epsilon(wins: float, pairs: int, alpha: float, delta: float) -> float:
    """Return the largest epsilon that allows no such share of wins, but for `alpha`.

    Under (epsilon, delta) the area under any ROC curve, which is the chance of a win, is at
    most ``1 - (1 - delta)^2 / (1 + e^epsilon)``.
    """
    low = float(lower_limit(wins, pairs, alpha)) if pairs else 0.0
    return max(0.0, float(np.log(max((1 - delta) ** 2 / (1 - low) - 1, 1e-300))))


def pair_gaussian_epsilon(wins: int, pairs: int, alpha: float, delta: float) -> float:
    """Return the same for Gaussian mechanisms, where a win has chance Phi(mu / sqrt 2)."""
    low = float(lower_limit(wins, pairs, alpha)) if pairs else 0.0
    mu: NDArray[np.float64] = np.sqrt(2) * scipy.special.ndtri(max(low, 0.5))
    return float(gaussian_epsilon_from_mu(mu, delta))
