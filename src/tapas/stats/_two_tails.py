"""Guesses about the trials with the highest and the lowest scores: an exact bound on epsilon."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._trials import Trials

__all__ = ["TailCounts", "tail_counts", "tail_epsilon"]

FloatArray = NDArray[np.float64]

_LARGEST_EPSILON = 40.0
_STEPS = 48
# Of the error, at most, for more trials that tell all than are counted with (delta).
_SPENT_ON_DELTA = 0.05


class TailCounts(NamedTuple):
    """Who was guessed: members among `top` and `bottom` trials, `hits` of them at the top."""

    hits: int
    top: int
    bottom: int
    members: int
    trials: int

    @property
    def right(self) -> int:
        """Members at the top and non-members at the bottom."""
        return self.hits + self.bottom - (self.members - self.hits)

    @property
    def perfect(self) -> "TailCounts":
        """What a perfect attack would have counted."""
        return self._replace(hits=self.top, members=self.top)


def tail_counts(trials: Trials, share: float) -> TailCounts:
    """Guess members at the top and non-members at the bottom, about a `share` of the trials.

    Equal scores are guessed alike. Who is guessed follows from the scores of both worlds together,
    never from the secrets.
    """
    scores, size = trials.scores, trials.scores.size
    ordered = np.sort(scores)
    reach = max(1, round(share * size / 2))
    low, high = ordered[reach - 1], ordered[size - reach]
    top, bottom = scores >= high, scores <= low
    if low >= high:
        middle = ordered[size // 2]
        top, bottom = scores > middle, scores < middle
        if not top.any():
            top = scores == middle
        elif not bottom.any():
            bottom = scores == middle
    guessed = top | bottom
    return TailCounts(
        int(np.sum(top & trials.labels)),
        int(np.sum(top)),
        int(np.sum(bottom)),
        int(np.sum(guessed & trials.labels)),
        size,
    )


def tail_epsilon(counts: TailCounts, alpha: float, delta: float) -> float:
    """Return the largest epsilon that allows so many hits with probability at most `alpha`.

    Notes
    -----
    Assumes: independent trials, each world with one distribution. Guarantees: exceeds the true
    epsilon with probability at most `alpha`, for any number of trials. Given all scores, the odds
    of a trial to be a member's lie within ``e^epsilon`` of those of any worlds without a leak, so
    that two trials differ by ``e^(2 epsilon)`` at most. Given also how many members were guessed,
    hits are then no more than Fisher's noncentral hypergeometric count with these odds. With
    delta > 0 a trial tells all with probability delta at most (Kairouz, Oh and Viswanath): so many
    of them as `alpha` does not exclude count as hits that say nothing.

    References
    ----------
    Fisher (1935); Steinke, Nasr and Jagielski (2023), who guess so on coins; Kairouz, Oh and
    Viswanath (2015).
    """
    told = 0
    spent = 0.0
    if delta > 0:
        spent = float(scipy.special.bdtrc(told, counts.trials, delta))
        while spent > _SPENT_ON_DELTA * alpha:
            told += 1
            spent = (
                float(scipy.special.bdtrc(told, counts.trials, delta))
                if told < counts.trials
                else 0.0
            )
    hits = counts.hits - told
    fewest, most = max(0, counts.members - counts.bottom), min(counts.top, counts.members)
    if not fewest < hits <= most:
        return 0.0
    support = np.arange(fewest, most + 1.0)
    ways = -(
        scipy.special.gammaln(support + 1)
        + scipy.special.gammaln(counts.top - support + 1)
        + scipy.special.gammaln(counts.members - support + 1)
        + scipy.special.gammaln(counts.bottom - counts.members + support + 1)
    )

    def chance(epsilon: float) -> float:
        logs = ways + 2 * epsilon * support
        weights = np.exp(logs - logs.max())
        return float(weights[hits - fewest :].sum() / weights.sum())

    low, high = 0.0, _LARGEST_EPSILON
    if chance(low) > alpha - spent:
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if chance(middle) > alpha - spent else (middle, high)
    return low
