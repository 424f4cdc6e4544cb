"""Guesses about the trials with the highest and the lowest scores: an exact bound on epsilon."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._trials import Trials

__all__ = [
    "SHARES",
    "HitCount",
    "Ring",
    "Tails",
    "loudest_epsilon",
    "tail_epsilon",
    "tails_of",
    "telling_all",
]

FloatArray = NDArray[np.float64]

# Shares of the trials that are guessed, one within the other, and the part of the error at which
# each is thought to speak; this orders outcomes and costs nothing. Simulated audits: Laplace noise
# wants many guesses, Gaussian noise few.
SHARES = {0.015: 0.2, 0.04: 0.2, 0.12: 0.3, 0.35: 0.4, 0.7: 0.65}
# Fewer guesses than these are no share of their own.
_FEWEST = 24
_LARGEST_EPSILON = 40.0
_PRECISION = 1e-5
_NEGLIGIBLE = 1e-18
# Of the error, at most, for more trials that tell all than are counted with (delta).
_SPENT_ON_DELTA = 0.05


class Ring(NamedTuple):
    """Members among `top` and `bottom` trials, `hits` of them at the top."""

    hits: int
    top: int
    bottom: int
    members: int

    @property
    def right(self) -> int:
        """Members at the top and non-members at the bottom."""
        return self.hits + self.bottom - (self.members - self.hits)


@dataclass(frozen=True)
class Tails:
    """Who is guessed, from the most extreme scores inwards, of how many `trials`.

    Each ring lies within the next; `levels` are the parts of the error of all up to it.
    """

    rings: tuple[Ring, ...]
    levels: tuple[float, ...]
    trials: int


def tails_of(trials: Trials, shares: dict[float, float] = SHARES) -> Tails:
    """Guess members at the top and non-members at the bottom, about each share of the trials.

    Equal scores are guessed alike. Who is guessed follows from the scores of both worlds together,
    never from the secrets.
    """
    ordered = np.sort(trials.scores)
    rings, levels = [], []
    inner = np.zeros(trials.scores.size, dtype=bool)
    for share, level in sorted(shares.items()):
        if share < max(shares) and share * inner.size < _FEWEST:
            continue
        top, bottom = (world & ~inner for world in _ends(trials.scores, ordered, share))
        if not (top.any() or bottom.any()):
            continue
        guessed = top | bottom
        counted = (top & trials.labels, top, bottom, guessed & trials.labels)
        rings.append(Ring(*(int(np.sum(who)) for who in counted)))
        levels.append(level)
        inner |= guessed
    # One ring alone has nobody to share the error with.
    return Tails(tuple(rings), tuple(levels) if len(rings) > 1 else (1.0,), inner.size)


def _ends(
    scores: FloatArray, ordered: FloatArray, share: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    size = ordered.size
    reach = max(1, round(share * size / 2))
    low, high = ordered[reach - 1], ordered[size - reach]
    if low < high:
        # Equal scores may reach further at one end. The other goes as far: few trials there would
        # say little of what many here are worth.
        tops, bottoms = int(np.sum(ordered >= high)), int(np.sum(ordered <= low))
        if tops > bottoms:
            return scores >= high, (scores <= ordered[tops - 1]) & (scores < high)
        return (scores >= ordered[size - bottoms]) & (scores > low), scores <= low
    middle = ordered[size // 2]
    top, bottom = scores > middle, scores < middle
    if not top.any():
        return scores == middle, bottom
    return top, bottom if bottom.any() else scores == middle


def tail_epsilon(tails: Tails, alpha: float, delta: float) -> float:
    """Return the largest epsilon that allows so many hits with probability at most `alpha`.

    Notes
    -----
    Assumes: independent trials, each world with one distribution. Guarantees: exceeds the true
    epsilon with probability at most `alpha`, for any number of trials and shares. Given all
    scores, the odds of a trial to be a member's lie within ``e^epsilon`` of those of any worlds
    without a leak, so that two trials differ by ``e^(2 epsilon)`` at most. Given also how many
    members each ring holds, the hits of rings are then no more than independent noncentral
    hypergeometric counts of Fisher's with these odds. Outcomes are ordered by the share that
    speaks loudest, and the bound is Buehler's for this order: the probability that any share
    speaks as loudly is exact. With delta > 0 a trial tells all with probability delta at most
    (Kairouz, Oh and Viswanath): so many of them as `alpha` does not exclude count as hits that
    say nothing.

    References
    ----------
    Fisher (1935); Buehler (1957); Steinke, Nasr and Jagielski (2023), who guess so on coins;
    Kairouz, Oh and Viswanath (2015).
    """
    told, spent = telling_all(tails.trials, alpha, delta)
    hits = np.cumsum([ring.hits for ring in tails.rings]) - told
    counts = [HitCount.of(ring) for ring in tails.rings]
    return loudest_epsilon(counts, hits, np.array(tails.levels), alpha - spent)


def loudest_epsilon(
    counts: "list[HitCount]", hits: NDArray[np.int64], shares: FloatArray, error: float
) -> float:
    """The bound of `tail_epsilon`: `counts` of each ring, `hits` and `shares` of all up to it."""
    if not counts:
        return 0.0
    walk = _Walk(counts)
    levels = error * shares
    loudest = _root(lambda epsilon: walk.loudness(epsilon, hits, levels), _LARGEST_EPSILON)
    if loudest <= 0:
        return 0.0
    reached = walk.reached(loudest, levels)
    return _root(lambda epsilon: np.log(walk.chance(epsilon, reached) / error), loudest + 1)


def telling_all(trials: int, alpha: float, delta: float) -> tuple[int, float]:
    """How many trials may tell all, and the error that there are more."""
    told, spent = 0, 0.0
    if delta > 0:
        spent = float(scipy.special.bdtrc(told, trials, delta))
        while spent > _SPENT_ON_DELTA * alpha:
            told += 1
            spent = float(scipy.special.bdtrc(told, trials, delta)) if told < trials else 0.0
    return told, spent


def _root(rising: Callable[[float], float], high: float) -> float:
    """The largest value up to which a rising function stays below 0, rounded down; 0 if none."""
    below = rising(0.0)
    if below >= 0:
        return 0.0
    low, top = 0.0, min(1.0, high)
    while (above := rising(top)) < 0:
        if top >= high:
            return high
        low, below, top = top, above, min(2 * top, high)
    # Regula falsi, where an end that stays twice counts half (the Illinois method).
    last = 0.0
    while top - low > _PRECISION:
        middle = (low * above - top * below) / (above - below)
        middle = min(max(middle, low + _PRECISION / 2), top - _PRECISION / 2)
        value = rising(middle)
        if value < 0:
            low, below, above = middle, value, above / (2 if last < 0 else 1)
        else:
            top, above, below = middle, value, below / (2 if last > 0 else 1)
        last = value
    return low


class HitCount(NamedTuple):
    """The fewest hits, and the logarithm of the ways to each number: odds weigh a hit twice."""

    fewest: int
    log_ways: FloatArray

    @classmethod
    def of(cls, ring: Ring) -> "HitCount":
        """Fisher's noncentral hypergeometric count."""
        fewest = max(0, ring.members - ring.bottom)
        hits = np.arange(fewest, min(ring.top, ring.members) + 1.0)
        others = ring.top - hits, ring.members - hits, ring.bottom - ring.members + hits
        return cls(
            fewest,
            -sum(
                (scipy.special.gammaln(count + 1) for count in others),
                scipy.special.gammaln(hits + 1),
            ),
        )

    def chances(self, epsilon: float) -> tuple[int, FloatArray]:
        """From which number on hits have a probability to speak of, and these."""
        logs = self.log_ways + 2 * epsilon * np.arange(self.log_ways.size)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        places = np.flatnonzero(weights > _NEGLIGIBLE)
        return self.fewest + int(places[0]), weights[places[0] : places[-1] + 1]


