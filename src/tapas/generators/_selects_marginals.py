"""Generators that keep some marginals, and what anybody can find out about which these are."""

import copy
import inspect
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tapas._random import integer_seed, seeded_globals, stream
from tapas.datasets import TabularDataset

__all__ = ["MarginalSelection", "Marginals", "SelectsMarginals"]

Marginals = dict[tuple[int, ...], float]


@runtime_checkable
class SelectsMarginals(Protocol):
    """A generator that says which columns it looked at together, once fitted."""

    def fit(self, dataset: TabularDataset) -> object:
        """Learn."""

    def selected_columns(self) -> list[tuple[int, ...]]:
        """Positions of the columns of every marginal that it kept."""


@dataclass(frozen=True)
class MarginalSelection:
    """How a generator chooses marginals: its algorithm, and nothing that it was fitted to.

    Attributes
    ----------
    generator : SelectsMarginals
        Never fitted itself, nor asked what it keeps: copies are.
    """

    generator: SelectsMarginals = field(repr=False)

    def kept_marginals(self, held: TabularDataset, fits: int = 10) -> Marginals:
        """How often each marginal is kept, in fits to random halves of records that are held."""
        counted: Counter[tuple[int, ...]] = Counter()
        for number in range(fits):
            rng = stream(0, number)
            rows = rng.permutation(len(held))[: max(1, len(held) // 2)]
            kept = self._kept_of(held.take(rows), integer_seed(rng))
            counted.update({tuple(sorted(columns)) for columns in kept})
        return {columns: times / fits for columns, times in sorted(counted.items())}

    def _kept_of(self, held: TabularDataset, seed: int) -> list[tuple[int, ...]]:
        fitted = copy.deepcopy(self.generator)
        named = "random_state" in inspect.signature(fitted.fit).parameters
        with warnings.catch_warnings(), seeded_globals(seed):
            warnings.simplefilter("ignore")  # trials say whatever there is to say of a fit
            fitted.fit(held, **({"random_state": seed} if named else {}))
        return fitted.selected_columns()
