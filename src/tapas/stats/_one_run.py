"""E5 and E6: bounds from many canaries in one run."""

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas._validate import check_count
from tapas.errors import StatisticsError
from tapas.stats._bound import EpsilonBound
from tapas.stats._counts import check_level
from tapas.stats._gaussian import check_gaussian_delta, gaussian_epsilon_from_mu

__all__ = ["one_run_epsilon", "one_run_gaussian_epsilon"]

FloatArray = NDArray[np.float64]

_LARGEST_EPSILON = 60.0
_LARGEST_MU = 40.0
_STEPS = 60
_GRID = 65
_ZOOMS = 6


def one_run_epsilon(
    num_canaries: int,
    num_guesses: int,
    num_correct: int,
    *,
    delta: float = 0.0,
    confidence: float = 0.95,
    relation: str | None = None,
) -> EpsilonBound:
    """Return a lower bound on epsilon from guesses about many canaries in one run (E5).

    Parameters
    ----------
    num_canaries
        Canaries m, each included by its own fair coin.
    num_guesses
        Canaries r on which the attack did not abstain; fixed beforehand.
    num_correct
        Correct guesses v among them.

    Notes
    -----
    Assumes: independent fair coins and a number of guesses that does not depend
    on the outcome; the canaries may influence each other.
    Guarantees: exceeds the true epsilon with probability at most
    ``1 - confidence``. The p-value of epsilon is
    ``P[B >= v] + 2 m delta max_i P[v-i <= B < v] / i`` with B binomial of r
    trials and rate ``e^epsilon / (1 + e^epsilon)``.

    References
    ----------
    Steinke, Nasr and Jagielski, Privacy Auditing with One (1) Training Run (2023).
    """
    alpha = _check_guesses(num_canaries, num_guesses, num_correct, confidence, delta)

    def solve(correct: int) -> float:
        low, high = 0.0, _LARGEST_EPSILON
        if _one_run_p_value(0.0, num_canaries, num_guesses, correct, delta) > alpha:
            return 0.0
        for _ in range(_STEPS):
            middle = (low + high) / 2
            if _one_run_p_value(middle, num_canaries, num_guesses, correct, delta) > alpha:
                high = middle
            else:
                low = middle
        return low

    return EpsilonBound(
        value=solve(num_correct),
        confidence=confidence,
        delta=delta,
        method="one-run",
        ceiling=solve(num_guesses),
        relation=relation,
    )


def _one_run_p_value(
    epsilon: float, num_canaries: int, num_guesses: int, num_correct: int, delta: float
) -> float:
    if num_correct == 0:
        return 1.0
    rate = float(scipy.special.expit(epsilon))
    p_value = float(scipy.special.bdtrc(num_correct - 1, num_guesses, rate))
    if delta > 0:
        at_most = scipy.special.bdtr(np.arange(num_correct, dtype=float), num_guesses, rate)
        reach = np.arange(1, num_correct + 1)
        below = np.concatenate([at_most[-2::-1], [0.0]])
        p_value += 2 * num_canaries * delta * float(np.max((at_most[-1] - below) / reach))
    return p_value


def one_run_gaussian_epsilon(
    num_canaries: int,
    num_guesses: int,
    num_correct: int,
    *,
    delta: float,
    confidence: float = 0.95,
    relation: str | None = None,
) -> EpsilonBound:
    """Return a one-run bound for Gaussian mechanisms (E6): mu first, then epsilon at `delta`.

    Parameters are those of `one_run_epsilon`; `delta` must be positive.

    Notes
    -----
    Assumes: independent fair coins, a fixed number of guesses, and a mechanism
    whose trade-off curve is Gaussian; on any other mechanism it may overstate.
    Guarantees: exceeds the true epsilon with probability at most
    ``1 - confidence``. If at least v guesses were right with probability
    ``1 - confidence``, then stepping down from v the trade-off curve forces a
    least probability on every smaller number of right guesses; a mu for which
    those add up to more than 1 is impossible.

    References
    ----------
    Mahloujifar, Melis and Chaudhuri, Auditing f-Differential Privacy in One Run (2024).
    """
    alpha = _check_guesses(num_canaries, num_guesses, num_correct, confidence, delta)
    check_gaussian_delta(delta)

    def solve(correct: int) -> float:
        mu = _largest_impossible_mu(num_canaries, num_guesses, correct, alpha)
        return float(gaussian_epsilon_from_mu(mu, delta))

    return EpsilonBound(
        value=solve(num_correct),
        confidence=confidence,
        delta=delta,
        method="one-run-gaussian",
        ceiling=solve(num_guesses),
        relation=relation,
    )


def _largest_impossible_mu(
    num_canaries: int, num_guesses: int, num_correct: int, alpha: float
) -> float:
    low, high = 0.0, _LARGEST_MU
    for _ in range(_ZOOMS):
        grid = np.linspace(low, high, _GRID)
        impossible = _is_impossible(grid, num_canaries, num_guesses, num_correct, alpha)
        if not impossible[0]:
            return 0.0
        last = int(np.flatnonzero(impossible)[-1])
        low, high = float(grid[last]), float(grid[min(last + 1, _GRID - 1)])
    return low


def _is_impossible(
    mu: FloatArray, num_canaries: int, num_guesses: int, num_correct: int, alpha: float
) -> NDArray[np.bool_]:
    """Return for which `mu` P[right >= num_correct] >= alpha cannot be.

    `right` and `wrong` are the chances that a canary drawn at random is guessed
    rightly (wrongly) while the total is at least the current count.
    """
    right = np.full(mu.shape, alpha * num_correct / num_canaries)
    wrong = np.full(mu.shape, alpha * (num_guesses - num_correct) / num_canaries)
    for count in range(num_correct - 1, -1, -1):
        forced = np.maximum(
            wrong, scipy.special.ndtr(scipy.special.ndtri(np.minimum(right, 1.0)) - mu)
        )
        right = right + count / (num_guesses - count) * (forced - wrong)
        wrong = forced
    return right + wrong > num_guesses / num_canaries


def _check_guesses(
    num_canaries: int, num_guesses: int, num_correct: int, confidence: float, delta: float
) -> float:
    check_count(num_canaries, "num_canaries", minimum=1)
    check_count(num_guesses, "num_guesses")
    check_count(num_correct, "num_correct")
    if not num_correct <= num_guesses <= num_canaries:
        raise StatisticsError(
            "expected num_correct <= num_guesses <= num_canaries, got "
            f"{num_correct}, {num_guesses} and {num_canaries}; abstentions count as no guess"
        )
    return check_level(confidence, delta)
