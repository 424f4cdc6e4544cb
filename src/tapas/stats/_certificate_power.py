"""How likely the default certificate exceeds a claim, of an attack that decides."""

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._counts import check_level
from tapas.stats._dependence import Dependence
from tapas.stats._portfolio import MAIN_SHARE
from tapas.stats._power import audit_power, likely_counts, likely_number
from tapas.stats._promises import FEW, plan_for
from tapas.stats._trials import Trials
from tapas.stats._two_tails import telling_all

__all__ = ["certificate_power"]

FloatArray = NDArray[np.float64]

_CHOOSING = 0.1
# More trials of a world are seldom planned: the promises and the guesses of so many are taken.
_COUNTED = 20_000
_TOTALS = 48
# Parts of what may be seen first; each stands for a third.
_PARTS = (1 / 6, 1 / 2, 5 / 6)


def certificate_power(
    tpr: float,
    fpr: float,
    claim: float,
    num_trials: int,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Return how likely `certificate` exceeds `claim` with `num_trials` per world.

    Notes
    -----
    Assumes: unpaired trials, equally many in both worlds, and an attack that decides with these
    rates. Guarantees: about; of the ways that share the error that one counts which alone exceeds
    most often, and E1 stands for Buehler's bound.
    """
    alpha = check_level(confidence, delta)
    seen = max(1, int(_CHOOSING * num_trials))
    left, little = num_trials - seen, (1 - MAIN_SHARE) * alpha

    def by_event(error: float) -> float:
        return audit_power(tpr, fpr, claim, left, confidence=1 - error, delta=delta)

    def by_guesses(error: float, trials: int) -> float:
        return _guesses_power(tpr, fpr, claim, trials, error, delta)

    if left < 1:
        return 0.0
    blind = _how_often_blind(seen)
    found = 0.0
    if blind > 0:
        either = by_guesses(MAIN_SHARE * alpha, num_trials), by_event(little / 2)
        found += blind * max(either)
    chosen = _how_often_by_event(tpr, fpr, seen, left, alpha, delta) if blind < 1 else 0.0
    if chosen > 0:
        either = by_event(MAIN_SHARE * alpha), by_guesses(little, left)
        found += (1 - blind) * chosen * max(either)
    if blind < 1 and chosen < 1:
        either = by_guesses(MAIN_SHARE * alpha, left), by_event(little / 2)
        found += (1 - blind) * (1 - chosen) * max(either)
    return found


def _how_often_blind(seen: int) -> float:
    """How often the first trials have too few of one world to choose by, with coins for worlds."""
    if seen < FEW:
        return 1.0
    return float(min(1.0, 2 * scipy.special.bdtr(FEW - 1, 2 * seen, 0.5)))


def _how_often_by_event(
    tpr: float, fpr: float, seen: int, left: int, alpha: float, delta: float
) -> float:
    """Of what the first trials may look like, how often the event is then preferred."""
    seen, left = min(seen, _COUNTED // 9), min(left, _COUNTED)
    rest = _decided((left, left), left)
    found = []
    for part in _PARTS:
        for other in _PARTS:
            counts = likely_number(part, seen, tpr), likely_number(other, seen, fpr)
            found.append(plan_for(_decided(counts, seen), rest, alpha, delta).by_event)
    return float(np.mean(found))


def _decided(yes: tuple[int, int], number: int) -> Trials:
    """Trials of both worlds, so many of which have a score of 1."""
    labels = np.arange(2 * number) < number
    place = np.arange(number)
    scores = np.concatenate([place < yes[0], place < yes[1]]) * 1.0
    return Trials(labels, scores, np.arange(labels.size), None, Dependence.INDEPENDENT)


def _guesses_power(
    tpr: float, fpr: float, claim: float, number: int, alpha: float, delta: float
) -> float:
    """How likely guesses about all trials show more than the claim (`tail_epsilon`).

    Given how many the attack names, its hits are Fisher's noncentral hypergeometric count, with
    the odds of the claim or its own.
    """
    number = min(number, _COUNTED)
    told, spent = telling_all(2 * number, alpha, delta)
    with np.errstate(divide="ignore"):
        own = float(np.subtract(*(scipy.special.logit(rate) for rate in (tpr, fpr))))
    return sum(
        weight * _given_named(int(named), number, claim, own, told, alpha - spent)
        for named, weight in zip(*_named(tpr, fpr, number), strict=True)
    )


def _named(tpr: float, fpr: float, number: int) -> tuple[NDArray[np.int64], FloatArray]:
    """How many an attack names, and how likely: a few of these numbers where they are many."""
    counts = [likely_counts(number, rate) for rate in (tpr, fpr)]
    chances = [
        np.diff(scipy.special.bdtr(one, number, rate), prepend=_before(one, number, rate))
        for one, rate in zip(counts, (tpr, fpr), strict=True)
    ]
    named = np.convolve(*chances)
    reached = np.cumsum(named) / named.sum()
    if reached.size > _TOTALS:
        places = np.searchsorted(reached, (np.arange(_TOTALS) + 0.5) / _TOTALS)
        return counts[0][0] + counts[1][0] + places, np.full(_TOTALS, 1 / _TOTALS)
    return counts[0][0] + counts[1][0] + np.arange(reached.size), named


def _before(counts: NDArray[np.int64], number: int, rate: float) -> float:
    return float(scipy.special.bdtr(counts[0] - 1, number, rate)) if counts[0] > 0 else 0.0


def _given_named(
    named: int, number: int, claim: float, own: float, told: int, alpha: float
) -> float:
    hits = np.arange(max(0, named - number), min(named, number) + 1.0)
    others = hits, named - hits, number - hits, number - named + hits
    ways = -sum((scipy.special.gammaln(count + 1) for count in others), np.zeros(hits.size))
    enough = told + int(np.argmax(np.append(_at_least(ways + 2 * claim * hits) <= alpha, True)))
    if enough >= hits.size:
        return 0.0
    return float(_at_least(ways + own * hits)[enough]) if np.isfinite(own) else 1.0


def _at_least(logs: FloatArray) -> FloatArray:
    weights = np.exp(logs - logs.max())
    return np.cumsum(weights[::-1])[::-1] / weights.sum()
