"""E3: a credible bound from independent Jeffreys posteriors."""

from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

__all__ = ["bayes_epsilon"]

FloatArray = NDArray[np.float64]

_LARGEST = 60.0
_STEPS = 48


@cache
def quadrature(number: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(number)
    return (1 + nodes) / 2, weights / 2


def bayes_epsilon(
    tp: FloatArray,
    num_positive: FloatArray,
    fp: FloatArray,
    num_negative: FloatArray,
    alpha: float,
    delta: float,
) -> FloatArray:
    """Return the epsilon whose region holds posterior mass `alpha`.

    The region is the set of error rates that the two inequalities of E1 allow,
    so the bound reads as E1 does. FPR is integrated over its posterior
    quantiles, FNR in closed form.
    """
    nodes, weights = quadrature(128)
    tp, num_positive, fp, num_negative = np.broadcast_arrays(tp, num_positive, fp, num_negative)
    fpr = scipy.special.betaincinv(fp[..., None] + 0.5, (num_negative - fp)[..., None] + 0.5, nodes)
    misses, hits = (num_positive - tp)[..., None] + 0.5, tp[..., None] + 0.5

    def mass(epsilon: FloatArray) -> FloatArray:
        growth = np.exp(epsilon)[..., None]
        least = np.maximum(1 - delta - growth * fpr, (1 - delta - fpr) / growth)
        return scipy.special.betaincc(misses, hits, np.clip(least, 0.0, 1.0)) @ weights

    low, high = np.zeros(tp.shape), np.full(tp.shape, _LARGEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        inside = mass(middle) < alpha
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(mass(np.zeros(tp.shape)) >= alpha, 0.0, low)
