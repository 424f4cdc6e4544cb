"""Counts of records that agree with the target on some of its attributes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from tapas._random import resolve_seed, stream
from tapas._validate import check_count, listing
from tapas.attacks.features._column_ranges import ColumnRanges
from tapas.attacks.features._set_features import SetFeature
from tapas.datasets import TabularDataset
from tapas.errors import ConfigError, SchemaError
from tapas.threat_models import Briefing

WORDS_AT_ONCE = 1 << 17
NUMBERS_AT_ONCE = 1 << 22
# Below this many subsets per query wanted, all subsets are listed and some of them chosen.
SUBSETS_WORTH_LISTING = 4
_CONTINUOUS = ("real", "datetime")
_BITS = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class RandomTargetedQueryFeature(SetFeature):
    """How many records agree with the target on each of several random subsets of columns.

    Records agree on a finite or countable column if they have the same value (missing equals
    missing). On a continuous one they agree if they are at most, or if they are at least, the
    target's value, whichever was drawn for that query. Subsets are all different. The sensitive
    column is never asked about in attribute inference.

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
    def learns(self) -> bool:  # type: ignore[override]
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

    def fitted_to(self, datasets: Sequence[Any]) -> "RandomTargetedQueryFeature":
        """The feature with the ranges of these datasets."""
        return replace(self, ranges=ColumnRanges.of(datasets)) if self.learns else self

    def extract(self, datasets: Sequence[Any]) -> np.ndarray:
        """Counts for the target in each dataset, (len(datasets), number)."""
        if self.target is None:
            raise ConfigError(
                f"{self.label} has no target: give one, or train the attack on a threat model "
                f"that has targets"
            )
        feature = self._settled(datasets)
        plan = feature._plan(self.target, None)
        counts = [feature._counts(dataset, self.target, plan)[0] for dataset in datasets]
        return np.stack(counts) if counts else np.empty((0, len(plan.queries)))

    def observe(self, dataset: Any, briefing: Briefing) -> np.ndarray:
        """Counts for the target, or for each target of the briefing."""
        targets = briefing.targets if self.target is None else self.target
        if targets is None:
            raise ConfigError(f"{self.label} has no target, and the threat model names none")
        plan = self._plan(targets, briefing.attribute)
        return self._settled([dataset])._counts(dataset, targets, plan)

    @property
    def label(self) -> str:
        """Display name."""
        return f"RandomQueries({self.order}, {self.number})"

    # -- inside ------------------------------------------------------------------------------

    def _settled(self, datasets: Sequence[Any]) -> "RandomTargetedQueryFeature":
        """The feature with ranges; those of the datasets seen first, if it has none yet."""
        if not self.learns or not datasets:
            return self
        first = self.__dict__.get("_first")
        if first is None:
            first = self.fitted_to(datasets)
            object.__setattr__(self, "_first", first)
        return first

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
        two_sided = tuple(self.num_bins is None and c.kind in _CONTINUOUS for c in columns)
        return draw_queries(allowed, two_sided, self.order, self.number, self.seed or 0)

    def _counts(self, dataset: Any, targets: TabularDataset, plan: "QueryPlan") -> np.ndarray:
        if not isinstance(dataset, TabularDataset) or dataset.description != targets.description:
            raise SchemaError(
                f"{self.label}: the target and the data {getattr(dataset, 'label', dataset)!r} "
                f"have different descriptions"
            )
        agreements = self._agreements(dataset, targets)
        return count_conjunctions(agreements, plan.conditions).astype(float)

    def _agreements(self, dataset: TabularDataset, targets: TabularDataset) -> np.ndarray:
        """Bits of the rows that meet each condition, (targets, 2 x columns, words).

        Condition 2c is "equal" or "at most" on column c, condition 2c + 1 is "at least".
        """
        table, records = dataset.table, targets.table
        words = -(-len(table) // 64)
        bits = np.zeros((len(records), 2 * len(table.columns), 8 * words), dtype=np.uint8)

        def put(condition: int, agrees: np.ndarray) -> None:
            packed = np.packbits(agrees, axis=1)
            bits[:, condition, : packed.shape[1]] = packed

        edges = self._edges(table)
        number = 0
        for position, column in enumerate(table.columns):
            if column.is_coded and column.values is None:
                name = [column.name]
                differing = table.select(name).count_differences(records.select(name))
                put(2 * position, differing == 0)
                continue
            mine, theirs = records.column(column.name)[:, None], table.column(column.name)
            if column.is_coded:
                put(2 * position, mine == theirs)
                continue
            absent = np.isnan(mine) & np.isnan(theirs) if np.isnan(mine).any() else False
            if edges is not None:
                mine, theirs = _bins(mine, edges[number]), _bins(theirs, edges[number])
                put(2 * position, mine == theirs)
            elif column.kind in _CONTINUOUS:
                put(2 * position, (theirs <= mine) | absent)
                put(2 * position + 1, (theirs >= mine) | absent)
            else:
                put(2 * position, (theirs == mine) | absent)
            number += 1
        return bits.view(np.uint64)

    def _edges(self, table: Any) -> np.ndarray | None:
        if self.num_bins is None or self.ranges is None:
            return None
        return self.ranges.edges([c.name for c in table.number_columns()], self.num_bins)


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


def count_conjunctions(bits: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """How many rows meet all conditions of each query, (targets, queries).

    Parameters
    ----------
    bits : ndarray of uint64, (targets, conditions, words)
        A bit for each row.
    conditions : ndarray of int, (queries, order)
    """
    targets, _, words = bits.shape
    counts = np.empty((targets, len(conditions)), dtype=np.int64)
    step = max(1, WORDS_AT_ONCE // max(1, targets * words))
    for start in range(0, len(conditions), step):
        some = conditions[start : start + step]
        rows = bits[:, some[:, 0]]
        for column in some.T[1:]:
            rows &= bits[:, column]
        counts[:, start : start + step] = _ones(rows).sum(axis=-1, dtype=np.int64)
    return counts


def _ones(words: np.ndarray) -> np.ndarray:
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words)
    return _BITS[words.view(np.uint8)]


def _bins(numbers: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Number of the bin; the outer ones are open; -1 for missing."""
    found = np.searchsorted(edges[1:-1], numbers, side="right")
    return np.where(np.isnan(numbers), -1, found)
