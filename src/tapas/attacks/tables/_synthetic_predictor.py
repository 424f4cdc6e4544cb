"""Attribute inference by a classifier trained on the release."""

from collections.abc import Hashable
from typing import Any, ClassVar

import numpy as np

from tapas.attacks._sklearn_models import Standardiser, parameters_key, seeded_clone
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._masked_targets import rows_with_value, score_of_values
from tapas.errors import ConfigError
from tapas.threat_models import Briefing, Release


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

    goals: ClassVar[tuple[str, ...]] = ("attribute",)

    def __init__(
        self, estimator: Any, criterion: Any, label: str | None = None, *, standardise: bool = True
    ) -> None:
        super().__init__(criterion)
        if isinstance(estimator, type) or not hasattr(estimator, "predict"):
            raise ConfigError(
                f"estimator must be a scikit-learn classifier such as LogisticRegression(), "
                f"got {estimator!r}"
            )
        self.estimator = estimator
        self.standardise = standardise
        self._label = label or f"SyntheticPredictor({estimator})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Probability of each value, for each target."""
        self._check_goal(briefing)
        targets: Any = briefing.targets
        has_value = rows_with_value(briefing, release.data)
        # Ranks instead of values: an estimator would take fractions for something to regress on.
        names = [str(value) for value in briefing.attribute_values]
        values = np.unique(names, return_inverse=True)[1]
        usable, occurs = has_value.any(axis=0), has_value.any(axis=1)
        shape = (len(targets), len(values))
        if occurs.sum() < 2:
            scores = occurs if occurs.any() else 1 / len(values)
            return score_of_values(np.broadcast_to(np.asarray(scores, dtype=float), shape))
        others = [briefing.attribute or ""]
        known = release.data.view(exclude_columns=others).numeric()[usable]
        prepare = Standardiser(known, rescale=self.standardise)
        model = seeded_clone(self.estimator, rng)
        model.fit(prepare(known), values[has_value[:, usable].argmax(axis=0)])
        asked = prepare(targets.view(exclude_columns=others).numeric())
        return score_of_values(_probabilities(model, asked, values))

    @property
    def observation_key(self) -> Hashable:
        """Attacks with equal estimators observe the same."""
        return self._shared_key(parameters_key(self.estimator), self.standardise)

    @property
    def label(self) -> str:
        """Display name."""
        return self._label


def _probabilities(model: Any, records: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Probability of each value in the order of `values`; 0 for one that was not learnt."""
    order = [int(np.flatnonzero(values == name)[0]) for name in model.classes_]
    result = np.zeros((len(records), len(values)))
    if hasattr(model, "predict_proba"):
        result[:, order] = model.predict_proba(records)
    elif hasattr(model, "decision_function"):
        result[:, order] = _softmax(np.asarray(model.decision_function(records), dtype=float))
    else:
        result[:] = np.asarray(model.predict(records))[:, None] == values
    return result


def _softmax(margins: np.ndarray) -> np.ndarray:
    """Margins as numbers that sum to 1; a single margin speaks for the second class."""
    if margins.ndim == 1:
        margins = np.stack([np.zeros_like(margins), margins], axis=1)
    powers = np.exp(margins - margins.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
