"""The white-box attack on trees and forests: thresholds and leaves give training records away."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tapas.attacks.models._certainty import CertaintyMIA, FeaturesAndCertainty
from tapas.attacks.models._model_attack import model_briefing
from tapas.attacks.models._prediction_features import Scaled
from tapas.errors import IncompatibleAttackError
from tapas.game import Briefing, Needs, Release
from tapas.models import Access, DecisionTree, Model, Records, decision_trees

NUM_OF_TREES = 4  # columns that are read of the trees


@dataclass(frozen=True, eq=False)
class FeaturesAndTrees:
    """Inputs of an attack model: those of `CertaintyMIA`, and what the trees show.

    Attributes
    ----------
    of_answers : FeaturesAndCertainty
    scaled : Scaled
        Of what the trees show.
    """

    of_answers: FeaturesAndCertainty
    scaled: Scaled

    @classmethod
    def learn(cls, rows: np.ndarray) -> "FeaturesAndTrees":
        """Learn ranks and scales from the attacker's records."""
        answers = FeaturesAndCertainty.learn(rows[:, :-NUM_OF_TREES])
        return cls(answers, Scaled.learn(rows[:, -NUM_OF_TREES:]))

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        of_trees = self.scaled(rows[:, -NUM_OF_TREES:])
        return np.concatenate([self.of_answers(rows[:, :-NUM_OF_TREES]), of_trees], axis=1)


class TreeMIA(CertaintyMIA):
    """Reads the trees of a tree or forest: whose values made its thresholds, and who fills leaves.

    Idea: a tree splits halfway between the values of two training records. So where a threshold on
    a record's way lies exactly halfway between its value and that of another record that the
    attacker holds, both were trained on, unless many records share these values. And a member
    lies in leaves of its own class, the smaller the harder it is to tell from others.

    Needs: parameters of a scikit-learn tree or forest, one query per record, known records or
    shadow models.

    Score: the attack model's probability of membership, from the inputs of `CertaintyMIA`, the
    number of thresholds that are such midpoints and their share of the record's way (a column of
    few values counts as little as it has values), and the mean share of the true class in the
    record's leaves over their size and over its square root.

    Reference: ours; Smith, Preen, Albashir, Ritchie, Green, Davies and others (2023, SACRO) for
    what leaves disclose.

    Parameters
    ----------
    attack_model, per_class, criterion, label
        As in `CertaintyMIA`.
    """

    @property
    def needs(self) -> Needs:
        """As `CertaintyMIA`, and trees."""
        return replace(super().needs, access=Access.PARAMETERS, trees=True)

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """What `CertaintyMIA` looks at, and what the trees show of each record."""
        about = model_briefing(briefing)
        answers = super().observe(release, briefing, rng=rng)
        return np.column_stack([answers, _told(release.model, about.targets, about.auxiliary)])

    def _features(self, rows: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        return FeaturesAndTrees.learn(rows)


def _told(model: Model, targets: Records, held: Records | None) -> np.ndarray:
    """What the trees show of each target, (targets, `NUM_OF_TREES`)."""
    found = decision_trees(model)
    if found is None:
        raise IncompatibleAttackError(
            f"TreeMIA reads the trees of a scikit-learn tree or forest, and {model.label} shows "
            f"none: use CertaintyMIA"
        )
    rows = found.rows(targets.X)
    others = Partners.among(rows if held is None else found.rows(held.X))
    codes, seen = found.codes(targets.y)
    columns = np.zeros((len(rows), NUM_OF_TREES))
    for tree in found.trees:
        columns[:, :2] += others.midpoints(tree, rows)
        columns[:, 2:] += _in_leaves(tree, rows, codes) * seen[:, None]
    columns[:, 1] = columns[:, 0] / np.maximum(columns[:, 1], 1e-9)
    columns[:, 2:] /= len(found.trees)
    return columns


@dataclass(frozen=True, eq=False)
class Partners:
    """Values of the records that the attacker holds, column by column.

    Attributes
    ----------
    values : list of ndarray
        Ascending, each once.
    distinct : ndarray
        How many there are for each record: next to none where midpoints are met by chance.
    """

    values: list[np.ndarray]
    distinct: np.ndarray

    @classmethod
    def among(cls, rows: np.ndarray) -> "Partners":
        """Those of some records."""
        values = [np.unique(column).astype(float) for column in rows.T]
        return cls(values, np.array([len(one) / len(rows) for one in values]))

    def midpoints(self, tree: DecisionTree, rows: np.ndarray) -> np.ndarray:
        """How much of each record's way are midpoints to a partner, and its length."""
        path = tree.decision_path(rows)
        record = np.repeat(np.arange(len(rows)), np.diff(path.indptr))
        inner = tree.children_left[path.indices] >= 0
        record, node = record[inner], path.indices[inner]
        column = tree.feature[node]
        own = rows[record, column].astype(float)
        partner = 2 * tree.threshold[node] - own
        met = np.zeros(len(node), dtype=bool)
        for one in np.unique(column):
            here, values = column == one, self.values[one]
            place = np.searchsorted(values, partner[here]).clip(max=len(values) - 1)
            met[here] = values[place] == partner[here]
        met &= partner != own
        weights = self.distinct[column]
        return np.column_stack(
            [np.bincount(record, weight, len(rows)) for weight in (met * weights, weights)]
        )


def _in_leaves(tree: DecisionTree, rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Share of each record's class in its leaf, over the size of the leaf and over its root."""
    leaf = tree.apply(rows)
    counts = tree.value[leaf, 0]
    share = counts[np.arange(len(rows)), codes] / counts.sum(axis=1)
    size = tree.n_node_samples[leaf]
    return np.column_stack([share / size, share / np.sqrt(size)])
