"""How many trials an audit needs before it can see a violation."""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas._validate import check_probability
from tapas.errors import StatisticsError
from tapas.stats._auc_columns import hanley_mcneil
from tapas.stats._buehler import outcome_boundary
from tapas.stats._clopper_pearson import epsilon_from_limits
from tapas.stats._counts import check_level
from tapas.stats._intervals import upper_limit

__all__ = ["audit_power", "runs_needed", "smallest_area", "smallest_leak"]

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
) -> float:
    """Return the trials per world after which E1 contradicts `claim` with chance `power`.

    Parameters
    ----------
    tpr, fpr
        Rates that the attack is expected to have; 1 and 0 ask when a violation
        could be seen at all.
    claim, delta
        The claimed (epsilon, delta).

    Returns
    -------
    int or inf
        Infinity where no number of trials suffices, because an attack with
        these rates is allowed under the claim, or where more than ten million
        trials would be needed.

    Notes
    -----
    Assumes: unpaired trials, equal numbers in both worlds, one event fixed
    beforehand. Guarantees: the power at the returned number is at least
    `power`, computed exactly; power is slightly saw-toothed in the number of
    trials, so a few smaller numbers may reach it too.
    """
    rates = check_probability(tpr, "tpr"), check_probability(fpr, "fpr")
    check_probability(power, "power", open_interval=True)
    check_level(confidence, delta)
    if not claim >= 0:
        raise StatisticsError(f"claim must be an epsilon of at least 0, got {claim!r}")
    if float(epsilon_from_limits(rates[1], 1 - rates[0], delta)) <= claim:
        return math.inf

    def enough(trials: int) -> bool:
        reached = audit_power(*rates, claim, trials, confidence=confidence, delta=delta)
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


def audit_power(
    tpr: float,
    fpr: float,
    claim: float,
    num_trials: int,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Return the probability that E1 exceeds `claim` with `num_trials` per world.

    Notes
    -----
    Assumes: unpaired trials and an event fixed beforehand with rates `tpr` and
    `fpr`. Guarantees: exact up to rounding, no simulation.
    """
    from scipy.stats import binom

    alpha = check_level(confidence, delta)
    fp, fn = _likely_counts(num_trials, fpr), _likely_counts(num_trials, 1 - tpr)
    fpr_high = upper_limit(fp, num_trials, alpha / 2)
    fnr_high = upper_limit(fn, num_trials, alpha / 2)
    most = fn[0] + outcome_boundary(claim, fpr_high, fnr_high, delta)
    reached = np.where(most >= 0, scipy.special.bdtr(np.maximum(most, 0), num_trials, 1 - tpr), 0.0)
    return float(binom.pmf(fp, num_trials, fpr) @ reached)


def smallest_leak(num_trials: int, *, confidence: float = 0.95, power: float = 0.9) -> float:
    """Return the epsilon of randomized response that so many trials per world tell from none.

    Notes
    -----
    Assumes: unpaired trials and an event fixed beforehand, as `audit_power`. Guarantees:
    E1 shows an epsilon above 0 with probability `power` at the value returned, less
    often below it; infinity where even a complete leak would be missed.
    """
    check_probability(power, "power", open_interval=True)

    def shown(epsilon: float) -> bool:
        rate = 1 / (1 + math.exp(-epsilon))
        return audit_power(rate, 1 - rate, 0.0, num_trials, confidence=confidence) >= power

    low, high = 0.0, _LARGEST_LEAK
    if num_trials < 1 or not shown(high):
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def smallest_area(
    positives: int, negatives: int, *, confidence: float = 0.95, power: float = 0.9
) -> float:
    """Return the AUC above one half that so many scores of either side tell from one half.

    Notes
    -----
    Assumes: independent records. Guarantees: about; a two-sided interval (normal, with Hanley and
    McNeil's error) excludes one half with probability `power` at the value returned, less often
    below it; infinity where even an AUC of almost 1 would be missed.
    """
    check_probability(power, "power", open_interval=True)
    reach = -scipy.special.ndtri(check_level(confidence) / 2)

    def shown(area: float) -> bool:
        error = math.sqrt(hanley_mcneil(np.array(area), positives, negatives))
        return bool(scipy.special.ndtr((area - 0.5) / error - reach) >= power)

    low, high = 0.5, _LARGEST_AREA
    if min(positives, negatives) < 2 or not shown(high):
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high


def _likely_counts(n: int, rate: float) -> NDArray[np.int64]:
    """Return the counts within eight standard deviations of their mean."""
    reach = 8 * math.sqrt(n * rate * (1 - rate)) + 30
    return np.arange(max(0, int(n * rate - reach)), min(n, int(n * rate + reach)) + 1)
