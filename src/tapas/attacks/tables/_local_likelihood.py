"""How much likelier the release is near a record, if it was made of that record too."""

from typing import ClassVar

import numpy as np

from tapas._validate import check_count
from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._mixed_kernel import MixedKernel
from tapas.attacks.tables._mixed_space import MixedSpace
from tapas.game import Briefing, Kind, Release

__all__ = ["GenLRA"]


class GenLRA(TrainableThresholdAttack):
    """How much likelier the released records near the target are if it is added to the reference.

    Idea
        A generator that was fitted to a record releases a few more records near it. Whether those
        that lie there are better explained with the record than without is a local likelihood
        ratio.
    Needs
        One release and reference data; known records or training trials unless the threshold is
        given.
    Score
        ``sum over the k nearest released y of log(1 + K(target, y) / sum_r K(r, y))`` over
        reference records r, K being the kernel that `DOMIAS` has for a given bandwidth: the
        log-likelihood ratio of kernel densities with and without the target, up to a constant.
    Reference
        Ward, Wang and Cheng (2025), "Privacy auditing synthetic data release through local
        likelihood attacks", arXiv:2508.21146.

    Parameters
    ----------
    k : int
        How many released records are looked at.
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    needs_auxiliary: ClassVar[bool] = True
    observation_depends_on: ClassVar[tuple[str, ...]] = ("k",)

    def __init__(
        self, k: int = 10, criterion: CriterionLike = "accuracy", label: str | None = None
    ) -> None:
        super().__init__(criterion)
        self.k = check_count(k, "k", minimum=1)
        self._label = label or f"GenLRA({k})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """The local likelihood ratio of each target."""
        about, synthetic = table_briefing(briefing), release.table
        targets, reference = about.targets, about.reference(self.label)
        if len(synthetic) == 0:
            return np.zeros(len(targets))
        kernel = MixedKernel.between(synthetic, reference)
        near = MixedSpace.of(synthetic).nearest(targets, synthetic, min(self.k, len(synthetic)))[1]
        asked, place = np.unique(near, return_inverse=True)
        dense = kernel.log_density(synthetic.take(asked), reference) + np.log(len(reference))
        position = place.reshape(near.shape)
        found = np.zeros(len(targets))
        for column in range(near.shape[1]):
            alike = kernel.log_kernel(targets, synthetic.take(near[:, column]))
            found += np.logaddexp(0.0, alike - dense[position[:, column]])
        return found
