"""How many trials an audit needs before it can see a violation."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from tapas._validate import check_choice, check_probability
from tapas.errors import StatisticsError
from tapas.stats._auc import FEW
from tapas.stats._auc_columns import hanley_mcneil
from tapas.stats._certificate_power import certificate_power
from tapas.stats._clopper_pearson import epsilon_from_limits
from tapas.stats._counts import check_level
from tapas.stats._pair_power import pair_power
from tapas.stats._power import audit_power

__all__ = ["runs_needed", "smallest_area", "smallest_leak"]

_MOST = 10_000_000
_LARGEST_LEAK = 30.0
_LARGEST_AREA = 0.999
_HALVINGS = 20


def runs_needed(
    tpr: float,
    fpr: float,
    claim: float,
    confidence: float = 0.95,
    power: float = 0.9,
    *,
    delta: float = 0.0,
    method: str = "clopper-pearson",
) -> float:
    """Return the trials per world after which `claim` is contradicted with chance `power`.

    Parameters
    ----------
    tpr, fpr
        Rates that the attack is expected to have; 1 and 0 ask when a violation
        could be seen at all.
    claim, delta
        The claimed (epsilon, delta).
    method
        What contradicts: ``"clopper-pearson"`` is E1 on all trials, at an event fixed beforehand;
        ``"portfolio"`` is `certificate`, the default of audits and claims, of independent trials,
        and ``"portfolio of pairs"`` of trials that are played in pairs of one background.

    Returns
    -------
    int or inf
        Infinity where no number of trials suffices, because an attack with
        these rates is allowed under the claim, or where more than ten million
        trials would be needed.

    Notes
    -----
    Assumes: trials as the method has them, equal numbers in both worlds, one event fixed
    beforehand. Guarantees: the power at the returned number is at least
    `power`, computed exactly for E1 and about for the portfolio (which also has to find the
    event, and is taken for the better of its ways); power is slightly saw-toothed in the number
    of trials, so a few smaller numbers may reach it too.
    """
    of_method = _power_of(method)
    rates = check_probability(tpr, "tpr"), check_probability(fpr, "fpr")
    check_probability(power, "power", open_interval=True)
    check_level(confidence, delta)
    if not claim >= 0:
        raise StatisticsError(f"claim must be an epsilon of at least 0, got {claim!r}")
    if float(epsilon_from_limits(rates[1], 1 - rates[0], delta)) <= claim:
        return math.inf

    def enough(trials: int) -> bool:
        reached = of_method(*rates, claim, trials, confidence=confidence, delta=delta)
        return reached >= power

    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def smallest_leak(
    num_trials: int,
    *,
    confidence: float = 0.95,
    power: float = 0.9,
    delta: float = 0.0,
    method: str = "portfolio",
) -> float:
    """Return the epsilon of randomized response that so many trials per world tell from none.

    Parameters
    ----------
    delta, method
        As of `runs_needed`: what shows an epsilon above 0.

    Notes
    -----
    Assumes: trials as the method has them, and an event fixed beforehand for E1. Guarantees: an
    epsilon above 0 is shown with probability `power` at the value returned, less often below it,
    exactly for E1 and about for the portfolio; infinity where even a complete leak would be missed.
    """
    _power_of(method)
    check_probability(power, "power", open_interval=True)
    return _smallest_shown(num_trials, confidence, power, delta, method)


@lru_cache(maxsize=256)
def _smallest_shown(
    num_trials: int, confidence: float, power: float, delta: float, method: str
) -> float:
    of_method = _power_of(method)

    def shown(epsilon: float) -> bool:
        rate = 1 / (1 + math.exp(-epsilon))
        found = of_method(rate, 1 - rate, 0.0, num_trials, confidence=confidence, delta=delta)
        return found >= power

    low, high = 0.0, _LARGEST_LEAK
    if num_trials < 1 or not shown(high):
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


_POWERS: dict[str, Callable[..., float]] = {
    "clopper-pearson": audit_power,
    "portfolio": certificate_power,
    "portfolio of pairs": pair_power,
}


def _power_of(method: str) -> Callable[..., float]:
    return _POWERS[check_choice(method, "method", tuple(_POWERS))]


def smallest_area(
    positives: int,
    negatives: int,
    *,
    confidence: float = 0.95,
    power: float = 0.9,
    paired: bool = False,
) -> float:
    """Return the AUC above one half that so many scores of either side tell from one half.

    Parameters
    ----------
    paired
        Whether trials are played in pairs of one background.

    Notes
    -----
    Assumes: independent records, or pairs that move together no less than independent ones.
    Guarantees: about; a two-sided interval (normal, with Hanley and McNeil's error; that of a share
    where `auc_interval` takes this, of few trials) excludes one half with probability `power` at
    the value returned, less often below it; infinity where even an AUC of almost 1 would be missed.
    """
    check_probability(power, "power", open_interval=True)
    alpha, fewest = check_level(confidence), min(positives, negatives)
    reach = -scipy.special.ndtri(alpha / 2)
    of_few = _least_told(fewest / 2 if paired else fewest, alpha) if fewest < FEW else None

    def shown(area: float) -> bool:
        error = math.sqrt(hanley_mcneil(np.array(area), positives, negatives))
        least = 0.5 + reach * error if of_few is None else of_few
        return bool(scipy.special.ndtr((area - least) / error) >= power)

    low, high = 0.5, _LARGEST_AREA
    if min(positives, negatives) < 2 or not shown(high):
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def _least_told(num_trials: float, alpha: float) -> float:
    """The share of so many trials from which on its limits exclude one half."""

    def too_likely(wins: float) -> float:
        return float(scipy.special.betainc(wins, num_trials - wins + 1, 0.5)) - alpha / 2

    if too_likely(num_trials) >= 0:
        return math.inf
    return float(scipy.optimize.brentq(too_likely, num_trials / 2, num_trials)) / num_trials
