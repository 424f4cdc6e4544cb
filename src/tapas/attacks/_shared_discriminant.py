"""A ridge discriminant whose weights are shared by all targets of a pool of releases."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tapas.attacks._criteria import Criterion
from tapas.attacks._value_guess import ValueGuess
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Value, as_array
from tapas.metrics import column_aucs

__all__ = ["Cells", "SharedScorer", "learn_shared", "mean_auc"]

FOLDS = 5
NUMBERS_AT_ONCE = 1 << 23


@dataclass(frozen=True, eq=False)
class SharedScorer:
    """Weighted features beside what they are in releases without the target.

    Attributes
    ----------
    weights : ndarray, (folds, features)
    fold : ndarray of int, (targets,)
        Whose weights each target is judged by.
    reference : ndarray, (targets, values, features)
    guess : ValueGuess
        Of several values.
    threshold : float
        Of two.
    values : tuple
        Secrets in the order of scores.
    rehearsed : ndarray, (releases, targets, values)
        Scores of the training releases, by weights that were learnt without them.
    """

    weights: np.ndarray
    fold: np.ndarray
    reference: np.ndarray
    guess: ValueGuess
    threshold: float
    values: tuple[Value, ...]
    rehearsed: np.ndarray

    def of_targets(self, chosen: np.ndarray | slice) -> "SharedScorer":
        """The scorer of some of the targets."""
        return replace(
            self,
            fold=self.fold[chosen],
            reference=self.reference[chosen],
            rehearsed=self.rehearsed[:, chosen],
        )

    def each(self, values: np.ndarray) -> np.ndarray:
        """Score of every value; of membership alone, (releases, targets, values)."""
        used, weights = self.weights.shape[1], self.weights.astype(np.float32)[self.fold]
        found = [
            np.einsum("mkq,mq->mk", relative(one[..., :used], self.reference), weights)
            for one in by_value(values)
        ]
        return np.stack(found).astype(float)

    def score(self, values: np.ndarray) -> np.ndarray:
        """Score of membership, of the second of two values, or of each value."""
        found = self.each(values)
        return found if len(self.values) > 2 else found[..., -1]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest value; of two, the second where the score reaches the threshold."""
        if scores.ndim == 3:
            return as_array(self.values)[self.guess(scores)]
        return as_array(self.values)[(scores >= self.threshold).astype(int)]


def learn_shared(
    board: Board, ridge: float, sizes: Sequence[int] = (), *, transfer: bool = False
) -> SharedScorer:
    """Learn one discriminant from all targets of a board.

    Parameters
    ----------
    board : Board
        Values are counts or other numbers, (releases, targets, [values,] features).
    ridge : float
        Penalty, as a part of the mean square of features.
    sizes : sequence of int
        Numbers of features to choose from, by cross-validation; all by default.
    transfer : bool
        Whether each target is judged by weights that other targets have chosen.
    """
    goal, features = board.goal, by_value(board.values)
    secrets = goal.values[1:] if goal.kind == "membership" else goal.values
    cells = Cells(features, np.stack([board.secrets == secret for secret in secrets], axis=-1))
    tried = list(sizes) or [features.shape[-1]]
    learn = _transferred if transfer else _own
    weights, fold, rehearsed = learn(cells, tried, ridge, board.groups)
    last = rehearsed[..., -1].astype(float)
    return SharedScorer(
        weights,
        fold,
        cells.reference[..., : weights.shape[1]],
        _guess(rehearsed, cells.positive),
        Criterion("accuracy").threshold(last.ravel(), cells.positive[..., -1].ravel()),
        goal.values,
        rehearsed,
    )


def _guess(rehearsed: np.ndarray, positive: np.ndarray) -> ValueGuess:
    values = rehearsed.shape[-1]
    return ValueGuess.learnt(rehearsed.reshape(-1, values), positive.reshape(-1, values))


def by_value(values: np.ndarray) -> np.ndarray:
    """Observations with an axis for the values of the secret, of length 1 in membership."""
    return values.reshape(*values.shape[:2], -1, values.shape[-1])


