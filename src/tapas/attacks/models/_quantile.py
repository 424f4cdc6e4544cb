"""Quantile regression: what would the score be if the record had not been trained on?"""

from collections.abc import Hashable
from typing import Any, Self

import numpy as np

from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import ModelThresholdAttack
from tapas.attacks.models._score_statistics import chosen_clip, logits, score_statistics
from tapas.errors import IncompatibleAttackError, NotTrainedError
from tapas.threat_models import Release

STATISTICS = 7
FEWEST = 20
FOLDS = 3
MOST_ROWS = 10_000  # of either kind: a regression learns little more from more


class QuantileMIA(ModelThresholdAttack):
    """Compares the logit with the one that a non-member with the same inputs would have.

    Idea: a regression on non-members predicts the logit from the record itself, so that difficult
    records are calibrated without training a single reference model.

    Needs: scores, one query per record, and non-members that are not judged (known records, or
    the outside records of shadow models).

    Score: (phi(x) - mu(x)) / sigma(x), with mu and sigma fitted on non-members.

    Reference: Bertran, Tang, Kearns, Morgenstern, Roth and Wu (2023).

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Gradient boosting by default.
    criterion, label
        As in `ModelThresholdAttack`.
    clip : float or "auto"
        As in `ReferenceAttack`.
    """

    def __init__(
        self,
        regressor: Any = None,
        *,
        criterion: Any = "accuracy",
        clip: float | str = "auto",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        self.needs = type(self).needs
        self.regressor = regressor
        self._clip = 0.0
        self.clip = clip
        self._fitted: tuple[Any, Any] | None = None

    def observe(self, release: Release, briefing: Any, *, rng: np.random.Generator) -> np.ndarray:
        """Statistics of the probabilities, then the record's inputs as numbers."""
        statistics = score_statistics(release.data, briefing.targets)
        inputs = briefing.encoding.encode(briefing.targets.X, unknown="ignore")
        return np.concatenate([statistics, inputs], axis=1)

    @property
    def observation_key(self) -> Hashable:
        """The same for all attacks of this kind."""
        return type(self)

    def fit(
        self, observations: np.ndarray, secrets: np.ndarray, *, rng: np.random.Generator
    ) -> Self:
        """Regress on the non-members, then choose the threshold."""
        import threadpoolctl

        outside = ~np.asarray(secrets, dtype=bool)
        if outside.sum() < FEWEST:
            raise IncompatibleAttackError(
                f"{self.label} regresses on non-members and needs at least {FEWEST} that are not "
                f"judged, got {int(outside.sum())}: give more known records, or use LossMIA"
            )
        self._clip = chosen_clip(self.clip, observations)
        rows = observations.reshape(-1, observations.shape[-1])
        kinds = (outside.ravel(), ~outside.ravel())
        fitted, inside = (rows[rng.permutation(np.flatnonzero(kind))[:MOST_ROWS]] for kind in kinds)
        inputs, values = self._inputs(fitted), self._logits(fitted)
        with threadpoolctl.threadpool_limits(1):
            mean, residuals = self._cross_fitted(inputs, values, rng)
            spread = seeded_clone(self._regressor(), rng)
            spread.fit(inputs, np.log(np.abs(residuals) + 0.1 * (residuals.std() + 1e-9)))
        self._fitted = mean, spread
        # Residuals of records that were fitted are too small: non-members have those held out.
        scores = [residuals / np.exp(spread.predict(inputs)), self.raw_score(inside[None])[0]]
        members = np.arange(len(fitted) + len(inside)) >= len(fitted)
        self._choose_threshold(np.concatenate(scores), members)
        return self

    def raw_score(self, observations: np.ndarray) -> np.ndarray:
        """Standardised residual of the logit."""
        if self._fitted is None:
            raise NotTrainedError(f"{self.label} has no regression yet: call train() first")
        mean, spread = self._fitted
        inputs = self._inputs(observations).reshape(-1, observations.shape[-1] - STATISTICS + 1)
        shape = observations.shape[:-1]
        residuals = self._logits(observations) - mean.predict(inputs).reshape(shape)
        return residuals / np.exp(spread.predict(inputs).reshape(shape))

    def _cross_fitted(
        self, inputs: np.ndarray, values: np.ndarray, rng: np.random.Generator
    ) -> tuple[Any, np.ndarray]:
        """The regression on all, and each record's residual from one that did not see it."""
        folds = rng.permutation(len(values)) % FOLDS
        residuals = np.empty(len(values))
        for fold in range(FOLDS):
            held_out = folds == fold
            part = seeded_clone(self._regressor(), rng).fit(inputs[~held_out], values[~held_out])
            residuals[held_out] = values[held_out] - part.predict(inputs[held_out])
        return seeded_clone(self._regressor(), rng).fit(inputs, values), residuals

    def _regressor(self) -> Any:
        if self.regressor is not None:
            return self.regressor
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=15, min_samples_leaf=10)

    def _logits(self, observations: np.ndarray) -> np.ndarray:
        return logits(observations, self._clip)

    def _inputs(self, observations: np.ndarray) -> np.ndarray:
        """The record's class and inputs."""
        return np.concatenate([observations[..., :1], observations[..., STATISTICS:]], axis=-1)
