"""Membership from labels alone: records that a model was trained on lie deep inside their class."""

import warnings
from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from tapas._validate import check_choice, check_count
from tapas.attacks._boundary_walk import WalkPlan, boundary_distances, nearest_elsewhere
from tapas.attacks._model_attack import ModelThresholdAttack
from tapas.attacks._noise_robustness import SCALES, noise_robustness
from tapas.errors import TapasWarning
from tapas.models import Access
from tapas.threat_models import Release
from tapas.threat_models._model_game import ModelNeeds

POOL_RECORDS = 5_000  # more hardly shorten the way to another class


class LabelOnlyMIA(ModelThresholdAttack):
    """Guesses "member" where much must be changed before the model changes its mind.

    Idea: training pushes the decision boundary away from training records. The distance is found
    by label queries alone: from the nearest record of another predicted class back towards the
    record, then along the boundary (as HopSkipJump does). Noise is the cheaper variant: how many
    noisy copies are still classified right, at six strengths, weighed by logistic regression.

    Needs: labels; `max_queries` queries per record; known records or shadow models.

    Score: 0 where the prediction is wrong, else the distance to the boundary in standard
    deviations of the columns (a changed category counts one); for noise the fitted probability.

    Reference: Choquette-Choo, Tramer, Carlini and Papernot (2021); Chen, Jordan and Wainwright
    (2020) for the walk.

    Parameters
    ----------
    method : {"boundary", "noise"}
    max_queries : int
        Label queries per record.
    criterion, label
        As in `ModelThresholdAttack`.

    Attributes
    ----------
    failed_ : ndarray of bool
        Of the records scored last: whose boundary was not found, because no record of another
        predicted class is known. They get the median score, and a warning counts them.
    """

    def __init__(
        self,
        method: str = "boundary",
        max_queries: int = 250,
        *,
        criterion: Any = "accuracy",
        label: str | None = None,
    ) -> None:
        self.needs = ModelNeeds(Access.LABELS)
        super().__init__(criterion, label=label)
        self.method = check_choice(method, "method", ("boundary", "noise"))
        self.max_queries = check_count(max_queries, "max_queries", minimum=1 + len(SCALES))
        if self.method == "noise":
            self.needs = ModelNeeds(Access.LABELS)
        self._combiner: Any = None
        self._middle = 0.0
        self.failed_ = np.zeros(0, dtype=bool)

    def _default_label(self) -> str:
        return f"LabelOnlyMIA({self.method}, {self.max_queries} queries)"

    @property
    def observation_key(self) -> Hashable:
        """The same for all attacks that walk in the same way."""
        return type(self), self.method, self.max_queries

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Whether each record is classified right; then its distance, or its robustness."""
        model, targets, encoding = release.data, briefing.targets, briefing.encoding
        codes = model.codes_of(targets.y)
        predicted = model.predict_codes(targets.X)
        right = predicted == codes
        points = encoding.encode(targets.X)

        def ask(some: np.ndarray) -> np.ndarray:
            return model.predict_codes(encoding.decode(some))

        if self.method == "noise":
            draws = (self.max_queries - 1) // len(SCALES)
            shares = np.zeros((len(points), len(SCALES)))
            shares[right] = noise_robustness(
                ask, points[right], codes[right], encoding, draws, rng=rng
            )
            return np.column_stack([right, shares])
        starts = self._starts(model, briefing, points, predicted, right)
        found = np.flatnonzero(starts[0] >= 0)
        walked = right.nonzero()[0][found]
        distances = np.where(right, np.nan, 0.0)
        distances[walked] = boundary_distances(
            ask,
            points[walked],
            predicted[walked],
            starts[1][starts[0][found]],
            WalkPlan.within(self.max_queries - 1),
            lambda some: encoding.encode(encoding.decode(some)),
            rng=rng,
        )
        return np.column_stack([right, distances])

    def _starts(
        self,
        model: Any,
        briefing: Any,
        points: np.ndarray,
        predicted: np.ndarray,
        right: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """For each record that is classified right, a pool point of another predicted class."""
        pool, pool_codes = points, predicted
        held = briefing.auxiliary
        if held is not None and len(points) < POOL_RECORDS:
            more = held.take(np.arange(min(len(held), POOL_RECORDS - len(points))))
            pool = np.concatenate([points, briefing.encoding.encode(more.X)])
            pool_codes = np.concatenate([predicted, model.predict_codes(more.X)])
        return nearest_elsewhere(points[right], predicted[right], pool, pool_codes), pool

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Choose the threshold, and for noise the weight of each strength."""
        if self.method == "noise":
            from sklearn.linear_model import LogisticRegression

            members = np.asarray(secrets, dtype=bool)
            self._check_both_kinds(members)
            inputs = observations.reshape(-1, observations.shape[-1])
            self._combiner = LogisticRegression(max_iter=500).fit(inputs, members.ravel())
        else:
            known = observations[..., 1][observations[..., 0] > 0]
            finite = known[np.isfinite(known)]
            self._middle = float(np.median(finite)) if len(finite) else 0.0
        self._choose_threshold(self._scored(observations)[0], secrets)
        return self

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Distance, or fitted probability; records that could not be walked count as middling."""
        scores, self.failed_ = self._scored(observations)
        if self.failed_.any():
            warnings.warn(
                f"{int(self.failed_.sum())} of {self.failed_.size} records are classified right "
                f"and no record of another predicted class is known, so their boundary was not "
                f"found; they are scored as middling (see failed_)",
                TapasWarning,
                stacklevel=3,
            )
        return scores

    def _scored(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.method == "boundary":
            failed = np.isnan(observations[..., 1])
            return np.where(failed, self._middle, observations[..., 1]), failed
        none = np.zeros(observations.shape[:-1], dtype=bool)
        if self._combiner is None:
            return observations.mean(axis=-1), none
        inputs = observations.reshape(-1, observations.shape[-1])
        scores = self._combiner.predict_proba(inputs)[:, 1]
        return scores.reshape(observations.shape[:-1]), none
