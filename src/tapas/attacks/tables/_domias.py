"""Membership inference from where a release is denser than the population."""

from numbers import Real
from typing import ClassVar

import numpy as np

from tapas.attacks._criteria import CriterionLike
from tapas.attacks._masked_targets import table_briefing
from tapas.attacks._threshold import TrainableThresholdAttack
from tapas.attacks.tables._column_values import ColumnValues, log_shares
from tapas.attacks.tables._mixed_kernel import MixedKernel
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError
from tapas.game import Briefing, Kind, Release

__all__ = ["DOMIAS"]


class DOMIAS(TrainableThresholdAttack):
    """Membership inference from the density of a release over that of reference data.

    Idea
        A mechanism that overfits is denser around its training records than the population is.
        Dividing by the density of the population tells a record that was learnt by heart from one
        that is common anyway.
    Needs
        One release and reference data of the same population (the auxiliary data of the
        attacker); known records or training trials unless the threshold is given. 0 is the
        natural one where no column is a number or the bandwidth is given.
    Score
        ``log p_s(target) - log p_ref(target)``; minus infinity where the release is empty. Both
        are kernel densities over all columns at once, with the same bandwidths: Gaussian for
        numbers and ranks, Aitchison and Aitken's for categories, a missing value being a
        category of its own. There is no covariance matrix that could be singular. Where there are
        numbers, equal ones weigh more than near ones, and the score is the logarithm of the mean
        of two ratios: this one, and a product over single columns, of how dense the release is at
        the value to how dense it and the reference together are near it. The second tells where
        a mechanism gives values that the data had, whatever stands beside them.
    Reference
        van Breugel et al. (2023), "Membership inference attacks against synthetic data through
        overfitting detection", AISTATS; the densities are our own.

    Parameters
    ----------
    criterion : str or tuple
        See `TrainableThresholdAttack`.
    bandwidth : float, optional
        Width b of the kernels, above 0 and at most 1: b standard deviations for a number, a share
        of b squared drawn at random for a category. By default half of Scott's rule,
        ``n ** (-1 / (d + 4)) / 2`` for d columns and the smaller of the two tables. Where it is
        given, the score is the ratio of the two kernel densities and nothing else.
    label : str, optional
    """

    goals: ClassVar[tuple[Kind, ...]] = ("membership",)
    needs_auxiliary: ClassVar[bool] = True
    observation_depends_on: ClassVar[tuple[str, ...]] = ("bandwidth",)

    def __init__(
        self,
        criterion: CriterionLike = "accuracy",
        bandwidth: float | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(criterion)
        self.bandwidth = _checked_bandwidth(bandwidth)
        width = "" if bandwidth is None else f"{bandwidth:g}, "
        self._label = label or f"DOMIAS({width}{self.criterion})"

    def observe(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        """Log-ratio of the two densities at each target."""
        about, synthetic = table_briefing(briefing), release.table
        targets, reference = about.targets, about.reference(self.label)
        if len(synthetic) == 0:
            return np.full(len(targets), -np.inf)
        several = self.bandwidth is None and _has_numbers(synthetic)
        kernel = MixedKernel.between(synthetic, reference, self.bandwidth, atoms=several)
        together = kernel.log_density(targets, synthetic) - kernel.log_density(targets, reference)
        if not several:
            return together
        numbers = ColumnValues.between(synthetic, reference)
        shares = log_shares(targets, synthetic) - log_shares(targets, synthetic + reference)
        values = numbers.log_excess(targets, synthetic, reference) + shares.sum(axis=0)
        return np.logaddexp(together, values) - np.log(2)


def _has_numbers(data: TabularDataset) -> bool:
    return any(not column.is_one_hot for column in data.table.columns)


def _checked_bandwidth(bandwidth: float | None) -> float | None:
    if bandwidth is None:
        return None
    number = isinstance(bandwidth, Real) and not isinstance(bandwidth, bool)
    if not number or not 0 < float(bandwidth) <= 1:
        raise ConfigError(f"bandwidth must be above 0 and at most 1, got {bandwidth!r}")
    return float(bandwidth)
