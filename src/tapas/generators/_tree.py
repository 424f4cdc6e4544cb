"""Noisy counts on a tree made into one consistent distribution; no private data is seen here."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tapas.generators._tables import estimated_rows, projected, shares

FITTING_ROUNDS = 50
FITTING_TOLERANCE = 1e-9
SMALLEST_SHARE = 1e-12

Edge = tuple[int, int]


def consistent_marginals(
    one_way: Sequence[np.ndarray],
    two_way: Mapping[Edge, np.ndarray],
    variances: tuple[float, float],
) -> list[np.ndarray]:
    """Shares of each column, from its own counts and those of its edges.

    The counts are averaged with weights inverse to their variance: a sum over k noisy cells has k
    times the variance of one.

    Parameters
    ----------
    one_way, two_way
        Noisy counts of columns and of edges (i, j), with axes in that order.
    variances : (float, float)
        Of the noise in a cell of each.
    """
    totals = [counts / variances[0] for counts in one_way]
    weights = [1 / variances[0]] * len(one_way)
    for edge, counts in two_way.items():
        for axis, column in enumerate(edge):
            weight = 1 / (variances[1] * counts.shape[1 - axis])
            totals[column] = totals[column] + weight * counts.sum(axis=1 - axis)
            weights[column] += weight
    merged = [total / weight for total, weight in zip(totals, weights, strict=True)]
    rows = estimated_rows(merged)
    return [shares(projected(counts, rows)) for counts in merged]


def fit_to_marginals(counts: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Joint shares near noisy counts, with exactly the given marginals.

    Noise is taken off until no count is negative, then rows and columns are rescaled in turn
    (iterative proportional fitting). A trace of independence keeps every row reachable. What is
    still amiss when that stops is spread independently (Altschuler, Weed and Rigollet 2017,
    algorithm 2).
    """
    total = max(float(counts.sum()), 1.0)
    joint = projected(counts, total) / total
    joint += 1e-6 * np.outer(rows, columns)
    for _ in range(FITTING_ROUNDS):
        joint *= _ratio(rows, joint.sum(axis=1))[:, None]
        sums = joint.sum(axis=0)
        joint *= _ratio(columns, sums)[None, :]
        if np.abs(sums - columns).max() < FITTING_TOLERANCE:
            break
    return _completed(joint, rows, columns)


def walk(num_columns: int, edges: Sequence[Edge]) -> Iterator[tuple[int, int | None]]:
    """Every column after its parent; the first of each part of the forest has none."""
    neighbours: list[list[int]] = [[] for _ in range(num_columns)]
    for i, j in edges:
        neighbours[i].append(j)
        neighbours[j].append(i)
    seen: set[int] = set()
    for root in range(num_columns):
        waiting: list[tuple[int, int | None]] = [] if root in seen else [(root, None)]
        while waiting:
            column, parent = waiting.pop(0)
            seen.add(column)
            yield column, parent
            waiting += [(child, column) for child in neighbours[column] if child not in seen]


def _completed(joint: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    joint = joint * np.minimum(_ratio(rows, joint.sum(axis=1)), 1)[:, None]
    joint *= np.minimum(_ratio(columns, joint.sum(axis=0)), 1)[None, :]
    lacking = np.maximum(rows - joint.sum(axis=1), 0), np.maximum(columns - joint.sum(axis=0), 0)
    missing = lacking[0].sum()
    return joint + np.outer(*lacking) / missing if missing > 0 else joint


def _ratio(wanted: np.ndarray, present: np.ndarray) -> np.ndarray:
    return np.where(present > SMALLEST_SHARE, wanted / np.maximum(present, SMALLEST_SHARE), 0.0)
