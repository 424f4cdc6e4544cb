"""In which pairs the member scores higher, by how far apart the two scores are."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._pair_comparison import matched_scores
from tapas.stats._trials import Trials
from tapas.stats._two_tails import SHARES, HitCount, loudest_epsilon, telling_all

__all__ = ["PairGaps", "gap_epsilon", "gaps_of"]

# Fewer pairs than these are no share of their own.
_FEWEST = 12


class PairGaps(NamedTuple):
    """Rings of pairs, from the widest gap inwards, of how many `pairs`.

    `wins` of the `sizes` pairs of a ring are those in which the member scores higher; `levels` are
    the parts of the error of all rings up to it.
    """

    sizes: tuple[int, ...]
    wins: tuple[int, ...]
    levels: tuple[float, ...]
    pairs: int


def gaps_of(trials: Trials, shares: dict[float, float] = SHARES) -> PairGaps:
    """Put pairs into rings by how far apart their scores are, whichever of them is higher.

    Pairs of equal scores are in none.
    """
    member, other = matched_scores(trials)
    apart = np.where(member == other, 0.0, np.abs(_gap(member, other)))
    widest = np.sort(apart)[::-1]
    inner = np.zeros(apart.size, dtype=bool)
    sizes, wins, levels = [], [], []
    for share, level in sorted(shares.items()):
        number = max(1, round(share * apart.size))
        if number > apart.size or (share < max(shares) and number < _FEWEST):
            continue
        ring = (apart >= widest[number - 1]) & (apart > 0) & ~inner
        if not ring.any():
            continue
        sizes.append(int(np.sum(ring)))
        wins.append(int(np.sum(ring & (member > other))))
        levels.append(level)
        inner |= ring
    # One ring alone has nobody to share the error with.
    parts = tuple(levels) if len(levels) > 1 else (1.0,) * len(levels)
    return PairGaps(tuple(sizes), tuple(wins), parts, apart.size)


def _gap(member: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):  # of two infinite scores, which are equal
        return member - other


def gap_epsilon(gaps: PairGaps, alpha: float, delta: float) -> float:
    """Return the largest epsilon that allows so many wins with probability at most `alpha`.

    Notes
    -----
    Assumes: independent pairs, the two trials of each independent given what they share.
    Guarantees: exceeds the true epsilon with probability at most `alpha`, whatever the pairs share,
    for any number of pairs and rings. Given the two scores of a pair but not whose they are, the
    odds that the higher one is the member's are at most ``e^(2 epsilon)``: one factor for each of
    the two trials, against the same two scores the other way round. So the wins of rings are no
    more than independent binomial counts, and rings that follow from the scores alone cost
    nothing. Outcomes are ordered, and delta > 0 is met, as by `tail_epsilon`.
    """
    told, spent = telling_all(2 * gaps.pairs, alpha, delta)
    counts = [_wins_among(size) for size in gaps.sizes]
    hits = np.cumsum(np.array(gaps.wins, dtype=np.int64)) - told
    return loudest_epsilon(counts, hits, np.array(gaps.levels), alpha - spent)


def _wins_among(pairs: int) -> HitCount:
    wins = np.arange(pairs + 1.0)
    others = scipy.special.gammaln(wins + 1) + scipy.special.gammaln(pairs - wins + 1)
    return HitCount(0, scipy.special.gammaln(pairs + 1) - others)
