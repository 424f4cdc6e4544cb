"""A Bayesian network of bounded degree on discretised columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tapas._validate import check_count
from tapas.datasets import EncodedTable, TabularDataset
from tapas.errors import ConfigError
from tapas.generators._states import ColumnStates, from_columns, joint_counts, to_states
from tapas.generators._table_generator import TableGenerator
from tapas.generators._tables import log_shares

LARGEST_TABLE = 1_000_000


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """Distribution of one column given its parents.

    Attributes
    ----------
    parents : tuple of str
    sizes : tuple of int
        Number of states of each parent.
    cumulative : ndarray, (parent configurations, states)
        Cumulative probabilities of the column's states.
    """

    parents: tuple[str, ...]
    sizes: tuple[int, ...]
    cumulative: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """Probability of each state (last axis) for each configuration of the parents."""
        return np.diff(self.cumulative, prepend=0.0, axis=1)

    def draw(self, drawn: dict[str, np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
        """A state for each row, given the parents' states."""
        row = _mixed([drawn[name] for name in self.parents], self.sizes, size)
        # One sorted array for all rows: row i's probabilities occupy (i, i + 1].
        steps = (self.cumulative + np.arange(len(self.cumulative))[:, None]).ravel()
        width = self.cumulative.shape[1]
        found = np.searchsorted(steps, row + rng.random(size), side="right") - row * width
        return np.clip(found, 0, width - 1)


class BayesianNetwork(TableGenerator):
    """Draws each column given at most `degree` others.

    Numbers are cut into about equally full bins and drawn uniformly within their bin. Columns
    join the network one at a time: the next is the one with the largest gain from its best
    parents among the columns that have joined, where the gain is the mutual information less the
    number of free parameters over the number of records (as in Akaike's criterion), so that few
    records give few parents.

    Parameters
    ----------
    degree : int
        Most parents of a column; 0 makes columns independent.
    num_bins : int
        Bins of a number column.
    smoothing : float
        Weight, in records, of the column's own distribution within each conditional one.

    Attributes
    ----------
    tables_ : dict of ConditionalTable
        For each column, in the order in which they are drawn.
    states_ : dict of ColumnStates
        What the states of each column stand for.

    References
    ----------
    Chow, Liu (1968), "Approximating discrete probability distributions with dependence trees";
    Zhang, Cormode, Procopiuc, Srivastava, Xiao (2017), "PrivBayes", section 3.
    """

    def __init__(self, degree: int = 2, num_bins: int = 10, smoothing: float = 0.1) -> None:
        super().__init__()
        self.degree = check_count(degree, "degree")
        self.num_bins = check_count(num_bins, "num_bins", minimum=1)
        if not 0 <= smoothing < np.inf:
            raise ConfigError(f"smoothing must be a number of at least 0, got {smoothing!r}")
        self.smoothing = float(smoothing)

    @property
    def label(self) -> str:
        """Display name."""
        return f"BayesianNetwork(degree={self.degree})"

    @property
    def parents_(self) -> dict[str, tuple[str, ...]]:
        """The parents of each column, in the order in which columns are drawn."""
        return {name: table.parents for name, table in self.tables_.items()}

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.schema_ = table.take([])
        spaces, states = to_states(table, self.num_bins)
        names = [column.name for column in table.columns]
        self.states_: dict[str, ColumnStates] = dict(zip(names, spaces, strict=True))
        self.tables_: dict[str, ConditionalTable] = {}
        sizes = [len(space) for space in spaces]
        for child, parents in _grow_network(states, sizes, self.degree):
            cumulative = _conditional(
                states[child],
                _mixed([states[i] for i in parents], [sizes[i] for i in parents], len(table)),
                (int(np.prod([sizes[i] for i in parents], dtype=np.int64)), sizes[child]),
                self.smoothing,
            )
            self.tables_[names[child]] = ConditionalTable(
                tuple(names[i] for i in parents), tuple(sizes[i] for i in parents), cumulative
            )

    def selected_columns(self) -> list[tuple[int, ...]]:
        """Positions of every column with its parents."""
        position = {column.name: place for place, column in enumerate(self.schema_.columns)}
        return [
            tuple(position[one] for one in (*parents, name))
            for name, parents in self.parents_.items()
        ]

    def log_factors(self, dataset: TabularDataset) -> np.ndarray:
        """Log probability of each column given its parents, (records, columns)."""
        table = dataset.table
        states = {name: space.encode(table.column(name)) for name, space in self.states_.items()}
        found = {}
        for name, conditional in self.tables_.items():
            parents = [states[parent] for parent in conditional.parents]
            known = np.all([states[name] >= 0, *(parent >= 0 for parent in parents)], axis=0)
            row = _mixed(
                [np.maximum(parent, 0) for parent in parents], conditional.sizes, len(table)
            )
            shares = conditional.probabilities[row, states[name]]
            found[name] = log_shares(np.where(known, shares, 0.0), self.num_records_)
        return np.stack([found[column.name] for column in table.columns], axis=1)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        drawn: dict[str, np.ndarray] = {}
        for name, table in self.tables_.items():
            drawn[name] = table.draw(drawn, num_samples, rng)
        values = [
            self.states_[column.name].decode(drawn[column.name], rng)
            for column in self.schema_.columns
        ]
        return from_columns(self.schema_, values, num_samples)


