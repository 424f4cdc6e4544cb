"""Quantile regression: what would the score be if the record had not been trained on?"""

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._sklearn_models import seeded_clone
from tapas.attacks.models._model_attack import (
    MembershipScorer,
    ModelThresholdAttack,
    model_briefing,
)
from tapas.attacks.models._score_statistics import (
    CLASS,
    NUM_STATISTICS,
    Clip,
    checked_clip,
    chosen_clip,
    logits,
    score_statistics,
)
from tapas.errors import IncompatibleAttackError
from tapas.game import Board, Briefing, Needs, Release
from tapas.models import Access

FEWEST = 20
FOLDS = 3
MOST_ROWS = 10_000  # of either kind: a regression learns little more from more


class Regressor(Protocol):
    """A scikit-learn regressor."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """A number for each row."""


@dataclass(frozen=True, eq=False)
class ResidualScorer(MembershipScorer):
    """Standardised residual of the logit from what a non-member would have.

    Attributes
    ----------
    threshold, clip : float
    mean, spread : Regressor
        Of the logit, and of the logarithm of its deviation.
    """

    clip: float
    mean: Regressor
    spread: Regressor

    def score(self, values: np.ndarray) -> np.ndarray:
        """The residual."""
        inputs = _inputs(values)
        inputs, shape = inputs.reshape(-1, inputs.shape[-1]), values.shape[:-1]
        residuals = logits(values, self.clip) - self.mean.predict(inputs).reshape(shape)
        return residuals / np.exp(self.spread.predict(inputs).reshape(shape))


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

    observation_depends_on: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        regressor: Regressor | None = None,
        *,
        criterion: CriterionLike = "accuracy",
        clip: Clip = "auto",
        label: str | None = None,
    ) -> None:
        super().__init__(criterion, label=label)
        self.regressor = regressor
        self.clip = checked_clip(clip)

    @property
    def needs(self) -> Needs:
        """Scores, and known records or shadow models, whatever fixes the threshold."""
        return Needs("model", ("membership",), access=Access.SCORES, inputs="read")

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Statistics of the probabilities, then the record's inputs as numbers."""
        about = model_briefing(briefing)
        statistics = score_statistics(release.model, about.targets)
        inputs = about.known_encoding.encode(about.targets.X, unknown="ignore")
        return np.concatenate([statistics, inputs], axis=1)

    def fit(self, board: Board, *, rng: np.random.Generator) -> ResidualScorer:
        """Regress on the non-members, then choose the threshold."""
        import threadpoolctl

        known = board.rehearsal
        outside = ~known.secrets.astype(bool).ravel()
        if outside.sum() < FEWEST:
            raise IncompatibleAttackError(
                f"{self.label} regresses on non-members and needs at least {FEWEST} that are not "
                f"judged, got {int(outside.sum())}: give more known records, or use LossMIA"
            )
        clip = chosen_clip(self.clip, known.values)
        rows = known.values.reshape(-1, known.values.shape[-1])
        fitted, inside = (
            rows[rng.permutation(np.flatnonzero(kind))[:MOST_ROWS]] for kind in (outside, ~outside)
        )
        inputs = _inputs(fitted)
        with threadpoolctl.threadpool_limits(1):
            mean, residuals = self._cross_fitted(inputs, logits(fitted, clip), rng)
            spread = seeded_clone(self._regressor(), rng)
            spread.fit(inputs, np.log(np.abs(residuals) + 0.1 * (residuals.std() + 1e-9)))
        scorer = ResidualScorer(np.nan, clip, mean, spread)
        # Residuals of records that were fitted are too small: non-members have those held out.
        scores = [residuals / np.exp(spread.predict(inputs)), scorer.score(inside)]
        members = np.arange(len(fitted) + len(inside)) >= len(fitted)
        return replace(scorer, threshold=self._chosen_threshold(np.concatenate(scores), members))

    def _cross_fitted(
        self, inputs: np.ndarray, values: np.ndarray, rng: np.random.Generator
    ) -> tuple[Regressor, np.ndarray]:
        """The regression on all, and each record's residual from one that did not see it."""
        folds = rng.permutation(len(values)) % FOLDS
        residuals = np.empty(len(values))
        for fold in range(FOLDS):
            held_out = folds == fold
            part = seeded_clone(self._regressor(), rng).fit(inputs[~held_out], values[~held_out])
            residuals[held_out] = values[held_out] - part.predict(inputs[held_out])
        return seeded_clone(self._regressor(), rng).fit(inputs, values), residuals

    def _regressor(self) -> Regressor:
        if self.regressor is not None:
            return self.regressor
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=15, min_samples_leaf=10)


def _inputs(values: np.ndarray) -> np.ndarray:
    """The record's class and inputs."""
    return np.concatenate([values[..., [CLASS]], values[..., NUM_STATISTICS:]], axis=-1)
