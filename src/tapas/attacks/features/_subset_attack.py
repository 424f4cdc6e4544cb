"""The attack that counts who agrees with the target, with weights that all targets share."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._base import Attack
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._shared_discriminant import SharedScorer, learn_shared
from tapas.attacks.features._every_record import EveryRecord
from tapas.attacks.features._subset_counts import (
    LARGEST_ORDER,
    SubsetPlan,
    count_subsets,
    plan_subsets,
)
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.game import Board, Briefing, Needs, Release, Samples, ValueObserver

__all__ = ["SubsetAttack"]

RIDGE = 0.3
MOST_SUBSETS = 1000
MOST_COUNTS = 4 * MOST_SUBSETS  # of a target, over all values of an attribute


@dataclass(frozen=True, eq=False)
class SubsetObserver(ValueObserver):
    """Counts the records that agree with each target on each subset of columns.

    Attributes
    ----------
    number : int
        At most so many subsets.
    order : int
        Of at most so many columns.
    """

    number: int
    order: int = LARGEST_ORDER

    def plan(self, briefing: Briefing) -> SubsetPlan:
        """The subsets that are counted."""
        about = table_briefing(briefing)
        values = max(1, len(about.attribute_values))
        number = min(self.number, max(1, MOST_COUNTS // values))
        return plan_subsets(about.targets, about.attribute, number, self.order)

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        return count_subsets(release.table, table_briefing(briefing), self.plan(briefing))


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
    order : int
        Subsets have at most so many columns: 1, 2 or 3.
    """

    pools_targets: ClassVar[bool] = True

    def __init__(
        self,
        transfer: bool = False,
        number: int = MOST_SUBSETS,
        label: str | None = None,
        *,
        order: int = LARGEST_ORDER,
    ) -> None:
        self.transfer = transfer
        self.number = check_count(number, "number", minimum=1)
        if order not in range(1, LARGEST_ORDER + 1):
            raise ConfigError(f"order must be 1, 2 or 3 columns, got {order!r}")
        self.order = order
        self._label = label or ("Subsets(transferred)" if transfer else "Subsets")

    @property
    def needs(self) -> Needs:
        """Tables, and the same targets in several training releases."""
        return Needs(goals=("membership", "attribute"), repeated=True)

    def observer(self, briefing: Briefing, samples: Samples) -> SubsetObserver:
        """Counts for all targets of a release together."""
        return SubsetObserver(self.number, self.order)

    def fit(self, board: Board, *, rng: np.random.Generator) -> SharedScorer:
        """Learn shared weights, and how many columns subsets should have."""
        plan = SubsetObserver(self.number, self.order).plan(board.told)
        sizes = sorted({*np.cumsum(plan.sizes()).tolist()[1:], board.values.shape[-1]})
        return learn_shared(board, RIDGE, sizes, transfer=self.transfer)

    def of_every_record(self, scorer: SharedScorer, records: TabularDataset) -> EveryRecord:
        """Scores all records of a table by what was learnt of the targets, with `order` 2."""
        return EveryRecord(records, scorer.weights[0], self.number)
