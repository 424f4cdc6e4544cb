"""What the differentially private generators share: declared cells in, drawn values out."""

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Self

import numpy as np

from tapas._validate import check_count, listing
from tapas.datasets import Dataset, RandomSource, TabularDataset
from tapas.errors import ConfigError, NotTrainedError, TapasWarning
from tapas.generators._accounting import Budget, check_positive
from tapas.generators._base import Generator
from tapas.generators._domain import DEFAULT_BINS, Domain, Limits


class DPGenerator(Generator):
    """A generator whose `fit` is differentially private; `generate` only looks at its result.

    The promise is for *add/remove* neighbours: tables that differ by one record being there or
    not. (Where one record is replaced by another, double epsilon.) Public, and so never taken
    from the records: the schema with its categories, `bounds`, `bins`, `missing`, and the number
    of records asked for, which must not be the private one.

    A subclass writes `_learn` and `_draw`.

    Parameters
    ----------
    epsilon : float
    bounds, bins, missing
        What is declared of the columns: see `NoisyMarginals`.

    Attributes
    ----------
    domain_ : Domain
        Cells of every column.
    budget_ : Budget
        What each step spent.
    """

    relation = "add/remove"
    delta = 0.0

    def __init__(
        self,
        epsilon: float,
        *,
        bounds: Mapping[str, Limits] | None = None,
        bins: int | Mapping[str, int] = DEFAULT_BINS,
        missing: bool | Iterable[str] = True,
    ) -> None:
        super().__init__()
        self.epsilon = check_positive(epsilon, "epsilon")
        self.bounds = dict(bounds or {})
        self.bins = (
            dict(bins) if isinstance(bins, Mapping) else check_count(bins, "bins", minimum=1)
        )
        self.missing = missing if isinstance(missing, bool) else tuple(missing)

    def refuse_table(self, dataset: TabularDataset) -> None:
        """Refuse a table of which something must still be declared; its records are not read."""
        Domain.declared(dataset, bounds=self.bounds, bins=self.bins, missing=self.missing)

    def fit(self, dataset: Dataset, random_state: RandomSource = None, **kwargs: object) -> Self:
        """Spend the whole budget on `dataset`; what an earlier fit learnt is forgotten.

        Parameters
        ----------
        dataset : TabularDataset
        random_state : int, optional
            Seed of the noise. The promise needs it to stay secret.
        """
        if kwargs:
            raise ConfigError(
                f"{self.label} takes its parameters when it is made; fit got {listing(kwargs)}"
            )
        if not isinstance(dataset, TabularDataset):
            raise ConfigError(f"expected a TabularDataset, got {type(dataset).__name__}")
        if dataset.description.explanations:
            warnings.warn(
                f"the schema was inferred from the data, so the categories that {self.label} may "
                f"release come from the data and the stated epsilon does not cover them: declare "
                f"the schema (DataDescription.from_json)",
                TapasWarning,
                stacklevel=2,
            )
        self.trained = False
        rng = np.random.default_rng(random_state)
        domain = Domain.declared(dataset, bounds=self.bounds, bins=self.bins, missing=self.missing)
        self.domain_ = domain
        self.budget_: Budget = self._divide_budget(domain)
        self._learn(domain.cells_of(dataset), rng)
        self._template: TabularDataset = dataset.empty()
        self.trained = True
        return self

    def generate(self, num_samples: int, random_state: RandomSource = None) -> TabularDataset:
        """Draw records from what was learnt; this costs no privacy, however often."""
        if not self.trained:
            raise NotTrainedError(f"no dataset was given to {self.label}: call fit first")
        size = check_count(num_samples, "num_samples")
        rng = np.random.default_rng(random_state)
        return self.domain_.release(self._draw(size, rng), self._template, rng)

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log probability of each column, given those before it, (records, columns)."""
        return self._log_factors(self.domain_.cells_of(dataset)).T

    @abstractmethod
    def _log_factors(self, cells: np.ndarray) -> np.ndarray:
        """The same of cells, (columns, rows)."""

    @abstractmethod
    def _divide_budget(self, domain: Domain) -> Budget:
        """What each step may spend; a function of what is public."""

    @abstractmethod
    def _learn(self, cells: np.ndarray, rng: np.random.Generator) -> None:
        """Measure the private cells (columns, rows), within the budget."""

    @abstractmethod
    def _draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        """Cells (columns, `size`) of synthetic records."""
