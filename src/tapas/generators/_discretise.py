"""Cut a number column into bins, and draw numbers from bins again."""

from dataclasses import dataclass

import numpy as np

from tapas._validate import check_count

MOST_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class Bins:
    """Neighbouring bins of a number column.

    Attributes
    ----------
    lows, highs : ndarray
        Smallest and largest number that each bin stands for, in increasing order. A bin whose
        low is its high stands for one number.
    decimals : int or None
        Places to which drawn numbers are rounded: 0 for whole numbers, None for as they come.
    """

    lows: np.ndarray
    highs: np.ndarray
    decimals: int | None = None

    def __len__(self) -> int:
        return len(self.lows)

    @classmethod
    def from_data(cls, values: np.ndarray, num_bins: int, *, whole: bool = False) -> "Bins":
        """About equally full bins; a frequent number has a bin of its own.

        Where there are no more than `num_bins` distinct numbers, each is a bin. NaN is left out;
        without any number there are no bins.
        """
        check_count(num_bins, "num_bins", minimum=1)
        present = values[~np.isnan(values)]
        decimals = 0 if whole else decimals_of(present)
        distinct, counts = np.unique(present, return_counts=True)
        if len(distinct) <= num_bins:
            return cls(distinct, distinct, decimals)
        middle = (np.cumsum(counts) - counts / 2) / len(present)
        starts = np.flatnonzero(np.diff(np.floor(middle * num_bins), prepend=-1))
        ends = np.append(starts[1:], len(distinct)) - 1
        return cls(distinct[starts], distinct[ends], decimals)

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Number of the bin of each value, the nearest one for values outside; -1 for NaN."""
        if len(self) == 0:
            return np.full(len(values), -1, dtype=np.int64)
        below, above = self.highs[:-1], self.lows[1:]
        middle = np.minimum(below / 2 + above / 2, above)
        # Between touching bins, and between neighbours among the floats, there is no middle.
        cuts = np.where(middle > below, middle, above)
        return np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="right"))

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A number from each bin, uniformly; NaN for -1."""
        values = np.full(len(codes), np.nan)
        present = codes >= 0
        low, high = self.lows[codes[present]], self.highs[codes[present]]
        share = rng.random(len(codes))[present]
        if self.decimals == 0:
            values[present] = self._draw_whole(codes[present], low, high, share)
            return values
        drawn = np.clip(low + share * (high - low), low, high)
        values[present] = drawn if self.decimals is None else np.round(drawn, self.decimals)
        return values

    def _draw_whole(
        self, codes: np.ndarray, low: np.ndarray, high: np.ndarray, share: np.ndarray
    ) -> np.ndarray:
        # A shared edge belongs to the upper bin, as in `encode`.
        shared = np.append(self.lows[1:] == self.highs[:-1], False)[codes] & (high > low)
        first, last = np.ceil(low), np.where(shared, np.ceil(high) - 1, np.floor(high))
        last = np.maximum(first, last)
        return np.minimum(first + np.floor(share * (last - first + 1)), last)


def decimals_of(values: np.ndarray) -> int | None:
    """Decimal places that write every value exactly, or None where that takes more than six."""
    present = values[~np.isnan(values)]
    for places in range(MOST_DECIMALS + 1):
        # The shortcut on a few values spares most columns the whole comparison.
        if np.array_equal(np.round(present[:50], places), present[:50]) and np.array_equal(
            np.round(present, places), present
        ):
            return places
    return None


def rounded(values: np.ndarray, decimals: int | None) -> np.ndarray:
    """Values at the given decimal places; unchanged where None."""
    return values if decimals is None else np.round(values, decimals)
