"""The area under the ROC curve of many rankings at once."""

import numpy as np
from numpy.typing import NDArray

from tapas._ranks import rankings

__all__ = ["column_aucs"]


def column_aucs(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """AUC of each column of scores, ties counted half; NaN where a column has one class only."""
    inside = positive.sum(axis=0)
    ranks = np.empty(len(inside))
    for ranking in rankings(scores):
        ranks[ranking.columns] = (ranking.ranks * ranking.arranged(positive)).sum(axis=1)
    pairs = inside * (len(positive) - inside)
    wins = ranks - inside * (inside + 1) / 2
    return np.divide(wins, pairs, out=np.full(len(wins), np.nan), where=pairs > 0)
