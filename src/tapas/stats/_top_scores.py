"""Whether the few highest scores are members': a rare leak, which hardly moves an average."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tapas.errors import StatisticsError
from tapas.stats._counts import check_scores
from tapas.stats._excess import excess_p_value

__all__ = ["TopScores", "top_scores"]

_SIZES = (5, 10, 25, 50)


class TopScores(NamedTuple):
    """The number of highest scores among which members stand out most.

    `members` of the `size` highest scores are members', where `expected` are by chance; `p_value`
    allows for the numbers that were tried.
    """

    size: int
    members: int
    expected: float
    p_value: float


def top_scores(positive: ArrayLike, negative: ArrayLike) -> TopScores:
    """Return whether members have the 5, 10, 25 or 50 highest scores more often than chance.

    Notes
    -----
    Assumes: without a leak, any choice of so many records is as likely to be the members as any
    other; independence is not needed. Guarantees: a p-value, by Fisher's exact test for each of
    the four numbers, times four. Of scores that are equal those of non-members count as higher.
    """
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    if ones.size == 0 or zeros.size == 0:
        raise StatisticsError(
            f"the highest scores need records of both kinds, got {ones.size} and {zeros.size}"
        )
    scores = np.concatenate([zeros, ones])  # a stable order puts the first of equals first
    is_member = np.argsort(-scores, kind="stable") >= zeros.size
    share, found = ones.size / scores.size, []
    for size in (min(number, scores.size) for number in _SIZES):
        members = int(is_member[:size].sum())
        p_value = excess_p_value(members, ones.size, size - members, zeros.size)
        found.append(TopScores(size, members, size * share, min(1.0, len(_SIZES) * p_value)))
    return min(found, key=lambda one: one.p_value)
