"""Membership inference from the density of a release at the target."""

from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._sklearn_models import DensityModel
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._density import DensityEstimator, sklearnDensityEstimator
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.game import Briefing, Kind, Release

__all__ = ["ProbabilityEstimationAttack"]


class ProbabilityEstimationAttack(TrainableThresholdAttack):
    """Membership inference from a density fitted to the synthetic records.

    Idea
        A target in the private data pulls the distribution that synthetic records are drawn from
        towards itself, so that the density of the release at the target is higher.
    Needs
        Releases, to each of which the density is fitted anew; training trials unless the
        threshold is given.
    Score
        ``log p(target)`` with p fitted to the release; minus infinity where the release is empty.
    Reference
        Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
        data", arXiv:2211.06550.

    Parameters
    ----------
    estimator : DensityEstimator or scikit-learn density model
        A model with `fit` and `score_samples` is wrapped in `sklearnDensityEstimator`.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    scale : TabularDataset, optional
        For a scikit-learn model: divide each number and each ordered column by its range in this
        data.
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    observation_depends_on: ClassVar[tuple[str, ...]] = ("estimator",)

    def __init__(
        self,
        estimator: DensityEstimator | DensityModel,
        criterion: CriterionLike,
        label: str | None = None,
        *,
        scale: TabularDataset | None = None,
    ) -> None:
        super().__init__(criterion)
        if not isinstance(estimator, DensityEstimator):
            estimator = sklearnDensityEstimator(estimator, scale=scale)
        elif scale is not None:
            raise ConfigError(
                "scale is for scikit-learn models; a DensityEstimator scales its data itself"
            )
        self.estimator = estimator
        self._label = label or f"ProbabilityEstimation({estimator.label})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Log-density of each target under the release."""
        targets = table_briefing(briefing).targets
        if len(release.table) == 0:
            return np.full(len(targets), -np.inf)
        density = self.estimator.unfitted(rng)
        density.fit(release.table)
        scores = np.asarray(density.score(targets), dtype=float).reshape(len(targets))
        return np.where(np.isnan(scores), -np.inf, scores)
