"""The attack by counting queries about the target, of every order."""

from math import comb

import numpy as np

from tapas._validate import check_count
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._sklearn_models import Classifier
from tapas.attacks.features._query_feature import (
    RandomTargetedQueryFeature,
    count_together,
)
from tapas.attacks.features._set_classifiers import FeatureBasedSetClassifier
from tapas.attacks.features._set_features import CombinedSetFeatures
from tapas.attacks.features._shadow_modelling import ShadowModellingAttack
from tapas.attacks.features._shadow_scorer import FeatureObserver
from tapas.datasets import Dataset
from tapas.game import Briefing, Samples

__all__ = ["QueryAttack"]

USUAL_ORDER = 2  # of the feature that stands for all before the table is known


class QueriesOfEveryOrder(CombinedSetFeatures):
    """Queries that differ in their order, which are counted together."""

    def observe(self, dataset: Dataset, briefing: Briefing) -> np.ndarray:
        """Counts of the first order, then of the others, a row for each target."""
        queries = [one for one in self.features if isinstance(one, RandomTargetedQueryFeature)]
        return count_together(queries, dataset, briefing)


class QueryAttack(ShadowModellingAttack):
    """Shadow modelling with counts of the records that agree with the target.

    Idea
        A member raises the number of released records that agree with it on subsets of columns,
        of one column as of all of them. Which counts tell is learnt for each target by itself:
        `SubsetAttack`, which learns it from all targets together, finds more on most generators.
    Needs
        Training trials: at least a black box.
    Score
        See `ShadowModellingAttack`.
    Reference
        Houssiau et al. (2022), arXiv:2211.06550; Meeus et al. (2023), "Achilles' heels:
        vulnerable record identification in synthetic data publishing", arXiv:2306.10308.

    Parameters
    ----------
    number : int
        How many subsets, shared evenly by the orders; what a small order does not use is left to
        the larger ones.
    model : scikit-learn classifier, optional
        Instead of a random forest of 100 trees of depth 10.
    seed : int
        Subsets follow from it.
    label : str, optional
    """

    def __init__(
        self,
        number: int = 1000,
        model: Classifier | None = None,
        seed: int = 0,
        label: str | None = None,
    ) -> None:
        self.number = check_count(number, "number", minimum=1)
        self.seed = seed
        features = RandomTargetedQueryFeature(None, USUAL_ORDER, number, seed=seed)
        forest = _random_forest if model is None else model
        super().__init__(FeatureBasedSetClassifier(features, forest), label=label or "Queries")

    def observer(self, briefing: Briefing, samples: Samples) -> FeatureObserver:
        """Counts of every order that the table has."""
        about = table_briefing(briefing)
        columns = len(about.targets.table.columns) - (about.attribute is not None)
        return FeatureObserver(self._queries(columns))

    def _queries(self, columns: int) -> QueriesOfEveryOrder:
        features: list[RandomTargetedQueryFeature] = []
        left = self.number
        for order in sorted(range(1, columns + 1), key=lambda order: comb(columns, order)):
            wanted = max(1, left // (columns - len(features)))
            number = min(comb(columns, order), wanted)
            left -= number
            features.append(RandomTargetedQueryFeature(None, order, number, seed=self.seed + order))
        return QueriesOfEveryOrder(*features)


def _random_forest() -> Classifier:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=100, max_depth=10)