def relative(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Features beside their reference; where there are several values, beside the others too."""
    found = logs(values) - reference
    if values.shape[-2] > 1:
        found -= found.mean(axis=-2, keepdims=True)
    return found


def logs(values: np.ndarray) -> np.ndarray:
    """``log(count + 1/2)`` of counts; other numbers as they are."""
    if values.dtype.kind not in "ui":
        return values.astype(np.float32)
    table = np.log(np.arange(int(values.max(initial=0)) + 1) + 0.5).astype(np.float32)
    return table[values]


@dataclass(frozen=True, eq=False)
class Cells:
    """What was seen in each training release of each target and value.

    Attributes
    ----------
    values : ndarray, (releases, targets, values, features)
    positive : ndarray of bool, (releases, targets, values)
        Whether the target has the value, or is in.
    """

    values: np.ndarray
    positive: np.ndarray

    def __post_init__(self) -> None:
        if self.positive.all() or not self.positive.any():
            raise IncompatibleAttackError(
                f"shared weights need training trials with both secrets, got "
                f"{len(self.positive)} with only one of them: ask for more trials"
            )

    @cached_property
    def reference(self) -> np.ndarray:
        """Mean in releases without, (targets, values, features); its log where it is of counts."""
        total, number = np.zeros(self.values.shape[1:]), np.zeros(self.positive.shape[1:])
        every = np.zeros_like(total)
        for some in self._chunks():
            without = ~self.positive[some]
            total += np.einsum("nmkq,nmk->mkq", self.values[some], without, dtype=float)
            every += self.values[some].sum(axis=0, dtype=float)
            number += without.sum(axis=0)
        known = number[..., None]
        # Who is in all releases has none without: there, the mean over all.
        mean = np.where(known > 0, total / np.maximum(known, 1), every / len(self.values))
        counted = self.values.dtype.kind in "ui"
        return (np.log(mean + 0.5) if counted else mean).astype(np.float32)

    @cached_property
    def centre(self) -> np.ndarray:
        """Mean of the relative features over all releases, (targets, values, features)."""
        total = np.zeros(self.values.shape[1:])
        for some in self._chunks():
            total += relative(self.values[some], self.reference).sum(axis=0, dtype=float)
        return (total / len(self.values)).astype(np.float32)

    def grams(self, folds: np.ndarray) -> "Grams":
        """Sums of squares within each fold; there is a fold for each release and target."""
        count, features = int(folds.max()) + 1, self.values.shape[-1]
        squares, products = np.zeros((count, features, features)), np.zeros((count, features))
        share = self.positive.mean(axis=0)
        for some in self._chunks():
            centred = relative(self.values[some], self.reference) - self.centre
            towards = (self.positive[some] - share).astype(np.float32)
            for fold in np.unique(folds[some]):
                mine = folds[some] == fold
                rows = centred[mine].reshape(-1, features)
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
        size, wanted = len(weights), np.arange(len(self.values))[releases]
        reference, by = self.reference[targets, :, :size], weights.astype(np.float32)
        found = [relative(self.values[one, targets, :, :size], reference) @ by for one in wanted]
        return np.stack(found)

    def _chunks(self) -> Iterator[slice]:
        releases, per_release = len(self.values), max(1, self.values[0].size)
        step = max(1, NUMBERS_AT_ONCE // per_release)
        yield from (slice(start, start + step) for start in range(0, releases, step))


@dataclass(frozen=True, eq=False)
class Grams:
    """Sums of squares and products within each fold, (folds, features, features) and one less."""

    squares: np.ndarray
    products: np.ndarray

    def without(self, *folds: int) -> "Grams":
        """Those of the other folds."""
        kept = np.setdiff1d(np.arange(len(self.squares)), folds)
        return Grams(self.squares[kept], self.products[kept])

    def weights(self, size: int, ridge: float) -> np.ndarray:
        """The discriminant of the first features, over all folds."""
        squares = self.squares[:, :size, :size].sum(axis=0)
        penalty = ridge * np.trace(squares) / size
        if penalty <= 0:
            return np.zeros(size)  # nothing that was seen ever varies
        return np.linalg.solve(
            squares + penalty * np.eye(size), self.products[:, :size].sum(axis=0)
        )


Learnt = tuple[np.ndarray, np.ndarray, np.ndarray]  # weights, fold of each target, rehearsed scores


def _own(cells: Cells, sizes: list[int], ridge: float, groups: np.ndarray) -> Learnt:
    """One vector of weights for all; rehearsed on releases that it was not learnt from."""
    fold = fold_of(groups)
    grams = cells.grams(np.broadcast_to(fold[:, None], cells.positive.shape[:2]))

    def rehearsed(size: int) -> np.ndarray:
        scores = np.zeros(cells.positive.shape, dtype=np.float32)
        for one in np.unique(fold):
            weights = grams.without(one).weights(size, ridge)
            scores[fold == one] = cells.scores(weights, releases=fold == one)
        return scores

    tried = {size: rehearsed(size) for size in sizes}
    best = max(sizes, key=lambda size: mean_auc(tried[size], cells.positive))
    weights = grams.weights(best, ridge)[None]
    return weights, np.zeros(cells.positive.shape[1], dtype=int), tried[best]


def _transferred(cells: Cells, sizes: list[int], ridge: float, groups: np.ndarray) -> Learnt:
    """Weights for each fold of targets, learnt from the targets of other folds.

    The size is chosen by targets that are neither in the fold nor had a part in the weights that
    they are tried with. Weights beyond it are zero.
    """
    targets = cells.positive.shape[1]
    if targets < 2:
        raise IncompatibleAttackError(
            "transferred weights are learnt from other targets, and there is only one: give "
            "several targets, or use transfer=False"
        )
    fold = fold_of(np.arange(targets))
    grams = cells.grams(np.broadcast_to(fold, cells.positive.shape[:2]))
    folds = np.unique(fold).tolist()

    def quality(size: int, left_out: int) -> float:
        tried = []
        for other in folds:
            if other != left_out:
                weights = grams.without(other, left_out).weights(size, ridge)
                scores = cells.scores(weights, targets=fold == other)
                tried.append(mean_auc(scores, cells.positive[:, fold == other]))
        return float(np.mean(tried))

    weights = np.zeros((len(folds), max(sizes)))
    rehearsed = np.zeros(cells.positive.shape, dtype=np.float32)
    for one in folds:
        several = len(sizes) > 1
        size = max(sizes, key=lambda size: quality(size, one)) if several else sizes[0]
        weights[one, :size] = grams.without(one).weights(size, ridge)
        rehearsed[:, fold == one] = cells.scores(weights[one], targets=fold == one)
    return weights, fold, rehearsed


def fold_of(groups: np.ndarray) -> np.ndarray:
    """A fold for each member of some groups; a group stays whole."""
    found, position = np.unique(groups, return_inverse=True)
    return position % min(FOLDS, len(found))


def mean_auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """Mean over targets and values of the area under the curve over releases."""

    scores, positive = (array.reshape(len(array), -1) for array in (scores, positive))
    areas = column_aucs(scores, positive)
    return 0.5 if np.isnan(areas).all() else float(np.nanmean(areas))
