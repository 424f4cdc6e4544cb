"""The attack that counts who agrees with the target, with weights that all targets share."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks.features._shared_discriminant import (
    Cells,
    fold_of,
    log_ratios,
    mean_auc,
)
from tapas.attacks.features._subset_counts import SubsetPlan, count_subsets, plan_subsets
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Release, Samples, Value, ValueObserver, as_array

__all__ = ["SubsetAttack"]

MOST_SUBSETS = 1000
MOST_COUNTS = 4 * MOST_SUBSETS  # of a target, over all values of an attribute


@dataclass(frozen=True, eq=False)
class SubsetObserver(ValueObserver):
    """Counts the records that agree with each target on each subset of columns.

    Attributes
    ----------
    number : int
        At most so many subsets.
    """

    number: int

    def plan(self, briefing: Briefing) -> SubsetPlan:
        """The subsets that are counted."""
        about = table_briefing(briefing)
        values = max(1, len(about.attribute_values))
        number = min(self.number, max(1, MOST_COUNTS // values))
        return plan_subsets(about.targets, about.attribute, number)

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        return count_subsets(release.table, table_briefing(briefing), self.plan(briefing))


@dataclass(frozen=True, eq=False)
class SubsetScorer:
    """Weighted log counts over their mean in releases without the target.

    Attributes
    ----------
    weights : ndarray, (folds, subsets)
    fold : ndarray of int, (targets,)
        Whose weights each target is judged by.
    reference : ndarray, (targets, values, subsets)
    threshold : float
    values : tuple
        Secrets in the order of scores.
    """

    weights: np.ndarray
    fold: np.ndarray
    reference: np.ndarray
    threshold: float
    values: tuple[Value, ...]

    def of_targets(self, chosen: np.ndarray | slice) -> "SubsetScorer":
        """The scorer of some of the targets."""
        return replace(self, fold=self.fold[chosen], reference=self.reference[chosen])

    def score(self, values: np.ndarray) -> np.ndarray:
        """Score of membership, of the second of two values, or of each value."""
        counts = values.reshape(*values.shape[:2], -1, values.shape[-1])
        used, weights = self.weights.shape[1], self.weights.astype(np.float32)[self.fold]
        found = np.stack(
            [
                np.einsum("mkq,mq->mk", log_ratios(one, self.reference), weights)
                for one in counts[..., :used]
            ]
        ).astype(float)
        return found if len(self.values) > 2 else found[..., -1]

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """The likeliest value; of two, the second where the score reaches the threshold."""
        if scores.ndim == 3:
            return as_array(self.values)[np.argmax(scores, axis=-1)]
        return as_array(self.values)[(scores >= self.threshold).astype(int)]


class SubsetAttack(Attack):
    """Counts of released records that agree with the target on every small subset of columns.

    Idea
        A member raises the number of released records that agree with it, on those combinations
        of columns that the mechanism retains. Which these are is the same for everybody, so it
        is learnt from all targets together.
    Needs
        Training trials. It serves many targets of one pool of trials best.
    Score
        ``sum over S of w_S log((c_S + 1/2) / (mu_S + 1/2))`` over subsets S of up to three
        columns: ``c_S`` counts the released records that agree with the target on S (numbers are
        at most, at least or equal to the target's, each by itself), ``mu_S`` is its mean over
        training releases without the target, and w is one ridge discriminant of all targets.
        Whether subsets of three columns are used is decided by cross-validation on training
        trials. In attribute inference records are counted that have each value besides, and a
        value is compared with the others.
    Reference
        Our own; queries about subsets are those of Houssiau et al. (2022), arXiv:2211.06550.

    Parameters
    ----------
    transfer : bool
        Whether each target is judged by weights that were learnt from other targets only, as an
        attacker would judge people who were never trained on.
    number : int
        At most so many subsets (fewer for attributes of more than four values): smaller ones
        first, and as many of the last order as fit, drawn once and for all.
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(
        self, transfer: bool = False, number: int = MOST_SUBSETS, label: str | None = None
    ) -> None:
        self.transfer = transfer
        self.number = check_count(number, "number", minimum=1)
        self._label = label or ("Subsets(transferred)" if transfer else "Subsets")

    @property
    def needs(self) -> Needs:
        """Tables, and the same targets in several training releases."""
        return Needs(goals=("membership", "attribute"), repeated=True)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label

    def observer(self, briefing: Briefing, samples: Samples) -> SubsetObserver:
        """Counts for all targets of a release together."""
        return SubsetObserver(self.number)

    def fit(self, board: Board, *, rng: np.random.Generator) -> SubsetScorer:
        """Learn shared weights, and how many columns subsets should have."""
        goal, counts = board.goal, board.values
        secrets = goal.values[1:] if goal.kind == "membership" else goal.values
        cells = Cells(
            counts.reshape(*counts.shape[:2], -1, counts.shape[-1]),
            np.stack([board.secrets == secret for secret in secrets], axis=-1),
        )
        plan = SubsetObserver(self.number).plan(board.told)
        sizes = sorted({*np.cumsum(plan.sizes()).tolist()[1:], counts.shape[-1]})
        learnt = _transferred(cells, sizes) if self.transfer else _own(cells, sizes, board.groups)
        used = learnt.weights.shape[1]
        threshold = Criterion("accuracy").threshold(
            learnt.rehearsed[..., -1].astype(float).ravel(), cells.positive[..., -1].ravel()
        )
        return SubsetScorer(
            learnt.weights, learnt.fold, cells.reference[..., :used], threshold, goal.values
        )


@dataclass(frozen=True, eq=False)
class Learnt:
    """Weights, who is judged by which, and scores of training cells that did not choose theirs."""

    weights: np.ndarray
    fold: np.ndarray
    rehearsed: np.ndarray


def _own(cells: Cells, sizes: list[int], groups: np.ndarray) -> Learnt:
    """One vector of weights for all; rehearsed on releases that it was not learnt from."""
    fold, targets = fold_of(groups), cells.positive.shape[1]
    grams = cells.grams(np.broadcast_to(fold[:, None], cells.positive.shape[:2]))

    def rehearsed(size: int) -> np.ndarray:
        scores = np.zeros(cells.positive.shape, dtype=np.float32)
        for one in np.unique(fold):
            weights = grams.without(one).weights(size)
            scores[fold == one] = cells.scores(weights, releases=fold == one)
        return scores

    tried = {size: rehearsed(size) for size in sizes}
    best = max(sizes, key=lambda size: mean_auc(tried[size], cells.positive))
    weights = grams.weights(best)[None]
    return Learnt(weights, np.zeros(targets, dtype=int), tried[best])


def _transferred(cells: Cells, sizes: list[int]) -> Learnt:
    """Weights for each fold of targets, learnt from the targets of other folds.

    The size is chosen by targets that are neither in the fold nor had a part in the weights that
    they are tried with. Weights beyond it are zero.
    """
    targets = cells.positive.shape[1]
    if targets < 2:
        raise IncompatibleAttackError(
            "transferred weights are learnt from other targets, and there is only one: give "
            "several targets, or use SubsetAttack()"
        )
    fold = fold_of(np.arange(targets))
    grams = cells.grams(np.broadcast_to(fold, cells.positive.shape[:2]))
    folds = np.unique(fold).tolist()

    def quality(size: int, left_out: int) -> float:
        tried = []
        for other in folds:
            if other != left_out:
                weights, mine = grams.without(other, left_out).weights(size), fold == other
                tried.append(mean_auc(cells.scores(weights, targets=mine), cells.positive[:, mine]))
        return float(np.mean(tried))

    weights = np.zeros((len(folds), max(sizes)))
    rehearsed = np.zeros(cells.positive.shape, dtype=np.float32)
    for one in folds:
        size = max(sizes, key=lambda size: quality(size, one))
        weights[one, :size] = grams.without(one).weights(size)
        rehearsed[:, fold == one] = cells.scores(weights[one], targets=fold == one)
    return Learnt(weights, fold, rehearsed)
