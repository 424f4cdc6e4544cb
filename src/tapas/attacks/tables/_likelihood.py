"""A white-box attack: how likely the fitted mechanism finds the target."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tapas.attacks._base import Attack
from tapas.attacks._masked_targets import table_briefing, with_each_value
from tapas.attacks._shared_discriminant import SharedScorer, learn_shared
from tapas.errors import IncompatibleAttackError
from tapas.game import (
    Board,
    Briefing,
    Needs,
    Release,
    Samples,
    TellsLikelihood,
    ValueObserver,
)

__all__ = ["LikelihoodAttack"]

RIDGE = 0.03


@dataclass(frozen=True, eq=False)
class LikelihoodObserver(ValueObserver):
    """Factors of each target, or of each target with each value."""

    def __call__(
        self, release: Release, briefing: Briefing, *, rng: np.random.Generator
    ) -> np.ndarray:
        about, fitted = table_briefing(briefing), release.mechanism
        if not isinstance(fitted, TellsLikelihood):
            raise IncompatibleAttackError(
                f"LikelihoodAttack asks the fitted mechanism for log_factors(dataset), which "
                f"{type(fitted).__name__} does not have: write it, or use EnsembleAttack"
            )
        if about.attribute is None:
            return with_sum(fitted.log_factors(about.targets))
        found = with_sum(fitted.log_factors(with_each_value(about)))
        return found.reshape(about.num_targets, len(about.attribute_values), -1)


class LikelihoodAttack(Attack):
    """How much likelier the fitted mechanism finds the target than fits without it do.

    Idea
        A mechanism that counts (marginals, networks, copulas) gives a record that it was fitted
        to a little more probability. Somebody who sees the fitted mechanism, and not just what
        it drew, reads this off directly: nothing is lost in sampling.
    Needs
        `WhiteBoxKnowledge` of a generator with ``log_factors(dataset)``, as `BayesianNetwork`,
        `GaussianCopula`, `IndependentMarginals`, `MST`, `NoisyMarginals`, `PrivBayes`,
        `TableDiffusion` (its loss at several sizes of noise) and `TableVAE` have it; training
        trials. It serves many targets of one pool of trials best.
    Score
        A ridge discriminant, shared by all targets, of the log-likelihood of the target and of
        its factors (one per column), each beside its mean in training fits without the target.
    Reference
        Our own; see Neyman and Pearson (1933), and Stadler, Oprisanu and Troncoso (2022) for
        what synthetic data alone shows.

    Parameters
    ----------
    label : str, optional
    """

    pools_targets: ClassVar[bool] = True

    def __init__(self, label: str | None = None) -> None:
        self._label = label or "Likelihood"

    @property
    def needs(self) -> Needs:
        """Fitted mechanisms, and the same targets in several training releases."""
        return Needs(goals=("membership", "attribute"), repeated=True, mechanism=True)

    def observer(self, briefing: Briefing, samples: Samples) -> LikelihoodObserver:
        """The factors of all targets of a release together."""
        return LikelihoodObserver()

    def fit(self, board: Board, *, rng: np.random.Generator) -> SharedScorer:
        """Learn shared weights."""
        return learn_shared(board, RIDGE)


def with_sum(factors: np.ndarray) -> np.ndarray:
    """The factors of each record, and their sum first."""
    factors = np.asarray(factors, dtype=float).reshape(len(factors), -1)
    return np.concatenate([factors.sum(axis=1, keepdims=True), factors], axis=1)
