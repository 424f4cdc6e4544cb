"""How many rows meet all of several conditions, for many such queries and records at once."""

import numpy as np

from tapas.attacks.features._agreements import count_ones

__all__ = ["count_conjunctions"]

MOST_CONDITIONS = 16  # of which all conjunctions are counted at once
MOST_CELLS = 1 << 22  # of the tables of as many records as are counted together


def count_conjunctions(bits: np.ndarray, *conditions: np.ndarray) -> np.ndarray:
    """How many rows meet all conditions of each query, (records, queries).

    Parameters
    ----------
    bits : ndarray of uint64, (conditions, words, records)
        A bit for each row.
    *conditions : ndarray of int, (queries, order)
        Queries, those of the same order together.
    """
    asked = np.zeros(len(bits), dtype=bool)
    for some in conditions:
        asked[some] = True
    number, queries = int(asked.sum()), sum(map(len, conditions))
    if number <= MOST_CONDITIONS and _is_faster_at_once(number, queries, bits.shape[1]):
        place = np.cumsum(asked) - 1
        masks = [np.bitwise_or.reduce(1 << place[some], axis=1) for some in conditions]
        return _of_masks(bits[asked], np.concatenate(masks))
    return np.concatenate([_of_order(bits, some) for some in conditions], axis=1)


def _is_faster_at_once(number: int, queries: int, words: int) -> bool:
    """Whether all conjunctions of some conditions cost less than each query by itself.

    Measured; either way the counts are the same.
    """
    return queries * (32 + words) >= 2.5 * (1 << number) + 300 * words


def _of_order(bits: np.ndarray, conditions: np.ndarray) -> np.ndarray:
    """Query by query; those that differ in their last condition only are counted together."""
    order = np.lexsort(conditions.T[::-1])
    sorted_, counts = conditions[order], np.empty((len(order), bits.shape[2]), dtype=np.int64)
    first, last = sorted_[:, :-1], sorted_[:, -1]
    changes = np.flatnonzero((first[1:] != first[:-1]).any(axis=1)) + 1
    for some in np.split(np.arange(len(order)), changes):
        rows = bits[last[some]]
        if first.shape[1]:
            rows &= np.bitwise_and.reduce(bits[first[some[0]]], axis=0)
        counts[order[some]] = count_ones(rows)
    return counts.T


def _of_masks(bits: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The same for queries that are sets of conditions, each a mask of bits.

    The rows of each record are counted by the set of conditions that they meet; what meets a set
    is what meets any larger one, which a sum over supersets gives of all sets at once.
    """
    number, _, records = bits.shape
    counts = np.empty((len(masks), records), dtype=np.int64)
    for start in range(0, records, max(1, MOST_CELLS >> number)):
        some = slice(start, start + max(1, MOST_CELLS >> number))
        counts[:, some] = _summed_over_supersets(_by_set(bits[..., some]), number)[masks]
    return counts.T


def _by_set(bits: np.ndarray) -> np.ndarray:
    """How many rows meet each set of conditions and no other, (sets, records)."""
    number, words, records = bits.shape
    places = np.arange(records, dtype=np.int64) << number  # the table of each record
    met = np.broadcast_to(places[:, None], (records, 64 * words)).copy()
    for condition, each in enumerate(bits):
        rows = np.unpackbits(np.ascontiguousarray(each.T).view(np.uint8), axis=1)
        met += rows.astype(np.int64) << condition
    found = np.bincount(met.ravel(), minlength=records << number)
    small = np.uint16 if 64 * words < 1 << 16 else np.uint32
    return np.ascontiguousarray(found.reshape(records, -1).T, dtype=small)


def _summed_over_supersets(counts: np.ndarray, number: int) -> np.ndarray:
    """To the count of every set, the counts of all larger ones are added, in place."""
    for condition in range(number):
        halves = counts.reshape(1 << (number - 1 - condition), 2, -1)
        halves[:, 0] += halves[:, 1]
    return counts
