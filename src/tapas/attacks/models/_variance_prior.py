"""How far the variances of records agree: what each is to be shrunk towards, and how much."""

import numpy as np
import scipy

MOST_WEIGHT = 1_000.0  # observations: variances that agree as well as this are one variance


def variance_prior(squares: np.ndarray, freedom: np.ndarray) -> tuple[float, float]:
    """Weight (in observations) and value of the variance that records have in common.

    Matches mean and spread of the logarithms of the records' variances to what a scaled inverse
    chi-squared distribution would show (Smyth 2004): records that differ much are hardly shrunk.

    Parameters
    ----------
    squares, freedom : ndarray
        Sum of squares about the mean and degrees of freedom of each record.
    """
    known = (freedom > 0) & (squares > 0)
    if known.sum() < 2:
        return MOST_WEIGHT, max(squares.sum() / max(freedom.sum(), 1), 1e-12)
    half = freedom[known] / 2
    logs = np.log(squares[known] / freedom[known]) - scipy.special.digamma(half) + np.log(half)
    excess = logs.var(ddof=1) - scipy.special.polygamma(1, half).mean()
    if excess <= scipy.special.polygamma(1, MOST_WEIGHT / 2):
        return MOST_WEIGHT, float(np.exp(logs.mean()))
    weight = 2 * _inverse_trigamma(float(excess))
    return weight, float(
        np.exp(logs.mean() + scipy.special.digamma(weight / 2) - np.log(weight / 2))
    )


def _inverse_trigamma(value: float) -> float:
    """Newton's method on the reciprocal, which is nearly linear."""
    found = 0.5 + 1 / value
    for _ in range(50):
        reached = scipy.special.polygamma(1, found)
        step = reached * (1 - reached / value) / scipy.special.polygamma(2, found)
        found += step
        if abs(step) < 1e-9 * found:
            break
    return float(found)
