"""A kernel over numbers and categories at once, for densities of tables."""

from dataclasses import dataclass, replace

import numpy as np

from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import TabularDataset

PAIRS_AT_ONCE = 1 << 18
MANY_PAIRS = 1 << 20  # in single precision, where products are of wide matrices
MANY_RECORDS = 5_000  # from here on single precision, where numbers allow it
FEW_WIDTHS = 256.0  # from the centre: within, single precision errs by about a hundredth at most
FEW_CATEGORIES = 16  # up to here a matrix product is faster than comparing
QUANTILES = 256
NORMAL_QUARTILES = 1.349  # distance between the quartiles of a standard normal


@dataclass(frozen=True, eq=False)
class MixedKernel:
    """Product over columns of a Gaussian (numbers, ranks) or Aitchison-Aitken kernel (categories).

    Gaussians have height 1, so that only ratios of densities of one kernel have a meaning. A
    missing number counts as a category: as alike as equal categories where both are missing.
    Numbers may have atoms: what is exactly equal then weighs more than what is near.

    Attributes
    ----------
    centres, widths : ndarray
        One per number column.
    sizes : ndarray
        Number of categories of each column, missing included: columns of categories, whether
        each number is missing, and the values of each number column that has atoms.
    same, other : ndarray
        Logarithm of the kernel of these columns where both sides agree and where they do not.
    values : tuple of ndarray
        All values of each number column, in units of the kernel, if it has atoms.
    """

    centres: np.ndarray
    widths: np.ndarray
    sizes: np.ndarray
    same: np.ndarray
    other: np.ndarray
    values: tuple[np.ndarray, ...] = ()

    @classmethod
    def between(
        cls,
        first: TabularDataset,
        second: TabularDataset,
        bandwidth: float | None = None,
        *,
        atoms: bool = False,
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
        kernel = cls(
            parts.means(),
            bandwidth * column_spreads(parts.numbers),
            sizes,
            np.log1p(-moved),
            np.log(moved / (sizes - 1)),
        )
        return kernel._with_atoms(parts.numbers) if atoms else kernel

    def _with_atoms(self, numbers: np.ndarray) -> "MixedKernel":
        """A value itself weighs as much more as it is rarer than what is near."""
        values, gains = [], []
        for column in (numbers - self.centres[:, None]) / self.widths[:, None]:
            distinct, counts = np.unique(column[~np.isnan(column)], return_counts=True)
            values.append(distinct)
            gains.append(_gain_of_equals(distinct, counts) if len(distinct) else 0.0)
        return replace(
            self,
            sizes=np.append(self.sizes, [len(distinct) for distinct in values]),
            same=np.append(self.same, gains),
            other=np.append(self.other, np.zeros(len(values))),
            values=tuple(values),
        )

    def log_density(self, targets: TabularDataset, data: TabularDataset) -> np.ndarray:
        """``log mean_y K(target, y)`` over the rows y of the data, for each target."""
        left, left_codes = self._prepared(targets)
        right, right_codes = self._prepared(data)
        few = self.sizes <= FEW_CATEGORIES
        few[len(few) - len(self.values) :] = False
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
        equals = [_Equals.of(right_codes[n], gains[n].astype(kind)) for n in np.flatnonzero(~few)]
        found = np.empty(len(targets))
        step = max(1, (MANY_PAIRS if coarse else PAIRS_AT_ONCE) // max(1, len(data)))
        for start in range(0, len(targets), step):
            x, codes = left[:, start : start + step], left_codes[:, start : start + step]
            mine = np.concatenate([_squares_first(x), self._one_hot(codes, few, np.ones(len(few)))])
            logs = mine[~alike].T.astype(kind) @ features
            for column, equal in zip(np.flatnonzero(~few), equals, strict=True):
                equal.add_to(logs, codes[column])
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
        alike = ((codes == other_codes) & (codes >= 0)).T @ (self.same - self.other)
        return numbers + alike + self.other.sum()

    def _prepared(self, dataset: TabularDataset) -> tuple[np.ndarray, np.ndarray]:
        """Numbers in units of the kernel, NaN if missing, and codes.

        Of categories 0 is missing; a value that no atom has is -1, and equal to nothing.
        """
        parts = NumericParts.of(dataset)
        numbers = (parts.numbers - self.centres[:, None]) / self.widths[:, None]
        codes = [parts.categories.astype(np.int32) + 1, ~np.isnan(numbers)]
        codes += [_places(*pair)[None] for pair in zip(numbers, self.values, strict=False)]
        return numbers, np.ascontiguousarray(np.concatenate(codes))

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


@dataclass(frozen=True, eq=False)
class _Equals:
    """Where rows of the data have each code of a column.

    Attributes
    ----------
    rows, codes : ndarray
        Rows in the order of their codes, and these codes.
    gain : floating
        Added where a target has the same code.
    """

    rows: np.ndarray
    codes: np.ndarray
    gain: np.floating

    @classmethod
    def of(cls, codes: np.ndarray, gain: np.floating) -> "_Equals":
        """Sort the codes of the data."""
        rows = np.argsort(codes, kind="stable")
        return cls(rows.astype(np.int32), codes[rows], gain)

    def add_to(self, logs: np.ndarray, asked: np.ndarray) -> None:
        """Add the gain to each row of `logs`, one for each target, where the data are equal."""
        first, last = (np.searchsorted(self.codes, asked, side=side) for side in ("left", "right"))
        for target in np.flatnonzero((last > first) & (asked >= 0)):
            logs[target, self.rows[first[target] : last[target]]] += self.gain


def _places(numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Position of each number among sorted values; -1 where it is none of them."""
    if not len(values):
        return np.full(len(numbers), -1, dtype=np.int32)
    found = np.minimum(np.searchsorted(values, numbers), len(values) - 1)
    return np.where(values[found] == numbers, found, -1).astype(np.int32)


def _gain_of_equals(distinct: np.ndarray, counts: np.ndarray) -> float:
    """``log(1 + g / q)``: a kernel that keeps to the value half of the time.

    q is the chance that two records have one value, g the mean of the Gaussian over two records
    (over two of `QUANTILES` quantiles of them).
    """
    total = counts.sum()
    middle = (np.arange(QUANTILES) + 0.5) / QUANTILES * total
    typical = distinct[np.searchsorted(counts.cumsum(), middle)]
    near = np.exp(-0.5 * (typical[:, None] - typical) ** 2).mean()
    return float(np.log1p(near / ((counts / total) ** 2).sum()))


def column_spreads(columns: np.ndarray) -> np.ndarray:
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
