"""Noise drawn exactly: integers in, integers out, no logarithm of a floating-point number.

Noise that is rounded from floating-point numbers leaves gaps from which the true value can be
read (Mironov 2012). Here every decision is a comparison of a uniform integer with a rational
number, so that the distributions are the stated ones exactly.

References
----------
Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy",
arXiv:2004.00010, algorithms 1 to 3.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tapas.errors import ConfigError

Integers = NDArray[np.int64]

PRECISION_BITS = 20
_LARGEST_SAFE = 2**61
_WORD_BITS = 60


def discrete_laplace(scale: float, size: int, rng: np.random.Generator) -> Integers:
    """Draw integers z with probability proportional to ``exp(-|z| / scale)``.

    Parameters
    ----------
    scale : float
        Rounded up to a multiple of a power of 1/2 (relative change below 2**-19), never down.
    size : int
    rng : Generator

    Notes
    -----
    Added to counts of L1 sensitivity D, scale ``D / epsilon`` gives epsilon-differential privacy.
    """
    ratio = rational_above(scale)
    return _laplace(ratio.numerator, ratio.denominator, size, rng)


def discrete_gaussian(variance: float, size: int, rng: np.random.Generator) -> Integers:
    """Draw integers z with probability proportional to ``exp(-z**2 / (2 variance))``.

    Parameters
    ----------
    variance : float
        Rounded up as in `discrete_laplace`. Zero is not allowed.
    size : int
    rng : Generator

    Notes
    -----
    Added to counts of L2 sensitivity D, variance ``D**2 / (2 rho)`` gives rho-zCDP.
    """
    ratio = rational_above(variance)
    top, bottom = ratio.numerator, ratio.denominator
    step = math.isqrt(top // bottom) + 1
    # exp(-(|y| - v/step)**2 / (2 v)) with v = top/bottom, as one fraction.
    denominator = 2 * top * bottom * step**2
    kept: list[Integers] = []
    missing = size
    while missing > 0:
        proposal = _laplace(step, 1, 2 * missing + 16, rng)
        shift = np.abs(proposal).astype(object) * (bottom * step) - top
        accepted = proposal[bernoulli_exp(_compact(shift * shift), denominator, rng)][:missing]
        kept.append(accepted)
        missing -= len(accepted)
    return np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)


def exponential_mechanism(
    scores: Integers, epsilon: float, sensitivity: int, rng: np.random.Generator
) -> int:
    """Choose a position with probability proportional to ``exp(epsilon score / (2 sensitivity))``.

    Parameters
    ----------
    scores : ndarray of integers
        Higher is better; one record changes each by at most `sensitivity`.
    epsilon : float
        Rounded down, so that no more is spent than said.
    sensitivity : int
    rng : Generator

    Notes
    -----
    Drawn by rejection: a uniform candidate is accepted with probability
    ``exp(-epsilon gap / (2 sensitivity))``, where gap is its distance from the best score. The
    choice is epsilon-DP, and (epsilon**2 / 8)-zCDP because its privacy loss has range epsilon.
    """
    gaps = scores.max() - scores
    rate = 1 / rational_above(2 * sensitivity / _positive(epsilon, "epsilon"))
    while True:
        candidates = rng.integers(len(gaps), size=2 * len(gaps) + 16)
        gamma = gaps[candidates].astype(object) * rate.numerator
        accepted = bernoulli_exp(_compact(gamma), rate.denominator, rng)
        if accepted.any():
            return int(candidates[np.argmax(accepted)])


def bernoulli_exp(
    numerators: NDArray, denominator: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """True with probability ``exp(-numerator / denominator)``, for each non-negative numerator."""
    whole = numerators // denominator
    outcome = _unit_successes(len(numerators), rng) >= whole
    alive = np.flatnonzero(outcome)
    outcome[alive] = _bernoulli_exp_below_one(
        numerators[alive] - whole[alive] * denominator, denominator, rng
    )
    return outcome


def rational_above(value: float) -> Fraction:
    """The smallest multiple of a power of 1/2 that is not below `value`, with about 20 bits."""
    exact = Fraction(_positive(value, "the scale of the noise"))
    bits = max(0, PRECISION_BITS - math.frexp(float(exact))[1])
    return Fraction(math.ceil(exact * 2**bits), 2**bits)


def _positive(value: float, name: str) -> float:
    if not (0 < value < math.inf):
        raise ConfigError(f"{name} must be a positive number, got {value!r}")
    return value


def _laplace(top: int, bottom: int, size: int, rng: np.random.Generator) -> Integers:
    """Discrete Laplace of scale ``top / bottom``."""
    kept: list[Integers] = []
    missing = size
    while missing > 0:
        batch = 2 * missing + 16
        remainder = rng.integers(top, size=batch)
        remainder = remainder[_bernoulli_exp_below_one(remainder, top, rng)]
        magnitude = (remainder + top * _unit_successes(len(remainder), rng)) // bottom
        negative = rng.integers(2, size=len(magnitude)) == 1
        single_zero = ~(negative & (magnitude == 0))
        signed = np.where(negative, -magnitude, magnitude)[single_zero][:missing]
        kept.append(signed)
        missing -= len(signed)
    return np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)


def _unit_successes(size: int, rng: np.random.Generator) -> Integers:
    """How often a coin of heads probability exp(-1) shows heads before its first tail."""
    counts = np.zeros(size, dtype=np.int64)
    alive = np.arange(size)
    while len(alive):
        heads = _bernoulli_exp_below_one(np.ones(len(alive), dtype=np.int64), 1, rng)
        alive = alive[heads]
        counts[alive] += 1
    return counts


def _bernoulli_exp_below_one(
    numerators: NDArray, denominator: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """`bernoulli_exp` for fractions of at most 1: the parity of a run of shrinking coins."""
    outcome = np.ones(len(numerators), dtype=bool)
    alive = np.arange(len(numerators))
    length = 1
    while len(alive):
        alive = alive[_bernoulli(numerators[alive], denominator * length, rng)]
        outcome[alive] = ~outcome[alive]
        length += 1
    return outcome


def _bernoulli(
    numerators: NDArray, denominator: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """True with probability ``numerator / denominator`` exactly."""
    if denominator <= _LARGEST_SAFE:
        return rng.integers(denominator, size=len(numerators)) < numerators.astype(np.int64)
    outcome = np.zeros(len(numerators), dtype=bool)
    alive, left = np.arange(len(numerators)), numerators.astype(object)
    while len(alive):
        # Compare the fraction's binary digits with random ones, a word at a time, until they part.
        left = left << _WORD_BITS
        digits, left = left // denominator, left % denominator
        drawn = rng.integers(2**_WORD_BITS, size=len(alive)).astype(object)
        outcome[alive] = (drawn < digits).astype(bool)
        tied = (drawn == digits).astype(bool)
        alive, left = alive[tied], left[tied]
    return outcome


def _compact(values: NDArray) -> NDArray:
    """Whole numbers as int64 where they fit, else as Python integers."""
    fits = len(values) == 0 or max(values) <= _LARGEST_SAFE
    return values.astype(np.int64) if fits else values
