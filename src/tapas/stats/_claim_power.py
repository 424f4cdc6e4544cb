"""How likely a false claim is to be contradicted."""

import math
from collections.abc import Callable
from functools import cache

import scipy

from tapas.stats._counts import check_level
from tapas.stats._dependence import Dependence
from tapas.stats._gaussian import check_family, gaussian_epsilon_from_mu
from tapas.stats._one_run import one_run_epsilon, one_run_gaussian_epsilon
from tapas.stats._pair_power import pair_power
from tapas.stats._portfolio import MAIN_SHARE
from tapas.stats._promises import FEW
from tapas.stats._two_tails import telling_all

__all__ = ["claim_power"]

_HALVINGS = 40
_CHOOSING = 0.1


def claim_power(
    claim: float,
    num_trials: int,
    *,
    dependence: Dependence = Dependence.INDEPENDENT,
    confidence: float = 0.95,
    delta: float = 0.0,
    family: str | None = None,
) -> float:
    """Return how likely `certificate` contradicts a claim where epsilon is twice as large.

    Parameters
    ----------
    claim, delta
        The claimed (epsilon, delta).
    num_trials
        Of each world; of all records where they were put in by coins.
    family
        ``"gaussian"`` where the claim is read so: the mechanism is then Gaussian, and randomized
        response otherwise.

    Notes
    -----
    Assumes: the attack is the best there is, and worlds have equally many trials. Guarantees:
    about; the certificate is taken for the way that has most of its error on such scores: all
    guesses together, pairs where the family is Gaussian, and as `pair_power` where trials are
    paired.
    """
    alpha = check_level(confidence, delta)
    check_family(family)
    if num_trials < 1 or not claim > 0:
        return 0.0
    if dependence is Dependence.COINS:
        return _of_coins(claim, num_trials, confidence, delta, family)
    main = MAIN_SHARE * alpha
    if family == "gaussian":
        allowed, real = (_wins(epsilon, delta) for epsilon in (claim, 2 * claim))
        return _exceeds(num_trials, allowed, real, main)
    rate = _right(2 * claim)
    if dependence is Dependence.PAIRS:
        return pair_power(rate, 1 - rate, claim, num_trials, confidence=confidence, delta=delta)
    left = num_trials - max(1, int(_CHOOSING * num_trials))
    guesses = 2 * (num_trials if _CHOOSING * num_trials < FEW else left)
    told, spent = telling_all(guesses, main, delta)
    # Each that tells all is one hit, and so two right guesses.
    return _exceeds(guesses, _right(claim), rate, main - spent, free=2 * told)


def _right(epsilon: float) -> float:
    """How often randomized response tells the truth."""
    return float(scipy.special.expit(epsilon))


def _exceeds(number: int, allowed: float, real: float, alpha: float, free: int = 0) -> float:
    """How likely more of a number succeed than would, but for `alpha`, at the rate allowed.

    Some of them, which are `free`, say nothing.
    """
    least = _first(number, lambda count: _at_least(count - free, number, allowed) <= alpha)
    return _at_least(least, number, real)


def _at_least(count: int, number: int, rate: float) -> float:
    if count > number:
        return 0.0
    return float(scipy.special.bdtrc(count - 1, number, rate)) if count > 0 else 1.0


def _first(number: int, is_enough: Callable[[int], bool]) -> int:
    """The smallest count that is enough, if a larger one is too; beyond all where none is."""
    low, high = -1, number + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _of_coins(
    claim: float, number: int, confidence: float, delta: float, family: str | None
) -> float:
    bound = one_run_gaussian_epsilon if family == "gaussian" else one_run_epsilon

    def contradicts(right: int) -> bool:
        return float(bound(number, number, right, delta=delta, confidence=confidence)) > claim

    rate = _right(2 * claim)
    if family == "gaussian":
        rate = float(scipy.special.ndtr(_mu(2 * claim, delta) / 2))
    return _at_least(_first(number, contradicts), number, rate)


def _wins(epsilon: float, delta: float) -> float:
    """How often a member scores above a non-member through a Gaussian mechanism."""
    return float(scipy.special.ndtr(_mu(epsilon, delta) / math.sqrt(2)))


@cache
def _mu(epsilon: float, delta: float) -> float:
    """Of the Gaussian mechanism with this epsilon at delta."""
    low, high = 0.0, 1.0
    while gaussian_epsilon_from_mu(high, delta) < epsilon:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = gaussian_epsilon_from_mu(middle, delta) < epsilon
        low, high = (middle, high) if below else (low, middle)
    return high
