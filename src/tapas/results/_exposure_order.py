"""The order of records by how exposed they are."""

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["most_exposed_first"]


def most_exposed_first(scores: ArrayLike, read_reversed: bool = False) -> np.ndarray:
    """Positions of records from the highest score down, or from the lowest up.

    Equal scores are ordered by lot, always the same for so many records: neither who is a member
    nor where a record stands may decide what the attack leaves open.
    """
    values = np.asarray(scores, dtype=float)
    rng = np.random.default_rng(0)
    lots = rng.permutation(len(values))
    return np.lexsort((lots, values if read_reversed else -values))
