"""Attribute inference by solving for the sensitive values of all private records at once."""

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import rows_with_value, score_of_values, table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._column_cells import ColumnCells, column_sets
from tapas.errors import IncompatibleAttackError
from tapas.game import Briefing, Kind, Needs, Release

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ReconstructionAttack"]

MOST_SETS = 600
STEPS = 25  # of conjugate gradients, which have converged by then
RIDGE = 0.3


class ReconstructionAttack(TrainableThresholdAttack):
    """Attribute inference by linear reconstruction from all private records' other columns.

    Idea
        A release that keeps how the sensitive value goes with small sets of columns states, for
        every combination of values, a linear equation about the private records that have it.
        Who knows these records but for the sensitive value solves all equations together: the
        noise of one is held against the others, and nobody needs to stand out.
    Needs
        `QuasiIdentifierKnowledge` (``knowledge: {data: identifiers}``); training trials unless
        the threshold is given. With two values, ("threshold", 0.5) takes the likelier one.
    Score
        ``t_iv``, the estimated share of value v in private records that equal the target i
        elsewhere; with two values, of the second. The estimates minimise ``sum over
        combinations p of w_p (sum over records i that have p of t_iv - n_p c_pv / c_p)^2`` and a
        ridge penalty towards the shares of the whole release: n_p private and c_p released
        records have the combination, c_pv of them with value v, and ``w_p = c_p / n_p^2``.
        Combinations are of up to `order` columns, of all but one and of all; numbers in ten bins.
    Reference
        Annamalai, Gadotti and Rocher (2024), "A linear reconstruction approach for attribute
        inference attacks against synthetic data", USENIX Security. Theirs is a linear program
        over random queries for two values; this is least squares, for any number.

    Parameters
    ----------
    order : int
        Largest number of columns of a combination. At most 600 sets of columns are used,
        smaller ones first.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("attribute",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("order",)

    def __init__(
        self, order: int = 2, criterion: CriterionLike = "accuracy", label: str | None = None
    ) -> None:
        super().__init__(criterion)
        self.order = check_count(order, "order", minimum=1)
        self._label = label or "Reconstruction"

    @property
    def needs(self) -> Needs:
        """The other columns of all private records, and training unless the threshold is given."""
        training = self.criterion.kind != "threshold"
        return Needs(goals=self.goals, training=training, identifiers=True)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The estimated share of each value, for each target."""
        about, known = table_briefing(briefing), release.identifiers
        if known is None:
            raise IncompatibleAttackError(
                f"{self.label} reads release.identifiers, which there are none of: play it with "
                f"QuasiIdentifierKnowledge"
            )
        hidden = [str(about.attribute)]
        tables = [one.view(exclude_columns=hidden) for one in (known, release.table, about.targets)]
        has_value = rows_with_value(about, release.table)
        found = reconstructed(ColumnCells(tables), has_value.T.astype(float), self.order)
        return score_of_values(found)


def reconstructed(cells: ColumnCells, has_value: np.ndarray, order: int) -> np.ndarray:
    """Estimated shares of each value, (targets, values).

    The tables of `cells` are the private records, the released ones and the targets; released
    records have one value each, (released records, values).
    """
    from scipy.sparse import csr_array

    usual = has_value.sum(axis=0) / max(1.0, has_value.sum())
    rows, places, answers, found = [], [], [], 0
    for columns in sets_of_columns(cells.columns, order):
        private, released, _ = cells.keys(columns)
        place, number, weight, excess = _equations(private, released, has_value, usual)
        places.append(found + place)
        rows.append(np.sqrt(weight)[place])
        answers.append(np.sqrt(weight)[:, None] * number[:, None] * excess)
        found += len(number)
    size, first = len(places[0]), np.arange(len(places[0]) + 1) * len(places)
    entries = (np.stack(rows, axis=1).ravel(), np.stack(places, axis=1).ravel(), first)
    matrix = csr_array(entries, shape=(size, found))
    return usual + _of_targets(cells, solved(matrix, np.concatenate(answers)))


def sets_of_columns(columns: int, order: int) -> list[np.ndarray]:
    """Sets of up to `order` columns, of all but one, and of all.

    Of an order with too many sets some are drawn, always the same ones.
    """
    found: list[np.ndarray] = []
    for size in range(1, min(order, columns) + 1):
        left = MOST_SETS - len(found)
        if comb(columns, size) > left:
            found += column_sets(columns, size, left)
            break
        found += [np.array(one) for one in combinations(range(columns), size)]
    every = np.arange(columns)
    whole = [np.delete(every, one) for one in every] if columns - 1 > order else []
    return [*found, *whole, *([every] if columns > order else [])]


def _equations(
    private: np.ndarray, released: np.ndarray, has_value: np.ndarray, usual: np.ndarray
) -> tuple[np.ndarray, ...]:
    """For combinations of private records: whose each is, their number, weight, excess share."""
    kinds, place, number = np.unique(private, return_inverse=True, return_counts=True)
    where = np.minimum(np.searchsorted(kinds, released), len(kinds) - 1)
    same = kinds[where] == released
    counts = np.zeros((len(kinds), has_value.shape[1]))
    np.add.at(counts, where[same], has_value[same])
    total = counts.sum(axis=1)
    excess = np.where(total[:, None] > 0, counts / np.maximum(total, 1)[:, None] - usual, 0)
    return place, number.astype(float), total / number**2, excess


def solved(matrix: "csr_array", answers: np.ndarray) -> np.ndarray:
    """Least squares with a ridge penalty, by conjugate gradients, for all values together."""
    transposed = matrix.T.tocsr()
    penalty = RIDGE * float((matrix.data**2).sum()) / max(1, matrix.shape[0])
    left = matrix @ answers
    estimate, way = np.zeros_like(left), left.copy()
    size = (left**2).sum(axis=0)
    for _ in range(STEPS):
        ahead = matrix @ (transposed @ way) + penalty * way
        step = size / np.maximum((way * ahead).sum(axis=0), np.finfo(float).tiny)
        estimate += step * way
        left -= step * ahead
        before, size = size, (left**2).sum(axis=0)
        way = left + size / np.maximum(before, np.finfo(float).tiny) * way
    return estimate


def _of_targets(cells: ColumnCells, estimates: np.ndarray) -> np.ndarray:
    """Mean of the estimates of private records that equal each target; 0 where none does."""
    private, _, targets = cells.keys(np.arange(cells.columns))
    kinds, place, number = np.unique(private, return_inverse=True, return_counts=True)
    sums = np.zeros((len(kinds), estimates.shape[1]))
    np.add.at(sums, place, estimates)
    where = np.minimum(np.searchsorted(kinds, targets), len(kinds) - 1)
    return np.where((kinds[where] == targets)[:, None], (sums / number[:, None])[where], 0)
