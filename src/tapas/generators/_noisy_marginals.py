"""Independent columns with noisy counts."""

from collections.abc import Iterable, Mapping

import numpy as np

from tapas.generators._accounting import Budget
from tapas.generators._domain import DEFAULT_BINS, Domain, Limits
from tapas.generators._dp_generator import DPGenerator
from tapas.generators._noise import discrete_laplace
from tapas.generators._tables import (
    count_cells,
    draw,
    estimated_rows,
    log_shares,
    projected,
    shares,
)


class NoisyMarginals(DPGenerator):
    """Every column drawn by itself, from a histogram with discrete Laplace noise.

    Epsilon-differentially private for add/remove neighbours: a record adds 1 to one cell of each
    of the d histograms, so all counts together have L1 sensitivity d and noise of scale
    ``d / epsilon`` suffices. What depends on other columns is lost.

    Parameters
    ----------
    epsilon : float
    bounds : mapping, optional
        ``{column: (lowest, highest)}`` for every number, date and datetime column except
        intervals, which are [0, 1]. Values beyond are counted at the bound.
    bins : int or mapping
        How many equal bins a number column is cut into, for all or per column; whole numbers
        never get more bins than values.
    missing : bool or iterable of str
        Columns in which values may be missing: all (True), none, or those named. Where a column
        is not among them, a missing value counts as the first category or bin.

    Attributes
    ----------
    counts_ : list of ndarray
        Noisy counts of every column; the last cell is for missing values.
    marginals_ : list of ndarray
        The probabilities drawn from.
    """

    def __init__(
        self,
        epsilon: float,
        *,
        bounds: Mapping[str, Limits] | None = None,
        bins: int | Mapping[str, int] = DEFAULT_BINS,
        missing: bool | Iterable[str] = True,
    ) -> None:
        super().__init__(epsilon, bounds=bounds, bins=bins, missing=missing)

    @property
    def label(self) -> str:
        """Display name."""
        return f"NoisyMarginals(epsilon={self.epsilon:g})"

    def _divide_budget(self, domain: Domain) -> Budget:
        return Budget.divided(
            "epsilon", self.epsilon, {column.column.name: 1 for column in domain.columns}
        )

    def _learn(self, cells: np.ndarray, rng: np.random.Generator) -> None:
        sizes = self.domain_.sizes
        noise = discrete_laplace(len(sizes) / self.epsilon, sum(sizes), rng)
        exact = [count_cells(cells[i : i + 1], [size]) for i, size in enumerate(sizes)]
        self.counts_ = np.split(np.concatenate(exact) + noise, np.cumsum(sizes)[:-1])
        rows = estimated_rows(self.counts_)
        self.marginals_ = [shares(projected(counts, rows)) for counts in self.counts_]

    def _log_factors(self, cells: np.ndarray) -> np.ndarray:
        rows = estimated_rows(self.counts_)
        pairs = zip(self.marginals_, cells, strict=True)
        return np.stack([log_shares(marginal[cell], rows) for marginal, cell in pairs])

    def _draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.stack([draw(marginal, size, rng) for marginal in self.marginals_])
