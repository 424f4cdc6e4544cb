"""Look training records up in the leaves of the trees that were trained on them."""

from collections.abc import Sequence

import numpy as np

from tapas.game import Candidates
from tapas.models import DecisionTrees, Records
from tapas.results import MOST_RECORDS, Leaves


def leaf_contents(
    found: DecisionTrees, sides: Sequence[Candidates[Records]], names: Sequence[str], fewest: int
) -> Leaves:
    """Which members lie in leaves that few records made, and in leaves of one class.

    Parameters
    ----------
    found : DecisionTrees
    sides : sequence of Candidates
        Of which some are members: records that the trees were trained on.
    names : sequence of str
        What members are called; empty for numbers alone.
    fewest : int
        A leaf that fewer records made is small.
    """
    inside = [side.records.take(side.members) for side in sides]
    rows = np.concatenate([side.rows[side.members] for side in sides])
    records = inside[0].concat(*inside[1:])
    inputs, every = found.rows(records.X), np.arange(len(records))
    codes, seen = found.codes(records.y)
    smallest = np.full(len(records), np.iinfo(np.int64).max)
    told = np.zeros(len(records), dtype=bool)
    leaves, small_leaves, pure_leaves = 0, 0, 0
    for tree in found.trees:
        ends, leaf = tree.children_left < 0, tree.apply(inputs)
        pure = (tree.value[:, 0] > 0).sum(axis=1) == 1
        smallest = np.minimum(smallest, tree.n_node_samples[leaf])
        told |= seen & pure[leaf] & (tree.value[leaf, 0][every, codes] > 0)
        leaves += int(ends.sum())
        small_leaves += int((ends & (tree.n_node_samples < fewest)).sum())
        pure_leaves += int((ends & pure).sum())
    in_small = int((smallest < fewest).sum())
    first = np.lexsort((rows, smallest))[: min(MOST_RECORDS, in_small)]
    return Leaves(
        records=len(records),
        trees=len(found.trees),
        leaves=leaves,
        fewest=fewest,
        small_leaves=small_leaves,
        in_small=in_small,
        pure_leaves=pure_leaves,
        in_pure=int(told.sum()),
        rows=tuple(rows[first].tolist()),
        sizes=tuple(smallest[first].tolist()),
        labels=tuple(names[row] for row in rows[first]) if names else (),
    )
