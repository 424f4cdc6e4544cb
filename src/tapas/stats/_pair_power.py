"""How likely the default certificate of pairs exceeds a claim, of an attack that decides."""

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._counts import check_level
from tapas.stats._dependence import Dependence
from tapas.stats._portfolio import LITTLE_SHARE, MAIN_SHARE
from tapas.stats._power import audit_power, likely_counts, likely_number
from tapas.stats._promises import CHANCE, plan_for
from tapas.stats._trials import Trials
from tapas.stats._two_tails import telling_all

__all__ = ["pair_power"]

_CHOOSING = 0.1
# More pairs are seldom planned: the promises of so many are taken.
_COUNTED = 20_000
_TOTALS = 48
# Parts of what may be seen first; each stands for a fifth.
_PARTS = (0.1, 0.3, 0.5, 0.7, 0.9)


def pair_power(
    tpr: float,
    fpr: float,
    claim: float,
    num_pairs: int,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Return how likely `certificate` exceeds `claim` with so many pairs of trials.

    Notes
    -----
    Assumes: an attack that decides with these rates, whatever a pair shares. Guarantees: about; of
    the ways that share the error that one counts which alone exceeds most often.
    """
    alpha = check_level(confidence, delta)
    seen = max(1, int(_CHOOSING * num_pairs))
    left = num_pairs - seen
    if left < 1:
        return 0.0
    main, little = MAIN_SHARE * alpha, LITTLE_SHARE * alpha

    def by_event(error: float) -> float:
        return audit_power(tpr, fpr, claim, left, confidence=1 - error, delta=delta)

    def by_gaps(error: float) -> float:
        return _gaps_power(tpr, fpr, claim, left, error, delta)

    chosen = _how_often_by_gaps(tpr, fpr, seen, left, alpha, delta)
    found = 0.0
    if chosen > 0:
        right_way = 1 - _gaps_power(fpr, tpr, 0.0, seen, CHANCE, 0.0)
        found += chosen * right_way * max(by_gaps(main), by_event(little))
    if chosen < 1:
        found += (1 - chosen) * max(by_event(main), by_gaps(little))
    return found


def _how_often_by_gaps(
    tpr: float, fpr: float, seen: int, left: int, alpha: float, delta: float
) -> float:
    """Of what the first pairs may look like, how often their gaps are then preferred."""
    seen, left = min(seen, _COUNTED // 9), min(left, _COUNTED)
    rest = _decided((left, left), left)
    found = [
        plan_for(
            _decided((likely_number(part, seen, tpr), likely_number(other, seen, fpr)), seen),
            rest,
            alpha,
            delta,
        ).by_gaps
        for part in _PARTS
        for other in _PARTS
    ]
    return float(np.mean(found))


def _decided(yes: tuple[int, int], number: int) -> Trials:
    """Pairs in which so many trials of either world have a score of 1."""
    place = np.arange(number)
    labels, units = np.repeat([True, False], number), np.tile(place, 2)
    scores = np.concatenate([place < yes[0], place < yes[1]]) * 1.0
    return Trials(labels, scores, units, None, Dependence.PAIRS)


def _gaps_power(
    tpr: float, fpr: float, claim: float, pairs: int, alpha: float, delta: float
) -> float:
    """How likely pairs that are not decided alike show more than the claim (`gap_epsilon`)."""
    told, spent = telling_all(2 * pairs, alpha, delta)
    won, lost = tpr * (1 - fpr), fpr * (1 - tpr)
    if won + lost == 0:
        return 0.0
    unlike, weights = _unlike(pairs, min(1.0, won + lost))
    enough = told + scipy.stats.binom.isf(alpha - spent, unlike, scipy.special.expit(2 * claim))
    shown = scipy.stats.binom.sf(enough, unlike, won / (won + lost))
    return float(weights @ np.where(unlike > 0, shown, 0.0))


def _unlike(pairs: int, rate: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many pairs are not decided alike, and how likely: a few of these where they are many."""
    counts = likely_counts(pairs, rate)
    if counts.size <= _TOTALS:
        chances = scipy.stats.binom.pmf(counts, pairs, rate)
        return counts, chances
    reached = scipy.special.bdtr(counts, pairs, rate)
    places = np.searchsorted(reached, (np.arange(_TOTALS) + 0.5) / _TOTALS)
    return counts[np.minimum(places, counts.size - 1)], np.full(_TOTALS, 1 / _TOTALS)
