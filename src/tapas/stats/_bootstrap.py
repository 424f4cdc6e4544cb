"""Bootstrap intervals for point metrics, by resampling counts."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from tapas._random import resolve_seed, stream
from tapas._validate import check_choice, check_count
from tapas.errors import StatisticsError
from tapas.stats._counts import check_level
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["bootstrap", "weighted_accuracy", "weighted_advantage", "weighted_auc"]

FloatArray = NDArray[np.float64]
Statistic = Callable[..., FloatArray]

_CELLS = 4_000_000


def bootstrap(
    statistic: Statistic,
    *data: ArrayLike,
    num_resamples: int = 2000,
    confidence: float = 0.95,
    method: str = "percentile",
    groups: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    seed: int | None = None,
) -> Interval:
    """Return a bootstrap interval for a point metric.

    Parameters
    ----------
    statistic
        Called as ``statistic(*data, weights=w)`` with w of shape (b, n): how
        often each trial was drawn in each of b resamples; returns b values.
        `weighted_accuracy`, `weighted_advantage` and `weighted_auc` are such.
    *data
        Arrays whose first axis runs over the n trials.
    method
        ``"percentile"`` or ``"bca"`` (bias-corrected and accelerated).
    groups
        Equal numbers mark trials that belong together (pairs); whole groups
        are then drawn. None: each trial by itself.
    rng, seed
        Source of randomness; `rng` wins, neither draws fresh entropy.

    Notes
    -----
    Assumes: independent groups, many of them, and a smooth metric.
    Guarantees: coverage that tends to `confidence` as trials grow, and nothing
    for few trials or for an epsilon; it describes a metric, never certifies.
    `widened` marks an interval without width.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals.
    """
    check_choice(method, "method", ("percentile", "bca"))
    check_count(num_resamples, "num_resamples", minimum=1)
    alpha = check_level(confidence)
    arrays = [np.asarray(values) for values in data]
    codes, num_units = _units(arrays, groups)
    generator = rng if rng is not None else stream(resolve_seed(seed))

    def evaluate(draws: Iterator[FloatArray]) -> FloatArray:
        return np.concatenate([statistic(*arrays, weights=draw[:, codes]) for draw in draws])

    value = float(evaluate(iter([np.ones((1, num_units))]))[0])
    replicates = evaluate(_draws(num_units, codes.size, num_resamples, generator))
    replicates = replicates[~np.isnan(replicates)]
    if replicates.size == 0:
        return WidenedInterval(np.nan, np.nan, value)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if method == "bca":
        jackknife = evaluate(_leave_one_out(num_units, codes.size))
        levels = _bca_levels(levels, value, replicates, jackknife)
    low, high = np.quantile(replicates, levels)
    kind = WidenedInterval if low == high else Interval
    return kind(float(low), float(high), value)


def _units(arrays: list[Any], groups: ArrayLike | None) -> tuple[NDArray[np.int64], int]:
    sizes = {len(values) for values in arrays} | (
        {np.size(groups)} if groups is not None else set()
    )
    if len(sizes) != 1 or sizes == {0}:
        raise StatisticsError(
            f"data and groups must have one common length above 0, got {sorted(sizes)}"
        )
    if groups is None:
        size = sizes.pop()
        return np.arange(size), size
    known, codes = np.unique(np.asarray(groups), return_inverse=True)
    return codes.reshape(-1), known.size


def _draws(
    num_units: int, num_trials: int, num_resamples: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    share = np.full(num_units, 1 / num_units)
    for size in _chunks(num_resamples, num_trials):
        yield rng.multinomial(num_units, share, size=size).astype(float)


def _leave_one_out(num_units: int, num_trials: int) -> Iterator[FloatArray]:
    start = 0
    for size in _chunks(num_units, num_trials):
        weights = np.ones((size, num_units))
        weights[np.arange(size), start + np.arange(size)] = 0
        start += size
        yield weights


def _chunks(total: int, width: int) -> Iterator[int]:
    size = max(1, _CELLS // max(width, 1))
    for start in range(0, total, size):
        yield min(size, total - start)


def _bca_levels(
    levels: FloatArray, value: float, replicates: FloatArray, jackknife: FloatArray
) -> FloatArray:
    below = np.mean(replicates < value) + np.mean(replicates == value) / 2
    edge = 1 / (2 * replicates.size)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    spread = np.nanmean(jackknife) - jackknife[~np.isnan(jackknife)]
    scale = np.sum(spread**2) ** 1.5
    acceleration = np.sum(spread**3) / (6 * scale) if scale > 0 else 0.0
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))


def weighted_accuracy(
    labels: NDArray[Any], predictions: NDArray[Any], *, weights: FloatArray
) -> FloatArray:
    """Return the accuracy of each row of `weights`."""
    return weights @ (labels == predictions).astype(float) / weights.sum(axis=1)


def weighted_advantage(
    labels: NDArray[Any], predictions: NDArray[Any], *, weights: FloatArray
) -> FloatArray:
    """Return TPR - FPR of each row of `weights`, NaN where a world was not drawn."""
    member, guess = (labels == 1).astype(float), (predictions == 1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        tpr = (weights @ (member * guess)) / (weights @ member)
        fpr = (weights @ ((1 - member) * guess)) / (weights @ (1 - member))
    return tpr - fpr


def weighted_auc(labels: NDArray[Any], scores: NDArray[Any], *, weights: FloatArray) -> FloatArray:
    """Return the AUC of each row of `weights`, ties as one half, 0.5 where a world is absent."""
    order = np.argsort(scores, kind="stable")
    ranked = np.asarray(scores)[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    member = (np.asarray(labels)[order] == 1).astype(float)
    drawn = weights[:, order]
    ones = np.add.reduceat(drawn * member, starts, axis=1)
    zeros = np.add.reduceat(drawn * (1 - member), starts, axis=1)
    wins = (ones * (np.cumsum(zeros, axis=1) - zeros / 2)).sum(axis=1)
    pairs = ones.sum(axis=1) * zeros.sum(axis=1)
    return np.where(pairs > 0, wins / np.maximum(pairs, 1e-300), 0.5)
