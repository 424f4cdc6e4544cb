"""Attribute inference by a classifier trained on the release."""

from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import rows_with_value, score_of_values, table_briefing
from tapas.attacks._sklearn_models import (
    Classifier,
    Standardiser,
    checked_classifier,
    class_probabilities,
    seeded_clone,
)
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.datasets import TabularDataset
from tapas.game import Briefing, Kind, Release, TableBriefing

__all__ = ["SyntheticPredictorAttack"]


class SyntheticPredictorAttack(TrainableThresholdAttack):
    """Attribute inference by predicting the sensitive value from the other columns.

    Idea
        Learn on the release how the sensitive attribute follows from the other columns, and
        apply it to the target. The threat model draws the target's value independently of its
        other columns, so that what the population teaches gains nothing: only what the release
        took from the target itself does.
    Needs
        Releases, to each of which the classifier is fitted anew; training trials unless the
        threshold is given.
    Score
        ``P(v | other columns)`` for each value v, among the values that the attribute may take;
        with two values, of the second. A value that does not occur in the release has probability
        0, the only one that occurs 1; where none occurs, all have 1/k.
    Reference
        Elliot (2015), "Final report on the disclosure risk associated with the synthetic data
        produced by the SYLLS team", CMIST report 2015-2 (the related measure CAP).

    Parameters
    ----------
    estimator : scikit-learn classifier
        Cloned for each release. One without `predict_proba` is read by its `decision_function`
        or, failing that, its predictions.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    standardise : bool
        Whether numbers and ordered columns are brought to mean 0 and standard deviation 1 in each
        release, which classifiers other than trees need. A missing number always counts as the
        mean of its column, a missing category as none; rows whose sensitive value is missing, or
        is none of the possible values, are left out.
    """

    goals: ClassVar[tuple[Kind, ...]] = ("attribute",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("estimator", "standardise")

    def __init__(
        self,
        estimator: Classifier,
        criterion: CriterionLike,
        label: str | None = None,
        *,
        standardise: bool = True,
    ) -> None:
        super().__init__(criterion)
        self.estimator = checked_classifier(estimator, "estimator")
        self.standardise = standardise
        self._label = label or f"SyntheticPredictor({estimator})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Probability of each value, for each target."""
        about = table_briefing(briefing)
        has_value = rows_with_value(about, release.table)
        occurs = has_value.any(axis=1)
        if occurs.sum() > 1:
            return score_of_values(self._predicted(release.table, has_value, about, rng))
        shape = (about.num_targets, len(has_value))
        alike = np.where(occurs.any(), occurs, 1 / len(has_value))
        return score_of_values(np.broadcast_to(alike, shape))

    def _predicted(
        self,
        synthetic: TabularDataset,
        has_value: np.ndarray,
        briefing: TableBriefing,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Probability of each value, (targets, values), by a classifier of the release."""
        # Ranks instead of values: an estimator would take fractions for something to regress on.
        names = [str(value) for value in briefing.attribute_values]
        ranks = np.unique(names, return_inverse=True)[1]
        usable, hidden = has_value.any(axis=0), [str(briefing.attribute)]
        known = synthetic.view(exclude_columns=hidden).numeric()[usable]
        prepare = Standardiser(known, rescale=self.standardise)
        model = seeded_clone(self.estimator, rng)
        model.fit(prepare(known), ranks[has_value[:, usable].argmax(axis=0)])
        asked = prepare(briefing.targets.view(exclude_columns=hidden).numeric())
        found = np.zeros((len(asked), len(ranks)))
        found[:, np.argsort(ranks)[model.classes_]] = class_probabilities(model, asked)
        return found
