"""Trials drawn again, as counts, and the interval that resampled metrics make."""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tapas._validate import check_count
from tapas.errors import StatisticsError
from tapas.stats._counts import check_level
from tapas.stats._intervals import Interval, WidenedInterval

__all__ = ["percentile_interval", "resampled_counts"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Cells of one block of resamples: small enough to stay in the processor's cache.
_BLOCK = 1 << 16


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


def percentile_interval(
    replicates: ArrayLike, value: float, confidence: float, *, units: int | None = None
) -> Interval:
    """Return the middle of bootstrap replicates around a value; NaN replicates are left out.

    Parameters
    ----------
    units
        How many were drawn again each time. Given, the interval reaches as much further as
        Student's t does beyond the normal, for few units vary too little when they are drawn again.

    Notes
    -----
    Assumes: independent groups, many of them, and a smooth metric.
    Guarantees: coverage that tends to `confidence` as trials grow, and nothing for few trials or
    for an epsilon; it describes a metric, never certifies. `widened` marks an interval without
    width. Order statistics are taken outwards, without interpolation, which is not defined
    between infinities.

    References
    ----------
    Efron (1979), Bootstrap methods: another look at the jackknife; Hesterberg (2015), What teachers
    should know about the bootstrap, section 5.3 (expanded percentiles).
    """
    tail = check_level(confidence) / 2
    if units is not None and units > 1:
        reach = scipy.special.stdtrit(units - 1, tail) * np.sqrt(units / (units - 1))
        tail = float(scipy.special.ndtr(reach))
    known = np.asarray(replicates, dtype=np.float64)
    return _between(known[~np.isnan(known)], value, np.array([tail, 1 - tail]))


def _between(known: FloatArray, value: float, levels: FloatArray) -> Interval:
    if known.size == 0:
        return WidenedInterval(np.nan, np.nan, value)
    low = float(np.quantile(known, levels[0], method="lower"))
    high = float(np.quantile(known, levels[1], method="higher"))
    kind = WidenedInterval if low == high else Interval
    return kind(low, high, value)


def _blocks(total: int, width: int) -> Iterator[int]:
    size = max(1, min(total, _BLOCK // width))
    for start in range(0, total, size):
        yield min(size, total - start)
