"""A kernel over numbers and categories at once, for densities of tables."""

from dataclasses import dataclass

import numpy as np

from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import TabularDataset

PAIRS_AT_ONCE = 1 << 18
MANY_PAIRS = 1 << 20  # in single precision, where products are of wide matrices
MANY_RECORDS = 5_000  # from here on single precision, where numbers allow it
FEW_WIDTHS = 256.0  # from the centre: within, single precision errs by about a hundredth at most
FEW_CATEGORIES = 16  # up to here a matrix product is faster than comparing
NORMAL_QUARTILES = 1.349  # distance between the quartiles of a standard normal


@dataclass(frozen=True, eq=False)
class MixedKernel:
    """Product over columns of a Gaussian (numbers, ranks) or Aitchison-Aitken kernel (categories).

    Gaussians have height 1, so that only ratios of densities of one kernel have a meaning. A
    missing number counts as a category: as alike as equal categories where both are missing.

    Attributes
    ----------
    centres, widths : ndarray
        One per number column.
    sizes : ndarray
        Number of categories of each column, missing included: columns of categories, then whether
        each number is missing.
    same, other : ndarray
        Logarithm of the kernel of these columns where both sides agree and where they do not.
    """

    centres: np.ndarray
    widths: np.ndarray
    sizes: np.ndarray
    same: np.ndarray
    other: np.ndarray

    @classmethod
    def between(
        cls, first: TabularDataset, second: TabularDataset, bandwidth: float | None = None
    ) -> "MixedKernel":
        """The kernel for comparing the densities of two tables."""
        parts = NumericParts.of(first + second)
        columns = len(parts.numbers) + len(parts.categories)
        if bandwidth is None:
            bandwidth = 0.5 * min(len(first), len(second)) ** (-1 / (columns + 4))
        listed = [c for c in first.table.columns if c.is_one_hot and c.values is not None]
        # A missing value is one more category.
        sizes = np.array(
            [len(c.values or ()) + 1 for c in listed] + [2] * len(parts.numbers), dtype=int
        )
        moved = bandwidth**2 * (sizes - 1) / sizes
        return cls(
            parts.means(),
            bandwidth * _spreads(parts.numbers),
            sizes,
            np.log1p(-moved),
            np.log(moved / (sizes - 1)),
        )

    def log_density(self, targets: TabularDataset, data: TabularDataset) -> np.ndarray:
        """``log mean_y K(target, y)`` over the rows y of the data, for each target."""
        left, left_codes = self._prepared(targets)
        right, right_codes = self._prepared(data)
        few = self.sizes <= FEW_CATEGORIES
        gains = self.same - self.other
        sides = (np.abs(side[~np.isnan(side)]).max(initial=0) for side in (left, right))
        coarse = len(data) >= MANY_RECORDS and max(sides) <= FEW_WIDTHS
        kind = np.float32 if coarse else np.float64
        features = np.concatenate([_present(right), self._one_hot(right_codes, few, gains)])
        # Where all rows of the data are alike, a target's product is the same number for each.
        alike = (
            (features == features[:, :1]).all(axis=1) if coarse else np.zeros(len(features), bool)
        )
        common, features = features[alike, :1], features[~alike].astype(kind)
        found = np.empty(len(targets))
        step = max(1, (MANY_PAIRS if coarse else PAIRS_AT_ONCE) // max(1, len(data)))
        for start in range(0, len(targets), step):
            x, codes = left[:, start : start + step], left_codes[:, start : start + step]
            mine = np.concatenate([_squares_first(x), self._one_hot(codes, few, np.ones(len(few)))])
            logs = mine[~alike].T.astype(kind) @ features
            for column in np.flatnonzero(~few):
                logs += gains[column].astype(kind) * (codes[column][:, None] == right_codes[column])
            highest = logs.max(axis=1, keepdims=True)
            logs -= highest
            np.exp(logs, out=logs)
            level = highest[:, 0] + (mine[alike] * common).sum(axis=0)
            found[start : start + step] = np.log(logs.mean(axis=1, dtype=float)) + level
        return found + self.other.sum()

    def log_kernel(self, first: TabularDataset, second: TabularDataset) -> np.ndarray:
        """``log K`` of each row of a table and that of the same position in another."""
        (x, codes), (y, other_codes) = self._prepared(first), self._prepared(second)
        numbers = -0.5 * np.nansum((x - y) ** 2, axis=0)
        alike = (codes == other_codes).T @ (self.same - self.other)
        return numbers + alike + self.other.sum()

    def _prepared(self, dataset: TabularDataset) -> tuple[np.ndarray, np.ndarray]:
        """Numbers in units of the kernel, NaN if missing, and codes, of which 0 is missing."""
        parts = NumericParts.of(dataset)
        numbers = (parts.numbers - self.centres[:, None]) / self.widths[:, None]
        codes = np.concatenate([parts.categories.astype(np.int32) + 1, ~np.isnan(numbers)])
        return numbers, np.ascontiguousarray(codes)

    def _one_hot(self, codes: np.ndarray, few: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of a column where a row has each of its categories, else 0."""
        blocks = [
            weights[column] * (codes[column] == np.arange(self.sizes[column])[:, None])
            for column in np.flatnonzero(few)
        ]
        return np.concatenate([np.empty((0, codes.shape[1])), *blocks])


def _squares_first(x: np.ndarray) -> np.ndarray:
    """Rows whose product with those of `_present` is ``-sum_j (x_j - y_j)^2 / 2``.

    The sum is over numbers j that neither side misses:
    ``x y - x^2 [y is there] / 2 - [x is there] y^2 / 2``.
    """
    filled = np.nan_to_num(x)
    return np.concatenate([filled, -0.5 * filled**2, ~np.isnan(x)])


def _present(y: np.ndarray) -> np.ndarray:
    """The other side of `_squares_first`."""
    filled = np.nan_to_num(y)
    return np.concatenate([filled, ~np.isnan(y), -0.5 * filled**2])


def _spreads(columns: np.ndarray) -> np.ndarray:
    """Spread of each column (first axis), by quartiles where they tell less; 1 where constant."""
    spreads = np.ones(len(columns))
    for position, column in enumerate(columns):
        present = column[~np.isnan(column)]
        if len(present) == 0:
            continue
        low, high = np.quantile(present, [0.25, 0.75])
        found = [s for s in (float(present.std()), (high - low) / NORMAL_QUARTILES) if s > 0]
        if found:
            spreads[position] = min(found)
    return spreads
