"""Sequential trees: each column is drawn from the leaf that the columns before it lead to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapas._random import integer_seed
from tapas._validate import check_count, listing
from tapas.datasets import EncodedTable
from tapas.errors import ConfigError
from tapas.generators._states import ColumnStates, association_order, from_columns, to_states
from tapas.generators._table_generator import TableGenerator

BINS_FOR_ORDERING = 10


@dataclass(frozen=True, eq=False)
class ColumnTree:
    """How one column is drawn.

    Attributes
    ----------
    tree : scikit-learn tree or None
        Leads from the columns drawn before to a leaf; None for the first column.
    orders : list of ndarray
        For each column drawn before, the place of each of its states on the tree's scale.
    donors : ndarray
        Values of the column, leaf by leaf.
    starts, counts : ndarray
        Where the donors of each leaf start, and how many they are.
    """

    tree: Any
    orders: list[np.ndarray]
    donors: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    def draw(self, before: Sequence[np.ndarray], size: int, rng: np.random.Generator) -> np.ndarray:
        """A donor's value for each row, given the places of the columns drawn before."""
        leaves: Any = 0
        if self.tree is not None and size > 0:
            leaves = self.tree.apply(_features(self.orders, before))
        chosen = self.starts[leaves] + np.floor(rng.random(size) * self.counts[leaves])
        return self.donors[chosen.astype(np.intp)]


class CartSynthesizer(TableGenerator):
    """Draws columns one after another, each given those before it, by classification trees.

    For every column a tree is grown on the columns before it; a new record falls into a leaf and
    takes the value of a private record in that leaf. Categories without a declared order enter a
    tree in the order that shows most of their tie to the column being drawn. Numbers enter as
    ranks. Missing is a value like others.

    Parameters
    ----------
    min_leaf : int
        Fewest private records in a leaf: the smaller, the closer to a copy.
    order : sequence of str, optional
        Names of all columns, in the order in which they are drawn; the schema's by default.

    Attributes
    ----------
    trees_ : dict of ColumnTree
        For each column, in the order in which they are drawn.

    References
    ----------
    Reiter (2005), "Using CART to generate partially synthetic public use microdata"; Nowok, Raab,
    Dibben (2016), "synthpop: bespoke creation of synthetic data in R".
    """

    def __init__(self, min_leaf: int = 5, order: Sequence[str] | None = None) -> None:
        super().__init__()
        self.min_leaf = check_count(min_leaf, "min_leaf", minimum=1)
        self.order = None if order is None else tuple(order)

    @property
    def label(self) -> str:
        """Display name."""
        return f"CartSynthesizer(min_leaf={self.min_leaf})"

    def _learn(self, table: EncodedTable, rng: np.random.Generator) -> None:
        self.schema_ = table.take([])
        self.trees_: dict[str, ColumnTree] = {}
        self.scales_: dict[str, np.ndarray] = {}
        spaces, states = to_states(table, BINS_FOR_ORDERING)
        names = [column.name for column in table.columns]
        visited: list[int] = []
        places: list[np.ndarray] = []
        for name in self._visit_order(names):
            position = names.index(name)
            values = table.column(name)
            orders = [_order(spaces[i], states[i], spaces[position], states[position])
                      for i in visited]  # fmt: skip
            self.trees_[name] = self._grow(orders, places, values, spaces[position], rng)
            self.scales_[name] = _scale(spaces[position], values)
            visited.append(position)
            places.append(_place(self.scales_[name], values))

    def _visit_order(self, names: list[str]) -> Sequence[str]:
        if self.order is None:
            return names
        if sorted(self.order) != sorted(names):
            raise ConfigError(
                f"order must name each column once ({listing(names)}), got {listing(self.order)}"
            )
        return self.order

    def _grow(
        self,
        orders: list[np.ndarray],
        before: list[np.ndarray],
        values: np.ndarray,
        space: ColumnStates,
        rng: np.random.Generator,
    ) -> ColumnTree:
        seed = integer_seed(rng)
        tree, leaves = None, np.zeros(len(values), dtype=np.intp)
        if before and len(space) > 1:
            features = _features(orders, before)
            tree = _make_tree(space, self.min_leaf, seed)
            tree.fit(features, _response(space, values))
            leaves = tree.apply(features)
        counts = np.bincount(leaves)
        starts = np.cumsum(counts) - counts
        return ColumnTree(tree, orders, values[np.argsort(leaves, kind="stable")], starts, counts)

    def _draw(self, num_samples: int, rng: np.random.Generator) -> EncodedTable:
        drawn: dict[str, np.ndarray] = {}
        places: list[np.ndarray] = []
        for name, tree in self.trees_.items():
            drawn[name] = tree.draw(places, num_samples, rng)
            places.append(_place(self.scales_[name], drawn[name]))
        values = [drawn[column.name] for column in self.schema_.columns]
        return from_columns(self.schema_, values, num_samples)


def _make_tree(space: ColumnStates, min_leaf: int, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if space.column.is_coded else DecisionTreeRegressor
    return kind(min_samples_leaf=min_leaf, random_state=seed)


def _response(space: ColumnStates, values: np.ndarray) -> np.ndarray:
    """What the tree explains: the code; or the number's rank beside whether it is missing."""
    if space.column.is_coded:
        return values
    missing = np.isnan(values)
    distinct, ranks = np.unique(values[~missing], return_inverse=True)
    # Ranks keep splits from chasing a few large values; both outputs weigh the same.
    scaled = np.full(len(values), 0.5)
    scaled[~missing] = ranks / max(len(distinct) - 1, 1)
    if not missing.any():
        return scaled
    scaled[missing] = np.mean(scaled[~missing]) if len(distinct) else 0.5
    spread = np.std(scaled) or 1.0
    return np.stack([scaled / spread, missing / (np.std(missing) or 1.0)], axis=1)


def _scale(space: ColumnStates, values: np.ndarray) -> np.ndarray:
    """The sorted levels or numbers among which a value's place is found."""
    return space.levels if space.column.is_coded else np.unique(values[~np.isnan(values)])


def _place(scale: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Place of each value on the scale; -1 for a missing number."""
    return np.where(np.isnan(values), -1, np.searchsorted(scale, values))


def _order(
    predictor: ColumnStates, states: np.ndarray, response: ColumnStates, answers: np.ndarray
) -> np.ndarray:
    """Where on the tree's scale each state of the predictor lies; empty where it stays."""
    if predictor.column.kind != "category" or len(predictor) < 3:
        return np.empty(0)
    order = association_order(states, len(predictor), [answers], [len(response)])
    return np.argsort(order)


def _features(orders: Sequence[np.ndarray], places: Sequence[np.ndarray]) -> np.ndarray:
    columns = [
        order[place] if len(order) else place for order, place in zip(orders, places, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.float32)
