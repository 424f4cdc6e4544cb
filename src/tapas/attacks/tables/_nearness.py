"""How near a release comes to each target: as a whole, and value by value."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._masked_targets import table_briefing, with_each_value
from tapas.attacks._shared_discriminant import SharedScorer, learn_shared
from tapas.attacks.tables._column_values import ColumnValues
from tapas.attacks.tables._distances import FittingDistance
from tapas.datasets import EncodedTable, TabularDataset
from tapas.game import Board, Briefing, Needs, Release, Samples, ValueObserver

__all__ = ["NearnessAttack"]

RIDGE = 1e-3
STEEPNESS = (1.0, 2.0, 4.0)
PAIRS_AT_ONCE = 1 << 21
NOWHERE = 25.0  # minus the log-density of a number where nothing was released
MOST_COLUMNS = 32  # of numbers, of which each has a weight of its own
EQUAL = 0.05  # what is nearer counts as hardly nearer
FURTHEST = 1e6  # from everybody, where nothing was released


@dataclass(frozen=True, eq=False)
class NearnessObserver(ValueObserver):
    """Nearness of each target, or of each target with each value."""

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        about = table_briefing(briefing)
        if about.attribute is None:
            return nearness(about.targets, release.table)
        found = nearness(with_each_value(about), release.table)
        return found.reshape(about.num_targets, len(about.attribute_values), -1)


class NearnessAttack(Attack):
    """How near a release comes to the target, with weights that all targets share.

    Idea
        A mechanism that keeps to single records, or mixes a few of them, releases records near
        its members. How near is near enough is the same for everybody, so it is learnt from all
        targets together.
    Needs
        Training trials. It serves many targets of one pool of trials best.
    Score
        A ridge discriminant, shared by all targets, of minus the distance to the nearest
        released record and of ``log sum over released y of exp(-b distance(target, y))`` for b =
        1, 2, 4, each beside its mean in training releases without the target. The distance is 1
        for each category that differs, and for numbers the difference in standard deviations of
        the release, at most 1. Where there are numbers, also their log-densities in the release
        (those of `DOMIAS`), in sum and, of up to 32, column by column, for mechanisms give
        values that the data had, whatever they put beside them; and minus the logarithm of the
        distance of `ClosestDistanceMIA`, for mechanisms that interpolate come close by many steps.
    Reference
        Our own; see Houssiau et al. (2022), arXiv:2211.06550, and van Breugel et al. (2023).

    Parameters
    ----------
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(self, label: str | None = None) -> None:
        self._label = label or "Nearness"

    @property
    def needs(self) -> Needs:
        """Tables, and the same targets in several training releases."""
        return Needs(goals=("membership", "attribute"), repeated=True)

    def observer(self, briefing: Briefing, samples: Samples) -> NearnessObserver:
        """Nearness of all targets of a release together."""
        return NearnessObserver()

    def fit(self, board: Board, *, rng: np.random.Generator) -> SharedScorer:
        """Learn shared weights."""
        return learn_shared(board, RIDGE)


def nearness(records: TabularDataset, released: TabularDataset) -> np.ndarray:
    """Minus the least distance, the log of the density at each width, and what numbers tell.

    Of numbers: the sum of their log-densities, minus the log of the mixed distance, and, where
    they are several, the log-density of each, (records, 4, 6 or more).
    """
    whole = _nearness_of_rows(records, released)
    if all(column.is_one_hot for column in released.table.columns):
        return whole
    logs = _familiarity(records, released)
    told = [whole, logs.sum(axis=1, keepdims=True), _closeness(records, released)[:, None]]
    each = [logs] if 1 < logs.shape[1] <= MOST_COLUMNS else []
    return np.concatenate([*told, *each], axis=1)


def _closeness(records: TabularDataset, released: TabularDataset) -> np.ndarray:
    """Minus the logarithm of the distance to the nearest, by which twice as near is a step."""
    least = np.minimum(FittingDistance().nearest(records, released), FURTHEST)
    return -np.log(least + EQUAL).astype(np.float32)


def _familiarity(records: TabularDataset, released: TabularDataset) -> np.ndarray:
    """Log of the density of each number in the release, in units of its range."""
    cells = ColumnValues.between(released, released)
    if len(released) == 0:
        return np.full((len(records), len(cells.ranges)), -NOWHERE, dtype=np.float32)
    logs = cells.log_densities(records, released) + np.log(cells.ranges)[:, None]
    return logs.T.astype(np.float32)


def _nearness_of_rows(records: TabularDataset, released: TabularDataset) -> np.ndarray:
    found = np.empty((len(records), 1 + len(STEEPNESS)), dtype=np.float32)
    if len(released) == 0:
        found[:] = -np.outer(
            np.full(len(records), len(released.table.columns) + 1), (1, *STEEPNESS)
        )
        return found
    step = max(1, PAIRS_AT_ONCE // len(released))
    for start in range(0, len(records), step):
        some = slice(start, min(start + step, len(records)))
        apart = _distances(records.table.take(range(some.start, some.stop)), released.table)
        least = apart.min(axis=1)
        near = np.exp(least[:, None] - apart)
        found[some, 0] = -least
        for place, power in enumerate(STEEPNESS, start=1):
            found[some, place] = np.log((near**power).sum(axis=1)) - power * least
    return found


def _distances(records: EncodedTable, released: EncodedTable) -> np.ndarray:
    """Differing categories, and differences of numbers in standard deviations, at most 1 each."""
    coded = [column.name for column in released.coded_columns()]
    apart = released.select(coded).count_differences(records.select(coded)).astype(np.float32)
    for column in released.number_columns():
        mine, theirs = records.column(column.name)[:, None], released.column(column.name)
        present = theirs[~np.isnan(theirs)]
        spread = present.std() if len(present) else 0.0
        with np.errstate(invalid="ignore"):
            steps = np.abs(mine - theirs) / (spread or 1.0)
        missing = np.isnan(mine) ^ np.isnan(theirs)
        apart += np.where(missing, 1.0, np.minimum(np.nan_to_num(steps), 1.0))
    return apart
