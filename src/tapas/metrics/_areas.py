"""The area under the ROC curve of many rankings at once."""

import numpy as np
from numpy.typing import NDArray

from tapas._ranks import rankings

__all__ = ["column_aucs", "resampled_column_aucs"]


def column_aucs(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """AUC of each column of scores, ties counted half; NaN where a column has one class only."""
    inside = positive.sum(axis=0)
    ranks = np.empty(len(inside))
    for ranking in rankings(scores):
        ranks[ranking.columns] = (ranking.ranks * ranking.arranged(positive)).sum(axis=1)
    pairs = inside * (len(positive) - inside)
    wins = ranks - inside * (inside + 1) / 2
    return np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0)


def resampled_column_aucs(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The same for resamples, (resamples, columns); `weights` says how often trials were drawn."""
    drawn = weights.astype(np.float64)
    found = np.full((len(weights), scores.shape[1]), np.nan)
    for ranking in rankings(scores):
        inside = ranking.arranged(positive)
        for row, column in enumerate(range(*ranking.columns.indices(scores.shape[1]))):
            if ranking.unknown[row]:
                continue
            counts = drawn[:, ranking.order[row]]
            members, others = counts * inside[row], counts * ~inside[row]
            (starts,) = np.nonzero(ranking.first[row] == np.arange(len(positive)))
            if starts.size < len(positive):
                members = np.add.reduceat(members, starts, axis=1)
                others = np.add.reduceat(others, starts, axis=1)
            below = np.cumsum(others, axis=1)
            pairs = members.sum(axis=1) * below[:, -1]
            wins = np.einsum("ij,ij->i", members, below - others / 2)
            np.divide(wins, pairs, out=found[:, column], where=pairs > 0)
    return found
