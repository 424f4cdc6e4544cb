"""How many released records agree with each target on every small subset of its columns."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product

import numpy as np

from tapas._random import stream
from tapas.attacks._masked_targets import rows_with_value
from tapas.attacks.features._agreements import agreeing, packed
from tapas.attacks.features._conjunctions import count_conjunctions
from tapas.datasets import TabularDataset
from tapas.game import TableBriefing

__all__ = ["LARGEST_ORDER", "SubsetPlan", "column_conditions", "count_subsets", "plan_subsets"]

LARGEST_ORDER = 3
NUMBERS = ("integer", "real", "date", "datetime")


@dataclass(frozen=True, eq=False)
class SubsetPlan:
    """Which subsets of columns are counted.

    Attributes
    ----------
    sides : tuple of int
        How many conditions each column has: 1 (equal), 3 (at most, at least, equal), or 0 where
        it is not asked about.
    by_order : tuple of ndarray, (subsets, order)
        Conditions of each subset of one column, of two, and so on.
    """

    sides: tuple[int, ...]
    by_order: tuple[np.ndarray, ...]

    def sizes(self) -> list[int]:
        """How many subsets there are of each order."""
        return [len(subsets) for subsets in self.by_order]


def plan_subsets(
    data: TabularDataset, masked: str | None, number: int, order: int = LARGEST_ORDER
) -> SubsetPlan:
    """Subsets of up to `order` columns of a table, at most `number` of them.

    Smaller ones come first. Of the order that does not fit whole, as many as do are drawn, always
    the same ones.
    """
    columns = data.description.parsed
    sides = tuple(0 if c.name == masked else 3 if c.kind in NUMBERS else 1 for c in columns)
    return _plan(sides, number, order)


@lru_cache(maxsize=32)
def _plan(sides: tuple[int, ...], number: int, largest: int) -> SubsetPlan:
    first = np.cumsum((0, *sides))
    conditions = [range(first[c], first[c] + sides[c]) for c in range(len(sides)) if sides[c]]
    chosen: list[np.ndarray] = []
    for order in range(1, min(largest, len(conditions)) + 1):
        left = number - sum(map(len, chosen))
        if left <= 0:
            break
        chosen.append(_subsets(conditions, order, left))
    return SubsetPlan(sides, tuple(chosen))


def _subsets(conditions: list[range], order: int, most: int) -> np.ndarray:
    """Subsets of conditions on different columns; where there are too many, some of them."""
    asked = [each for some in combinations(conditions, order) for each in product(*some)]
    found = np.array(asked, dtype=np.intp)
    if len(found) <= most:
        return found
    return found[np.sort(stream(0, order).choice(len(found), most, replace=False))]


def count_subsets(data: TabularDataset, briefing: TableBriefing, plan: SubsetPlan) -> np.ndarray:
    """Counts for all targets together, (targets, subsets).

    In attribute inference (targets, values, subsets): of those with each value of the attribute.
    """
    bits = np.stack(
        [
            np.ascontiguousarray(condition.T)
            for position, sides in enumerate(plan.sides)
            if sides
            for condition in column_conditions(data, briefing.targets, position)
        ]
    )
    small = np.uint16 if len(data) < 1 << 16 else np.uint32
    if briefing.attribute is None:
        return count_conjunctions(bits, *plan.by_order).astype(small)
    having = packed(rows_with_value(briefing, data))[:, None, :, None]
    return np.stack(
        [count_conjunctions(bits & value, *plan.by_order) for value in having], axis=1
    ).astype(small)


def column_conditions(
    data: TabularDataset, records: TabularDataset, position: int
) -> list[np.ndarray]:
    """Bits of the rows that meet each condition on a column, (records, words), in plan order."""
    found = [packed(rows) for rows in agreeing(data, records, position, two_sided=NUMBERS)]
    # At most and at least: equal.
    return [*found, found[0] & found[1]] if len(found) > 1 else found
