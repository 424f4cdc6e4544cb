"""Counts of records that agree with the target on some of its attributes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice
from math import comb
from typing import Self

import numpy as np

from tapas._random import resolve_seed, stream
from tapas._validate import check_count, listing
from tapas.attacks._masked_targets import rows_with_value
from tapas.attacks.features._agreements import (
    CONTINUOUS,
    agreeing,
    bits_of,
    packed,
)
from tapas.attacks.features._column_ranges import ColumnRanges
from tapas.attacks.features._conjunctions import count_conjunctions
from tapas.attacks.features._set_features import LearningFeature
from tapas.datasets import Dataset, TabularDataset
from tapas.errors import ConfigError, SchemaError
from tapas.game import Briefing, TableBriefing

__all__ = ["RandomTargetedQueryFeature", "count_together"]

NUMBERS_AT_ONCE = 1 << 22
# Below this many subsets per query wanted, all subsets are listed and some of them chosen.
SUBSETS_WORTH_LISTING = 4


@dataclass(frozen=True)
class RandomTargetedQueryFeature(LearningFeature):
    """How many records agree with the target on each of several random subsets of columns.

    Records agree on a finite or countable column if they have the same value (missing equals
    missing). On a continuous one they agree if they are at most, or if they are at least, the
    target's value, whichever was drawn for that query. Subsets are all different.

    In attribute inference, subsets are of the other columns, and the records that agree are
    counted for each value that the attribute may take: all queries for the first value, then all
    for the second, and so on. What the target's record says about the attribute is never read.

    Parameters
    ----------
    target : TabularRecord or None
        None takes the targets of the threat model that an attack is trained on, all at once.
    order : int
        Size of the subsets.
    number : int
        How many subsets; all there are, if these are fewer.
    num_bins : int, optional
        Numbers agree instead if they are in the same of this many equal bins, whose outer ones
        are open. Ranges are learnt as those of ``HistSetFeature(bounds="data")``.
    seed : int, optional
        Subsets follow from it; drawn, and kept in `seed`, if None.
    columns : sequence of str, optional
        Ask about these columns only.

    Attributes
    ----------
    target_values : ndarray or None
        Values of the target, in schema order.
    queries : list of tuple of int, or None
        Columns (by position) of each query on a table like the target's.

    References
    ----------
    Houssiau et al. (2022), "TAPAS: a toolbox for adversarial privacy auditing of synthetic
    data", arXiv:2211.06550.
    """

    target: TabularDataset | None
    order: int
    number: int
    num_bins: int | None = None
    seed: int | None = None
    columns: tuple[str, ...] | None = None
    ranges: ColumnRanges | None = None

    def __post_init__(self) -> None:
        check_count(self.order, "order", minimum=1)
        check_count(self.number, "number", minimum=1)
        if self.num_bins is not None:
            check_count(self.num_bins, "num_bins", minimum=1)
        object.__setattr__(self, "seed", resolve_seed(self.seed))
        if self.columns is not None:
            names = (self.columns,) if isinstance(self.columns, str) else tuple(self.columns)
            object.__setattr__(self, "columns", names)
        if self.target is not None:
            if not isinstance(self.target, TabularDataset) or len(self.target) != 1:
                raise ConfigError(
                    f"target must be a TabularRecord (one row), or None for the targets of the "
                    f"threat model, got {self.target!r}"
                )
            self._plan(self.target, None)

    @property
    def learns(self) -> bool:
        """Whether the ranges of bins are still to be learnt."""
        return self.num_bins is not None and self.ranges is None

    @property
    def queries(self) -> list[tuple[int, ...]] | None:
        """Columns (by position) of each query on a table like the target's."""
        if self.target is None:
            return None
        return [tuple(query) for query in self._plan(self.target, None).queries.tolist()]

    @property
    def target_values(self) -> np.ndarray | None:
        """Values of the target, in schema order."""
        return None if self.target is None else self.target.copy().data.to_numpy()[0]

    def fitted_to(self, datasets: Sequence[Dataset]) -> Self:
        """The feature with the ranges of these datasets."""
        return replace(self, ranges=ColumnRanges.of(datasets)) if self.learns else self

    def extract(self, datasets: Sequence[Dataset]) -> np.ndarray:
        """Counts for the target in each dataset, (len(datasets), number)."""
        if self.target is None:
            raise ConfigError(
                f"{self.label} has no target: give one, or train the attack on a threat model "
                f"that has targets"
            )
        tables = [self._matching(dataset, self.target) for dataset in datasets]
        feature, conditions = self.settled(tables), self._plan(self.target, None).conditions
        counts = [
            count_conjunctions(feature._agreements(table, self.target), conditions)[0]
            for table in tables
        ]
        return np.array(counts, dtype=float).reshape(len(tables), len(conditions))

    def observe(self, dataset: Dataset, briefing: Briefing) -> np.ndarray:
        """Counts for the target, or for each target of the briefing; if need be for each value."""
        return count_together([self], dataset, briefing)

    @property
    def label(self) -> str:
        """Display name."""
        return f"RandomQueries({self.order}, {self.number})"

    # -- inside ------------------------------------------------------------------------------

    def _targets(self, briefing: Briefing) -> TabularDataset:
        if self.target is not None:
            return self.target
        if isinstance(briefing, TableBriefing):
            return briefing.targets
        raise ConfigError(f"{self.label} has no target, and the threat model names none")

    def _matching(self, dataset: Dataset, targets: TabularDataset) -> TabularDataset:
        """The dataset, if it is a table like that of the targets."""
        if not isinstance(dataset, TabularDataset):
            raise SchemaError(
                f"{self.label} counts rows of tables (TabularDataset), got {type(dataset).__name__}"
            )
        if dataset.description != targets.description:
            raise SchemaError(
                f"{self.label}: the target and the data {dataset.label!r} have different "
                f"descriptions"
            )
        return dataset

    def _plan(self, targets: TabularDataset, masked: str | None) -> "QueryPlan":
        columns = targets.description.parsed
        names = [column.name for column in columns]
        unknown = [name for name in self.columns or () if name not in names]
        if unknown:
            raise ConfigError(
                f"there is no column {listing(unknown)}; the columns are {listing(names)}"
            )
        allowed = tuple(
            position
            for position, name in enumerate(names)
            if name != masked and (self.columns is None or name in self.columns)
        )
        if self.order > len(allowed):
            raise ConfigError(
                f"queries of order {self.order} need as many columns, and there are only "
                f"{len(allowed)} to ask about: {listing(names[p] for p in allowed)}"
            )
        two_sided = tuple(self.num_bins is None and c.kind in CONTINUOUS for c in columns)
        return draw_queries(allowed, two_sided, self.order, self.number, self.seed or 0)

    def _agreements(self, dataset: TabularDataset, targets: TabularDataset) -> np.ndarray:
        """Bits of the rows that meet each condition, (2 x columns, words, targets).

        Condition 2c is "equal" or "at most" on column c, condition 2c + 1 is "at least".
        """
        edges = self._edges(dataset)
        bits: list[np.ndarray] = []
        for position, name in enumerate(dataset.description.columns):
            sides = agreeing(dataset, targets, position, edges.get(name))
            bits += [bits_of(sides[0]), bits_of(sides[-1])]
        return np.stack(bits)

    def _edges(self, dataset: TabularDataset) -> dict[str, np.ndarray]:
        """Edges of the bins of each number column; of none, where there are no bins."""
        if self.num_bins is None or self.ranges is None:
            return {}
        names = [column.name for column in dataset.table.number_columns()]
        return dict(zip(names, self.ranges.edges(names, self.num_bins), strict=True))