class _Walk(NamedTuple):
    """Hits as they add up from ring to ring."""

    counts: list[HitCount]

    def _tails(self, epsilon: float) -> list[tuple[int, FloatArray]]:
        """After each ring: from which number on, and the probability of so many hits or more."""
        start, chances, found = 0, np.ones(1), []
        for count in self.counts:
            first, step = count.chances(epsilon)
            start, chances = start + first, np.convolve(chances, step)
            found.append((start, np.cumsum(chances[::-1])[::-1]))
        return found

    def loudness(self, epsilon: float, hits: NDArray[np.int64], levels: FloatArray) -> float:
        """Logarithm of the smallest probability of such `hits`, each over its level."""
        tails = [
            1.0 if count <= start else (tail[count - start] if count - start < tail.size else 0.0)
            for (start, tail), count in zip(self._tails(epsilon), hits, strict=True)
        ]
        return float(np.log(np.maximum(np.array(tails), 1e-300) / levels).min())

    def reached(self, epsilon: float, levels: FloatArray) -> list[int]:
        """After each ring the fewest hits with a probability of at most its level."""
        return [
            start + int(np.searchsorted(-tail, -level, side="left"))
            for (start, tail), level in zip(self._tails(epsilon), levels, strict=True)
        ]

    def chance(self, epsilon: float, reached: list[int]) -> float:
        """Probability that the hits are as many as `reached` after any ring."""
        start, chances, found = 0, np.ones(1), 0.0
        for count, most in zip(self.counts, reached, strict=True):
            first, step = count.chances(epsilon)
            start, chances = start + first, np.convolve(chances, step)
            kept = max(0, most - start)
            found += float(chances[kept:].sum())
            chances = chances[:kept]
            if kept == 0:
                break
        return max(found, 1e-300)
