"""A tree of columns with noisy two-way tables."""

from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from tapas._validate import check_count, check_probability
from tapas.generators._accounting import (
    Budget,
    exponential_epsilon,
    gaussian_variance,
    rho_from_epsilon,
)
from tapas.generators._domain import DEFAULT_BINS, Domain, Limits
from tapas.generators._dp_generator import DPGenerator
from tapas.generators._noise import discrete_gaussian, exponential_mechanism
from tapas.generators._tables import (
    count_cells,
    draw,
    draw_given,
    estimated_rows,
    log_shares,
    projected,
    shares,
)
from tapas.generators._tree import consistent_marginals, fit_to_marginals, walk

Edge = tuple[int, int]


class MST(DPGenerator):
    """Columns drawn along a maximum spanning tree of noisy dependences.

    (epsilon, delta)-differentially private for add/remove neighbours, by zero-concentrated
    accounting: the largest rho that implies (epsilon, delta) is divided in three equal parts.

    1. *One-way counts* of all d columns, discrete Gaussian noise of variance ``d / (2 rho_1)``
       (a record changes d cells by 1: L2 sensitivity ``sqrt(d)``).
    2. *Tree.* The dependence of two columns is the L1 distance between their table and what the
       noisy one-way counts predict if they were independent; a record changes it by at most 1.
       Each edge is chosen by an exponential mechanism with ``epsilon_i = sqrt(8 rho_2 / edges)``
       among the pairs that still join two parts of the forest.
    3. *Two-way counts* of the tree's edges, variance ``edges / (2 rho_3)``.

    The counts are then made consistent (weighted averages for columns, proportional fitting for
    edges) and records are drawn from the root down.

    Parameters
    ----------
    epsilon : float
    delta : float
        Strictly between 0 and 1; take it far below one over the number of records.
    max_cells : int
        Pairs with a larger table are never joined.
    bounds, bins, missing
        What is declared of the columns: see `NoisyMarginals`.

    Attributes
    ----------
    rho_ : float
        The whole budget, as zCDP.
    one_way_counts_, two_way_counts_ : list of ndarray, dict of ndarray
        Noisy counts, the second by edge.
    edges_ : list of (int, int)
        The tree, as pairs of column positions.
    marginals_, tables_ : list of ndarray, dict of ndarray
        What the counts became: consistent probabilities.

    References
    ----------
    McKenna, Miklau and Sheldon (2021), "Winning the NIST contest: a scalable and general approach
    to differentially private synthetic data", arXiv:2108.04978.
    """

    def __init__(
        self,
        epsilon: float,
        delta: float = 1e-6,
        *,
        max_cells: int = 100_000,
        bounds: Mapping[str, Limits] | None = None,
        bins: int | Mapping[str, int] = DEFAULT_BINS,
        missing: bool | Iterable[str] = True,
    ) -> None:
        super().__init__(epsilon, bounds=bounds, bins=bins, missing=missing)
        self.delta = check_probability(delta, "delta", open_interval=True)
        self.max_cells = check_count(max_cells, "max_cells", minimum=1)

    @property
    def label(self) -> str:
        """Display name."""
        return f"MST(epsilon={self.epsilon:g}, delta={self.delta:g})"

    def _divide_budget(self, domain: Domain) -> Budget:
        self.rho_ = rho_from_epsilon(self.epsilon, self.delta)
        self._pairs = self._allowed_pairs(domain.sizes)
        steps = ("one-way counts", "tree", "two-way counts") if self._pairs else ("one-way counts",)
        return Budget.divided("rho", self.rho_, dict.fromkeys(steps, 1))

    def _allowed_pairs(self, sizes: tuple[int, ...]) -> list[Edge]:
        pairs = combinations(range(len(sizes)), 2)
        return [(i, j) for i, j in pairs if sizes[i] * sizes[j] <= self.max_cells]

    def _learn(self, cells: np.ndarray, rng: np.random.Generator) -> None:
        sizes = self.domain_.sizes
        one_way = self._measure_columns(cells, rng)
        self.edges_ = self._choose_tree(cells, one_way, rng) if self._pairs else []
        spread = self._measure_edges(cells, rng)
        variances = (gaussian_variance(self.budget_.of("one-way counts"), len(sizes)), spread)
        self.marginals_ = consistent_marginals(
            self.one_way_counts_, self.two_way_counts_, variances
        )
        self.tables_ = {
            (i, j): fit_to_marginals(counts, self.marginals_[i], self.marginals_[j])
            for (i, j), counts in self.two_way_counts_.items()
        }

    def selected_columns(self) -> list[tuple[int, ...]]:
        """Positions of the columns of every marginal that was measured."""
        return [*((column,) for column in range(len(self.marginals_))), *self.edges_]

    def _log_factors(self, cells: np.ndarray) -> np.ndarray:
        rows = estimated_rows(self.one_way_counts_)
        found = np.empty(cells.shape)
        for column, parent in walk(len(self.marginals_), self.edges_):
            if parent is None:
                share = self.marginals_[column][cells[column]]
            else:
                edge = (min(column, parent), max(column, parent))
                table = self.tables_[edge] if parent < column else self.tables_[edge].T
                share = shares(table)[cells[parent], cells[column]]
            found[column] = log_shares(share, rows)
        return found

    def _draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        cells = np.zeros((len(self.marginals_), size), dtype=np.int64)
        for column, parent in walk(len(self.marginals_), self.edges_):
            if parent is None:
                cells[column] = draw(self.marginals_[column], size, rng)
                continue
            edge = (min(column, parent), max(column, parent))
            table = self.tables_[edge] if parent < column else self.tables_[edge].T
            cells[column] = draw_given(shares(table), cells[parent], rng)
        return cells

    # -- the three steps ---------------------------------------------------------------------

    def _measure_columns(self, cells: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
        """Noisy one-way counts; returned as estimates of the true ones."""
        sizes = self.domain_.sizes
        variance = gaussian_variance(self.budget_.of("one-way counts"), len(sizes))
        noise = discrete_gaussian(variance, sum(sizes), rng)
        exact = [count_cells(cells[i : i + 1], [size]) for i, size in enumerate(sizes)]
        self.one_way_counts_ = np.split(np.concatenate(exact) + noise, np.cumsum(sizes)[:-1])
        rows = estimated_rows(self.one_way_counts_)
        return [projected(counts, rows) for counts in self.one_way_counts_]

    def _choose_tree(
        self, cells: np.ndarray, one_way: list[np.ndarray], rng: np.random.Generator
    ) -> list[Edge]:
        """Kruskal's algorithm with a private choice of each edge."""
        scores = np.array([self._dependence(cells, one_way, pair) for pair in self._pairs])
        part = np.arange(len(one_way))
        open_pairs = np.array(self._pairs)
        per_edge = exponential_epsilon(self.budget_.of("tree") / self._num_edges())
        edges: list[Edge] = []
        while True:
            joins = part[open_pairs[:, 0]] != part[open_pairs[:, 1]]
            open_pairs, scores = open_pairs[joins], scores[joins]
            if len(scores) == 0:
                return edges
            i, j = open_pairs[exponential_mechanism(scores, per_edge, 1, rng)]
            part[part == part[i]] = part[j]
            edges.append((int(i), int(j)))

    def _num_edges(self) -> int:
        """Edges of a spanning forest of the allowed pairs: known from the schema."""
        part = np.arange(len(self.domain_.sizes))
        for i, j in self._pairs:
            part[part == part[i]] = part[j]
        return len(part) - len(np.unique(part))

    def _dependence(self, cells: np.ndarray, one_way: list[np.ndarray], pair: Edge) -> int:
        """L1 distance between a pair's counts and their independent prediction, in records."""
        i, j = pair
        rows = max(float(one_way[i].sum()), 1.0)
        # Rounded, so that the distance is a whole number of records and one record moves it by 1.
        expected = np.rint(np.outer(one_way[i], one_way[j]) / rows).astype(np.int64)
        exact = count_cells(cells[[i, j]], expected.shape)
        return int(np.abs(exact - expected).sum())

    def _measure_edges(self, cells: np.ndarray, rng: np.random.Generator) -> float:
        """Noisy two-way counts of the tree; returns the variance of their noise."""
        self.two_way_counts_: dict[Edge, np.ndarray] = {}
        if not self.edges_:
            return 0.0
        variance = gaussian_variance(self.budget_.of("two-way counts"), len(self.edges_))
        for edge in self.edges_:
            exact = count_cells(cells[list(edge)], [self.domain_.sizes[i] for i in edge])
            noise = discrete_gaussian(variance, exact.size, rng)
            self.two_way_counts_[edge] = exact + noise.reshape(exact.shape)
        return variance
