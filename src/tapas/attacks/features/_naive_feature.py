"""Location and spread of every column."""

from dataclasses import dataclass

import numpy as np

from tapas.attacks.features._column_statistics import ColumnStatistics
from tapas.attacks.features._set_features import ColumnFeature

__all__ = ["NaiveSetFeature", "StadlerNaiveSetFeature"]


@dataclass(frozen=True)
class NaiveSetFeature(ColumnFeature):
    """Mean, median and variance of every column of the numeric form, in this order.

    First all means, then all medians, then all (population) variances; categories are one-hot.
    Missing numbers are left out; a column without any number has NaN.
    """

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        layout = statistics.layout
        moments = np.full((3, layout.width), np.nan)
        if statistics.rows == 0:
            return moments.ravel()
        share = statistics.counts[layout.one_hot_slots] / statistics.rows
        # The median of zeros and ones follows from how many ones there are.
        middle = (np.sign(share - 0.5) + 1) / 2
        moments[:, layout.one_hot_columns] = share, middle, share * (1 - share)
        mean, variance = statistics.number_moments
        moments[:, layout.number_columns] = mean, number_medians(statistics), variance
        for place in layout.ordered:
            moments[:, place.start] = rank_moments(statistics.category_counts(place))
        return moments.ravel()

    @property
    def label(self) -> str:
        """Display name."""
        return "F_Naive"


@dataclass(frozen=True)
class StadlerNaiveSetFeature(ColumnFeature):
    """The naive features as the paper defines them.

    Per column, in schema order: mean, median and variance of a number; most frequent category,
    least frequent category that occurs, and number of categories that occur, for a category
    (as its position in the schema; -1 where none occurs; the first of equally frequent ones).

    References
    ----------
    Stadler, Oprisanu and Troncoso (2022), "Synthetic data: anonymisation groundhog day",
    arXiv:2011.07018.
    """

    def of(self, statistics: ColumnStatistics) -> np.ndarray:
        """Features of one table."""
        mean, variance = statistics.number_moments
        numbers = np.stack([mean, number_medians(statistics), variance], axis=1)
        return np.concatenate(
            [
                _extremes(statistics.category_counts(place))
                if place.is_coded
                else numbers[place.position]
                for place in statistics.layout.places
            ]
        )

    @property
    def label(self) -> str:
        """Display name."""
        return "F_Naive(Stadler)"


def number_medians(statistics: ColumnStatistics) -> np.ndarray:
    """Median of each number column without its missing values; NaN where all are missing."""
    present = statistics.present
    if statistics.rows == 0:
        return np.full(len(present), np.nan)
    # Missing numbers are sorted last, so both middles are NaN where there is nothing else.
    middles = np.stack(
        [np.maximum(present - 1, 0) // 2, np.minimum(present // 2, statistics.rows - 1)]
    )
    pair = statistics.sorted_numbers[np.arange(len(present)), middles]
    return pair.mean(axis=0)


def rank_moments(counts: np.ndarray) -> tuple[float, float, float]:
    """Mean, median and variance of ranks that occur `counts` times."""
    total = int(counts.sum())
    if total == 0:
        return np.nan, np.nan, np.nan
    ranks = np.arange(len(counts))
    mean = counts @ ranks / total
    reached = np.cumsum(counts)
    low, high = np.searchsorted(reached, [(total - 1) // 2, total // 2], side="right")
    return float(mean), (low + high) / 2, float(counts @ (ranks - mean) ** 2 / total)


def _extremes(counts: np.ndarray) -> np.ndarray:
    occurring = np.flatnonzero(counts)
    if len(occurring) == 0:
        return np.array([-1.0, -1.0, 0.0])
    found = counts[occurring]
    most, least = occurring[np.argmax(found)], occurring[np.argmin(found)]
    return np.array([most, least, len(occurring)], dtype=float)
