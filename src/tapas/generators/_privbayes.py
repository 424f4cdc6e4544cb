"""A Bayesian network whose structure and tables are both private."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tapas._validate import check_count
from tapas.generators._accounting import Budget, check_positive
from tapas.generators._domain import DEFAULT_BINS, Domain, Limits
from tapas.generators._dp_generator import DPGenerator
from tapas.generators._noise import discrete_laplace, exponential_mechanism
from tapas.generators._tables import (
    count_cells,
    draw_given,
    estimated_rows,
    joint_cells,
    log_shares,
    projected,
    shares,
)

# One record changes the score by less than 2, hence its integer part by at most 2.
SCORE_SENSITIVITY = 2
WEIGHTS = {"number of records": 0.05, "structure": 0.35, "tables": 0.6}


@dataclass(frozen=True)
class Node:
    """One column of the network and the columns it is drawn from, by position."""

    column: int
    parents: tuple[int, ...]


class PrivBayes(DPGenerator):
    """Columns drawn one after another, each from a noisy table given a few earlier ones.

    Epsilon-differentially private for add/remove neighbours. The budget is divided among a noisy
    number of records, which decides how large a table is still worth its noise (5 %), the choice
    of each column with its parents by the exponential mechanism (35 %, in equal parts), and the
    d contingency tables with discrete Laplace noise of scale ``d / share`` (60 %).

    A column x with parents p scores ``1/2 sum |c(x,p) - c(x) c(p) / n|``, which is n times the
    total-variation distance from independence. Adding a record to a table of n multiplies out to
    a change of at most ``2 n / (n + 1)`` < 2, whatever n, while mutual information has a
    sensitivity that depends on the (private) n and grows with its logarithm.

    Parameters
    ----------
    epsilon : float
    degree : int
        Most parents of a column.
    usefulness : float
        A table is considered if its expected count per cell is at least this many times the scale
        of its noise.
    max_candidates : int
        Most (column, parents) pairs that one choice is made from; a random part if there are more.
    bounds, bins, missing
        What is declared of the columns: see `NoisyMarginals`.

    Attributes
    ----------
    network_ : list of Node
    counts_ : list of ndarray
        Noisy table of each node, parents first; in the order of the network.
    conditionals_ : list of ndarray
        Probabilities of the column's cells, one row per combination of parents.

    References
    ----------
    Zhang, Cormode, Procopiuc, Srivastava and Xiao (2017), "PrivBayes: private data release via
    Bayesian networks", ACM TODS 42(4).
    """

    def __init__(
        self,
        epsilon: float,
        degree: int = 2,
        *,
        usefulness: float = 2.0,
        max_candidates: int = 2_000,
        bounds: Mapping[str, Limits] | None = None,
        bins: int | Mapping[str, int] = DEFAULT_BINS,
        missing: bool | Iterable[str] = True,
    ) -> None:
        super().__init__(epsilon, bounds=bounds, bins=bins, missing=missing)
        self.degree = check_count(degree, "degree")
        self.usefulness = check_positive(usefulness, "usefulness")
        self.max_candidates = check_count(max_candidates, "max_candidates", minimum=1)

    @property
    def label(self) -> str:
        """Display name."""
        return f"PrivBayes(epsilon={self.epsilon:g}, degree={self.degree})"

    def _divide_budget(self, domain: Domain) -> Budget:
        choices = len(domain.columns) > 1 and self.degree > 0
        weights = WEIGHTS if choices else {"tables": 1.0}
        return Budget.divided("epsilon", self.epsilon, weights)

    def _learn(self, cells: np.ndarray, rng: np.random.Generator) -> None:
        sizes = self.domain_.sizes
        self.network_ = self._choose_network(cells, rng)
        scale = len(sizes) / self.budget_.of("tables")
        self.counts_ = []
        for node in self.network_:
            columns = [*node.parents, node.column]
            exact = count_cells(cells[columns], [sizes[i] for i in columns])
            noise = discrete_laplace(scale, exact.size, rng)
            self.counts_.append(exact + noise.reshape(exact.shape))
        rows = estimated_rows(self.counts_)
        self.conditionals_ = [_conditional(projected(counts, rows)) for counts in self.counts_]

    def selected_columns(self) -> list[tuple[int, ...]]:
        """Positions of every column with its parents."""
        return [(*node.parents, node.column) for node in self.network_]

    def _log_factors(self, cells: np.ndarray) -> np.ndarray:
        sizes, rows = self.domain_.sizes, estimated_rows(self.counts_)
        found = np.empty(cells.shape)
        for node, conditional in zip(self.network_, self.conditionals_, strict=True):
            parents = list(node.parents)
            given = joint_cells(cells[parents], [sizes[i] for i in parents])
            found[node.column] = log_shares(conditional[given, cells[node.column]], rows)
        return found

    def _draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        sizes = self.domain_.sizes
        cells = np.zeros((len(sizes), size), dtype=np.int64)
        for node, conditional in zip(self.network_, self.conditionals_, strict=True):
            parents = list(node.parents)
            given = joint_cells(cells[parents], [sizes[i] for i in parents])
            cells[node.column] = draw_given(conditional, given, rng)
        return cells

    # -- structure ---------------------------------------------------------------------------

    def _choose_network(self, cells: np.ndarray, rng: np.random.Generator) -> list[Node]:
        columns = range(len(self.domain_.sizes))
        if len(columns) == 1 or self.degree == 0:
            return [Node(column, ()) for column in columns]
        rows = cells.shape[1] + int(
            discrete_laplace(1 / self.budget_.of("number of records"), 1, rng)[0]
        )
        tables = self.budget_.of("tables")
        largest = rows / (self.usefulness * len(columns) / tables)
        per_choice = self.budget_.of("structure") / (len(columns) - 1)
        scores: dict[Node, int] = {}
        network = [Node(int(rng.integers(len(columns))), ())]
        while len(network) < len(columns):
            candidates = self._candidates([node.column for node in network], largest, rng)
            for node in candidates:
                if node not in scores:
                    scores[node] = self._score(cells, node)
            values = np.array([scores[node] for node in candidates])
            network.append(
                candidates[exponential_mechanism(values, per_choice, SCORE_SENSITIVITY, rng)]
            )
        return network

    def _candidates(
        self, chosen: list[int], largest: float, rng: np.random.Generator
    ) -> list[Node]:
        """Columns not yet chosen, with parents among those chosen and a table of useful size."""
        sizes = self.domain_.sizes
        remaining = [column for column in range(len(sizes)) if column not in chosen]
        found = [Node(column, ()) for column in remaining]
        for count in range(1, min(self.degree, len(chosen)) + 1):
            for parents in combinations(sorted(chosen), count):
                above = float(np.prod([sizes[i] for i in parents], dtype=float))
                found += [Node(x, parents) for x in remaining if above * sizes[x] <= largest]
        if len(found) > self.max_candidates:
            kept = rng.choice(len(found), self.max_candidates, replace=False)
            found = [found[i] for i in np.sort(kept)]
        return found

    def _score(self, cells: np.ndarray, node: Node) -> int:
        """Distance from independence in records, rounded down."""
        if not node.parents or cells.shape[1] == 0:
            return 0
        sizes = self.domain_.sizes
        columns = [*node.parents, node.column]
        joint = count_cells(cells[columns], [sizes[i] for i in columns])
        table = joint.reshape(-1, sizes[node.column])
        rows = cells.shape[1]
        # Whole numbers all the way: n times twice the score.
        scaled = np.abs(table * rows - np.outer(table.sum(axis=1), table.sum(axis=0))).sum()
        return int(scaled) // (2 * rows)


def _conditional(counts: np.ndarray) -> np.ndarray:
    """Shares of the last axis, one row for each combination of the others.

    A combination that nobody seems to have is drawn as everybody is.
    """
    table = counts.reshape(-1, counts.shape[-1])
    return shares(table, shares(table.sum(axis=0)))
