"""Which recorded answers are those of repeated records."""

import numpy as np

from tapas.models import Records
from tapas.threat_models._prediction_files import Predictions

FEW = 0.1  # of rows that repeat on one side alone, so many may have values of both sides
MOST = 10  # rows of each value, on average


def answer_keys(given: Predictions) -> np.ndarray:
    """A key for each row; equal keys mark equal records.

    Rows of scores and class are all that is known of records, and those that repeat on one side
    alone are taken for repeated records. Where scores can take few values (fewer than there are
    different rows), as those of a tree or a small forest, or rounded ones, different records have
    equal rows, many of them on both sides: then no two are taken for equal. Nor are those, if many
    or of both sides, for which a score is the largest of all: the wholly sure ones.
    """
    numbers = np.arange(len(given.labels), dtype=np.uint64)
    if given.outputs == "labels":
        return numbers
    scores = np.asarray(given.scores, dtype=float).reshape(len(numbers), -1)
    keys = Records(scores, given.labels).row_keys()
    sure = _sure(scores)
    of_sure = given.members[sure]
    if sure.sum() <= MOST and not np.isin([0, 1], of_sure).all():
        sure[:] = False
    open_ = (given.members >= 0) & ~sure
    _, value, count = np.unique(keys[open_], return_inverse=True, return_counts=True)
    inside = np.bincount(value, given.members[open_] == 1)
    mixed = (inside > 0) & (inside < count)
    on_both, alone = count[mixed].sum(), count[~mixed & (count > 1)].sum()
    coarse = len(np.unique(scores[open_])) < len(count)
    if coarse or not alone or on_both > FEW * alone or len(count) * MOST < open_.sum():
        return numbers
    return np.where(open_, keys, numbers)


def _sure(scores: np.ndarray) -> np.ndarray:
    """Which rows have the largest score there is, or, of one class, the smallest."""
    sure = (scores == np.nanmax(scores)).any(axis=1)
    return sure | (scores == np.nanmin(scores)).all(axis=1)
