"""Several looks at the records of one release, weighed on records that are known."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._criteria import Criterion
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks.tables._column_cells import ColumnCells, column_sets, count_equal
from tapas.attacks.tables._column_values import ColumnValues, log_shares
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.attacks.tables._numeric_parts import NumericParts
from tapas.datasets import TabularDataset
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Release

__all__ = ["RecordEnsembleAttack"]

NEIGHBOURS = 5
ORDERS = (2, 3, 4)
SETS = 30  # of columns, of each order
FOLDS = 5
LOOKS = 12 + len(ORDERS)
PENALTY = 10.0


class RecordEnsembleAttack(Attack):
    """Membership inference from several looks at a release, weighed on known records.

    Idea
        No single look is the strongest against every mechanism: nearness wins where single
        records are copied or mixed, counts of combinations where marginals are kept. Records
        whose membership is known show which to trust.
    Needs
        One release, reference data of the same population, and records whose membership is
        known, or training trials.
    Score
        Log-odds by a penalised logistic regression of: the distance to the nearest released
        record, mixed, Hamming's and the Euclidean one of standardised numbers, and to the five
        nearest, the ratio of the first two, the same beside the reference, and the mean over sets
        of 2, 3 and 4 columns of
        ``log((c + 1/2) / (c_ref n / n_ref + 1/2))`` with c the number of released records that
        agree with the target on the set; and three of single columns, each summed over columns:
        the same with the equal numbers of one column, how much denser the release is at a number
        than near it (see `DOMIAS`), and how much larger the share of a category is.
    Reference
        Wolpert (1992), "Stacked generalization", Neural Networks 5; van Breugel et al. (2023).

    Parameters
    ----------
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(self, label: str | None = None) -> None:
        self._label = label or "RecordEnsemble"

    @property
    def needs(self) -> Needs:
        """A release, reference data, and secrets to learn from."""
        return Needs(goals=("membership",), auxiliary=True)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """All looks at each target, (targets, looks)."""
        about, synthetic = table_briefing(briefing), release.table
        targets, reference = about.targets, about.reference(self.label)
        if len(synthetic) == 0:
            return np.zeros((len(targets), LOOKS))
        looks = (look(targets, synthetic, reference) for look in (_nearness, _agreement, _values))
        return np.stack([one for several in looks for one in several], axis=1)

    def fit(self, board: Board, *, rng: np.random.Generator) -> "RecordScorer":
        """Weigh the looks; the threshold is chosen on records that had no part in it."""
        looks = board.values.reshape(-1, board.values.shape[-1])
        member = np.asarray(board.secrets, dtype=bool).ravel()
        if member.all() or not member.any():
            raise IncompatibleAttackError(
                f"{self.label} needs known records, or training trials, of both kinds"
            )
        fold = rng.permutation(len(member)) % FOLDS
        unseen = np.zeros(len(member))
        for one in range(FOLDS):
            part = fold != one
            if member[part].all() or not member[part].any():
                continue
            unseen[~part] = _weighed(looks[part], member[part]).score(looks[~part])
        threshold = Criterion("accuracy").threshold(unseen, member)
        learnt = _weighed(looks, member)
        return RecordScorer(learnt.centres, learnt.weights, threshold)


@dataclass(frozen=True, eq=False)
class RecordScorer:
    """Weighted looks.

    Attributes
    ----------
    centres, weights : ndarray
    threshold : float
    """

    centres: np.ndarray
    weights: np.ndarray
    threshold: float

    def score(self, values: np.ndarray) -> np.ndarray:
        """Log-odds of membership, up to a constant."""
        # Not a matrix product: its last bits depend on how many are scored at once.
        return ((values - self.centres) * self.weights).sum(axis=-1)

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """A member where the score reaches the threshold."""
        return scores >= self.threshold


def _weighed(looks: np.ndarray, member: np.ndarray) -> RecordScorer:
    # Imported here: scikit-learn takes a second to load.
    from sklearn.linear_model import LogisticRegression

    centres, spreads = looks.mean(axis=0), looks.std(axis=0)
    spreads = np.where(spreads > 0, spreads, 1.0)
    model = LogisticRegression(C=1 / PENALTY, class_weight="balanced", max_iter=1000)
    model.fit((looks - centres) / spreads, member)
    return RecordScorer(centres, model.coef_[0] / spreads, 0.0)


def _nearness(
    targets: TabularDataset, synthetic: TabularDataset, reference: TabularDataset
) -> list[np.ndarray]:
    """Nearness to the release, and beside the reference."""
    space = MixedSpace.of(synthetic)
    released = space.nearest(targets, synthetic, NEIGHBOURS)[0]
    held = space.nearest(targets, reference, NEIGHBOURS)[0]
    first, second = released[:, 0], released[:, min(1, released.shape[1] - 1)]
    ratio = np.divide(first, second, out=np.ones(len(first)), where=second > 0)
    beside = held[:, 0] - first, held.mean(axis=1) - released.mean(axis=1)
    # In endless units numbers are equal or not, as categories are; without codes only near.
    hamming = replace(space, units=np.full(len(space.units), np.inf))
    found = [-first, -released.mean(axis=1), -ratio, *beside]
    for other in (hamming, replace(space, exact=False)):
        mine, theirs = (other.nearest(targets, t)[0][:, 0] for t in (synthetic, reference))
        found += [-mine, theirs - mine]
    return found


def _agreement(
    targets: TabularDataset, synthetic: TabularDataset, reference: TabularDataset
) -> list[np.ndarray]:
    """For each order, how much more often the release has what the target has."""
    cells = ColumnCells((synthetic, reference, targets))
    share = len(synthetic) / len(reference)
    found = []
    for order in ORDERS:
        logs = np.zeros(len(targets))
        sets = column_sets(cells.columns, order, SETS)
        for columns in sets:
            mine, others, asked = cells.keys(columns)
            expected = count_equal(asked, others) * share
            logs += np.log((count_equal(asked, mine) + 0.5) / (expected + 0.5))
        found.append(logs / len(sets))
    return found


def _values(
    targets: TabularDataset, synthetic: TabularDataset, reference: TabularDataset
) -> list[np.ndarray]:
    """How much more often the release has the values of the target, whatever is beside them."""
    columns, tables = ColumnValues.between(synthetic, reference), (synthetic, reference)
    dense = columns.log_excess(targets, synthetic, reference)
    common, elsewhere = (log_shares(targets, table).sum(axis=0) for table in tables)
    share = len(synthetic) / len(reference)
    equal = np.zeros(len(targets))
    asked, *held = (NumericParts.of(table).numbers for table in (targets, *tables))
    for numbers, mine, theirs in zip(asked, *held, strict=True):
        counts, expected = count_equal(numbers, mine), count_equal(numbers, theirs) * share
        equal += np.log((counts + 0.5) / (expected + 0.5))
    return [equal, dense, common - elsewhere]
