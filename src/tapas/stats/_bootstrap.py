"""Bootstrap intervals for point metrics, by resampling counts."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas._random import resolve_seed, stream
from tapas._validate import check_choice, check_count
from tapas.errors import StatisticsError
from tapas.stats._counts import check_level
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["bootstrap", "percentile_interval", "resampled_counts"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Cells of one block of resamples: small enough to stay in the processor's cache.
_BLOCK = 1 << 16


class Statistic(Protocol):
    """Called with the data and how often each trial was drawn in each resample."""

    def __call__(self, *data: NDArray[np.generic], weights: IntArray) -> FloatArray:
        """One value per row of `weights`."""


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
        `tapas.metrics.Outcomes` counts most metrics that way.
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
    `widened` marks an interval without width, and that of a single group, which has no ends.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals.
    """
    check_choice(method, "method", ("percentile", "bca"))
    alpha = check_level(confidence)
    arrays = [np.asarray(values) for values in data]
    codes, num_units = _units(arrays, groups)
    generator = rng if rng is not None else stream(resolve_seed(seed))
    draws = resampled_counts(codes.size, num_resamples, rng=generator, groups=groups)
    value = float(statistic(*arrays, weights=np.ones((1, codes.size), dtype=np.int64))[0])
    if num_units == 1:
        return WidenedInterval(-np.inf, np.inf, value)
    replicates = np.concatenate([statistic(*arrays, weights=weights) for weights in draws])
    if method == "percentile":
        return percentile_interval(replicates, value, confidence)
    jackknife = np.concatenate(
        [statistic(*arrays, weights=weights) for weights in _leave_one_out(codes, num_units)]
    )
    levels = np.array([alpha / 2, 1 - alpha / 2])
    known = replicates[~np.isnan(replicates)]
    return _between(known, value, _bca_levels(levels, value, known, jackknife))


def resampled_counts(
    num_trials: int,
    num_resamples: int,
    *,
    rng: np.random.Generator,
    groups: ArrayLike | None = None,
) -> Iterator[IntArray]:
    """Yield blocks of shape (resamples, trials): how often each trial was drawn.

    As many units are drawn, with replacement, as there are: trials, or whole `groups`.
    """
    check_count(num_resamples, "num_resamples", minimum=1)
    if not num_trials:
        raise StatisticsError("there are no trials to resample; run the attack first")
    member = None
    units = num_trials
    if groups is not None:
        _, member = np.unique(np.asarray(groups), return_inverse=True)
        units = int(member.max()) + 1
    for rows in _blocks(num_resamples, num_trials):
        drawn = rng.integers(units, size=(rows, units), dtype=np.int64)
        drawn += (np.arange(rows) * units)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units).reshape(rows, units)
        yield counts if member is None else counts[:, member]


def percentile_interval(replicates: ArrayLike, value: float, confidence: float) -> Interval:
    """Return the middle of bootstrap replicates around a value; NaN replicates are left out.

    Notes
    -----
    Assumes and Guarantees: as `bootstrap`. Order statistics are taken outwards, without
    interpolation, which is not defined between infinities.
    """
    alpha = check_level(confidence)
    known = np.asarray(replicates, dtype=np.float64)
    return _between(known[~np.isnan(known)], value, np.array([alpha / 2, 1 - alpha / 2]))


def _between(known: FloatArray, value: float, levels: FloatArray) -> Interval:
    if known.size == 0:
        return WidenedInterval(np.nan, np.nan, value)
    low = float(np.quantile(known, levels[0], method="lower"))
    high = float(np.quantile(known, levels[1], method="higher"))
    kind = WidenedInterval if low == high else Interval
    return kind(low, high, value)


def _units(
    arrays: list[NDArray[np.generic]], groups: ArrayLike | None
) -> tuple[NDArray[np.intp], int]:
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


def _leave_one_out(codes: NDArray[np.intp], num_units: int) -> Iterator[IntArray]:
    start = 0
    for rows in _blocks(num_units, codes.size):
        yield (codes != (start + np.arange(rows))[:, None]).astype(np.int64)
        start += rows


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, min(total, _BLOCK // width))
    for start in range(0, total, size):
        yield min(size, total - start)


def _bca_levels(
    levels: FloatArray, value: float, replicates: FloatArray, jackknife: FloatArray
) -> FloatArray:
    if replicates.size == 0:
        return levels
    below = np.mean(replicates < value) + np.mean(replicates == value) / 2
    edge = 1 / (2 * replicates.size)
    bias = scipy.special.ndtri(np.clip(below, edge, 1 - edge))
    spread = np.nanmean(jackknife) - jackknife[~np.isnan(jackknife)]
    scale = np.sum(spread**2) ** 1.5
    acceleration = np.sum(spread**3) / (6 * scale) if scale > 0 else 0.0
    shifted = bias + scipy.special.ndtri(levels)
    return scipy.special.ndtr(bias + shifted / (1 - acceleration * shifted))