def count_together(
    features: Sequence[RandomTargetedQueryFeature], dataset: Dataset, briefing: Briefing
) -> np.ndarray:
    """What features see that differ in their order and number only, side by side."""
    one = features[0]
    targets = one._targets(briefing)
    table = one._matching(dataset, targets)
    bits = one.settled([table])._agreements(table, targets)
    masked = briefing.attribute if isinstance(briefing, TableBriefing) else None
    asked = [feature._plan(targets, masked).conditions for feature in features]
    if isinstance(briefing, TableBriefing) and masked is not None:
        having = rows_with_value(briefing, table)
        each = [for_each_value(bits, conditions, having) for conditions in asked]
        bits, asked = each[0][0], [conditions for _, conditions in each]
    return count_conjunctions(bits, *asked).astype(float)


@dataclass(frozen=True, eq=False)
class QueryPlan:
    """Columns of each query, and the condition that each column must meet."""

    queries: np.ndarray
    conditions: np.ndarray


@lru_cache(maxsize=64)
def draw_queries(
    allowed: tuple[int, ...], two_sided: tuple[bool, ...], order: int, number: int, seed: int
) -> QueryPlan:
    """Different subsets of the allowed columns, with a side for each two-sided column."""
    rng = stream(seed, order)
    queries = np.array(allowed)[draw_subsets(len(allowed), order, number, rng)]
    sides = rng.integers(2, size=queries.shape) * np.array(two_sided, dtype=int)[queries]
    return QueryPlan(queries, 2 * queries + sides)


def draw_subsets(size: int, order: int, number: int, rng: np.random.Generator) -> np.ndarray:
    """Up to `number` different subsets of range(size), each ascending, (number, order)."""
    available = comb(size, order)
    if available <= SUBSETS_WORTH_LISTING * number:
        listed = islice(combinations(range(size), order), available)
        subsets = np.array(list(listed), dtype=np.intp).reshape(-1, order)
        if number >= available:
            return subsets
        return subsets[rng.choice(available, size=number, replace=False)]
    found = np.empty((0, order), dtype=np.intp)
    while len(found) < number:
        some = min(number - len(found), max(1, NUMBERS_AT_ONCE // size))
        keys = rng.random((some, size))
        drawn = np.sort(np.argpartition(keys, order - 1, axis=1)[:, :order], axis=1)
        found = np.concatenate([found, drawn])
        _, first = np.unique(found, axis=0, return_index=True)
        found = found[np.sort(first)]
    return found


def for_each_value(
    bits: np.ndarray, conditions: np.ndarray, has_value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same queries for each value of an attribute: its rows are one more condition.

    Parameters
    ----------
    bits, conditions
        See `count_conjunctions`.
    has_value : ndarray of bool, (values, rows)
    """
    first, words, targets = bits.shape
    of_values = np.broadcast_to(packed(has_value)[..., None], (len(has_value), words, targets))
    asked = [np.insert(conditions, 0, first + value, axis=1) for value in range(len(has_value))]
    return np.concatenate([bits, of_values]), np.concatenate(asked)
