"""A ridge discriminant of log counts whose weights are shared by all targets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import rankdata

from tapas.errors import IncompatibleAttackError

__all__ = ["Cells", "Grams", "fold_of", "mean_auc"]

RIDGE = 0.3
FOLDS = 5
NUMBERS_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class Cells:
    """What was counted in each training release for each target and value.

    Attributes
    ----------
    counts : ndarray of int, (releases, targets, values, subsets)
        One value where the secret is membership.
    positive : ndarray of bool, (releases, targets, values)
        Whether the target has the value.
    """

    counts: np.ndarray
    positive: np.ndarray

    def __post_init__(self) -> None:
        if self.positive.all() or not self.positive.any():
            raise IncompatibleAttackError(
                f"the subset attack needs training trials with both secrets, got "
                f"{len(self.positive)} with only one of them: ask for more trials"
            )

    @cached_property
    def reference(self) -> np.ndarray:
        """Log of the mean count in releases without, (targets, values, subsets)."""
        total, number = np.zeros(self.counts.shape[1:]), np.zeros(self.positive.shape[1:])
        every = np.zeros_like(total)
        for some in self._chunks():
            without = ~self.positive[some]
            total += np.einsum("nmkq,nmk->mkq", self.counts[some], without, dtype=float)
            every += self.counts[some].sum(axis=0, dtype=float)
            number += without.sum(axis=0)
        known = number[..., None]
        # Who is in all releases has none without: there, the mean over all.
        mean = np.where(known > 0, total / np.maximum(known, 1), every / len(self.counts))
        return np.log(mean + 0.5).astype(np.float32)

    def features(self, some: slice) -> np.ndarray:
        """Log ratios of some releases, (releases, targets, values, subsets)."""
        return log_ratios(self.counts[some], self.reference)

    @cached_property
    def centre(self) -> np.ndarray:
        """Mean of the log ratios over all releases, (targets, values, subsets)."""
        total = np.zeros(self.counts.shape[1:])
        for some in self._chunks():
            total += self.features(some).sum(axis=0, dtype=float)
        return (total / len(self.counts)).astype(np.float32)

    def grams(self, groups: np.ndarray) -> "Grams":
        """Sums of squares within each fold; `groups` has a fold for each release and target."""
        count, subsets = int(groups.max()) + 1, self.counts.shape[-1]
        squares, products = np.zeros((count, subsets, subsets)), np.zeros((count, subsets))
        share = self.positive.mean(axis=0)
        for some in self._chunks():
            centred = self.features(some) - self.centre
            towards = (self.positive[some] - share).astype(np.float32)
            for fold in np.unique(groups[some]):
                mine = groups[some] == fold
                rows = centred[mine].reshape(-1, subsets)
                squares[fold] += rows.T @ rows
                products[fold] += rows.T @ towards[mine].reshape(-1)
        return Grams(squares, products)

    def scores(
        self,
        weights: np.ndarray,
        *,
        releases: np.ndarray | slice = slice(None),
        targets: np.ndarray | slice = slice(None),
    ) -> np.ndarray:
        """Scores of some cells by some weights, (releases, targets, values)."""
        size, wanted = len(weights), np.arange(len(self.counts))[releases]
        reference, by = self.reference[targets, :, :size], weights.astype(np.float32)
        found = [log_ratios(self.counts[one, targets, :, :size], reference) @ by for one in wanted]
        return np.stack(found)

    def _chunks(self) -> Iterator[slice]:
        releases, per_release = len(self.counts), max(1, self.counts[0].size)
        step = max(1, NUMBERS_AT_ONCE // per_release)
        yield from (slice(start, start + step) for start in range(0, releases, step))


@dataclass(frozen=True, eq=False)
class Grams:
    """Sums of squares and products within each fold.

    Attributes
    ----------
    squares : ndarray, (folds, subsets, subsets)
    products : ndarray, (folds, subsets)
    """

    squares: np.ndarray
    products: np.ndarray

    def without(self, *folds: int) -> "Grams":
        """The sums over all folds but these, as one fold."""
        kept = np.setdiff1d(np.arange(len(self.squares)), folds)
        return replace(
            self,
            squares=self.squares[kept].sum(axis=0, keepdims=True),
            products=self.products[kept].sum(axis=0, keepdims=True),
        )

    def weights(self, subsets: int) -> np.ndarray:
        """The discriminant of the first subsets, over all folds."""
        squares = self.squares.sum(axis=0)[:subsets, :subsets]
        products = self.products.sum(axis=0)[:subsets]
        penalty = RIDGE * np.trace(squares) / subsets
        if penalty <= 0:
            return np.zeros(subsets)  # nothing that was counted ever varies
        return np.linalg.solve(squares + penalty * np.eye(subsets), products)


def log_ratios(counts: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Log of counts over their mean without; where there are several values, beside the others."""
    table = np.log(np.arange(int(counts.max(initial=0)) + 1) + 0.5).astype(np.float32)
    ratios = table[counts] - reference
    if counts.shape[-2] > 1:
        ratios -= ratios.mean(axis=-2, keepdims=True)
    return ratios


def fold_of(groups: np.ndarray) -> np.ndarray:
    """A fold for each member of some groups; a group stays whole."""
    found, position = np.unique(groups, return_inverse=True)
    return position % min(FOLDS, len(found))


def mean_auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Mean over targets and values of the area under the curve over releases."""
    scores, positive = (array.reshape(len(array), -1) for array in (scores, positive))
    members = positive.sum(axis=0)
    others = len(positive) - members
    told = (members > 0) & (others > 0)
    if not told.any():
        return 0.5
    ranks = (rankdata(scores[:, told], axis=0) * positive[:, told]).sum(axis=0)
    area = (ranks - members[told] * (members[told] + 1) / 2) / (members[told] * others[told])
    return float(area.mean())