def _mixed(states: Sequence[np.ndarray], sizes: Sequence[int], rows: int) -> np.ndarray:
    """Number of the joint configuration of several columns."""
    joint = np.zeros(rows, dtype=np.int64)
    for column, size in zip(states, sizes, strict=True):
        joint = joint * size + column
    return joint


def _conditional(
    child: np.ndarray, parents: np.ndarray, shape: tuple[int, int], smoothing: float
) -> np.ndarray:
    """Cumulative distribution of the child's states for each configuration of the parents."""
    counts = joint_counts(parents, child, shape).astype(np.float64)
    marginal = np.bincount(child, minlength=shape[1]) / len(child)
    counts += smoothing * marginal
    empty = counts.sum(axis=1) == 0
    counts[empty] = marginal
    cumulative = np.cumsum(counts, axis=1)
    return cumulative / cumulative[:, -1:]


def _grow_network(
    states: list[np.ndarray], sizes: list[int], degree: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each column with its parents, in an order in which parents come first."""
    entropies = [_entropy(np.bincount(column)) for column in states]
    newest = int(np.argmax(entropies))
    chosen: list[int] = []
    best: dict[int, tuple[float, tuple[int, ...]]] = {
        i: (0.0, ()) for i in range(len(states)) if i != newest
    }
    yield newest, ()
    while best:
        for others in _subsets(chosen, degree - 1):
            _offer((*others, newest), states, sizes, entropies, best)
        chosen.append(newest)
        newest = max(best, key=lambda i: (best[i][0], entropies[i], -i))
        yield newest, best.pop(newest)[1]


def _subsets(items: list[int], largest: int) -> Iterator[tuple[int, ...]]:
    for size in range(largest + 1):
        yield from combinations(items, size)


def _offer(
    parents: tuple[int, ...],
    states: list[np.ndarray],
    sizes: list[int],
    entropies: list[float],
    best: dict[int, tuple[float, tuple[int, ...]]],
) -> None:
    """Let every column still to join take these parents if it gains from them."""
    rows = len(states[0])
    width = int(np.prod([sizes[i] for i in parents], dtype=np.int64))
    if width > LARGEST_TABLE:
        return
    joint = _mixed([states[i] for i in parents], [sizes[i] for i in parents], rows)
    counts = np.bincount(joint, minlength=width)
    parent_entropy, configurations = _entropy(counts), np.count_nonzero(counts)
    for child, (gain, _) in best.items():
        free = (sizes[child] - 1) * (configurations - 1)
        most = min(entropies[child], parent_entropy) - free / rows
        if most <= gain or width * sizes[child] > LARGEST_TABLE:
            continue
        both = np.bincount(joint * sizes[child] + states[child])
        information = entropies[child] + parent_entropy - _entropy(both)
        if information - free / rows > gain:
            best[child] = (information - free / rows, parents)


def _entropy(counts: np.ndarray) -> float:
    """Entropy, in nats, of the distribution that the counts show."""
    occupied = counts[counts > 0]
    total = occupied.sum()
    return float(np.log(total) - occupied @ np.log(occupied) / total)
