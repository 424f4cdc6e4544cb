"""How likely Clopper and Pearson's bound at a fixed event is to exceed a claim."""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas.stats._buehler import outcome_boundary
from tapas.stats._counts import check_level
from tapas.stats._intervals import upper_limit

__all__ = ["audit_power", "likely_counts", "likely_number"]


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
    fp, fn = likely_counts(num_trials, fpr), likely_counts(num_trials, 1 - tpr)
    fpr_high = upper_limit(fp, num_trials, alpha / 2)
    fnr_high = upper_limit(fn, num_trials, alpha / 2)
    most = fn[0] + outcome_boundary(claim, fpr_high, fnr_high, delta)
    reached = np.where(most >= 0, scipy.special.bdtr(np.maximum(most, 0), num_trials, 1 - tpr), 0.0)
    return float(binom.pmf(fp, num_trials, fpr) @ reached)


def likely_counts(n: int, rate: float) -> NDArray[np.int64]:
    """Return the counts within eight standard deviations of their mean."""
    reach = 8 * math.sqrt(n * rate * (1 - rate)) + 30
    return np.arange(max(0, int(n * rate - reach)), min(n, int(n * rate + reach)) + 1)


def likely_number(part: float, n: int, rate: float) -> int:
    """Return a count that with probability `part` is not exceeded."""
    counts = likely_counts(n, rate)
    reached = scipy.special.bdtr(counts, n, rate)
    return int(counts[min(int(np.searchsorted(reached, part)), counts.size - 1)])
