"""Whose the few highest scores are: a rare leak, which hardly moves an average."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tapas.errors import StatisticsError
from tapas.stats._counts import FloatArray, check_scores
from tapas.stats._excess import excess_p_value

__all__ = ["TopScores", "top_scores"]

_SIZES = (5, 10, 25, 50)
_SIDES = 2


class TopScores(NamedTuple):
    """The number of highest scores among which members, or non-members, stand out most.

    `members` of the `size` highest scores are members', where `expected` are by chance; `p_value`
    allows for the numbers and for the sides that were tried.
    """

    size: int
    members: int
    expected: float
    p_value: float

    @property
    def are_members(self) -> bool:
        """Whether it is members who have more of them, and not non-members."""
        return self.members > self.expected


def top_scores(positive: ArrayLike, negative: ArrayLike, *, odds: float = 1.0) -> TopScores:
    """Return whether one side has the 5, 10, 25 or 50 highest scores more often than chance.

    Members have where few leak; non-members, where what is near to members was kept back.

    Notes
    -----
    Assumes: without a leak, any choice of so many records is as likely to be the members as any
    other; independence is not needed. With `odds`, records that score high may be of one side at
    odds up to so many times those of others, because of what they are (Rosenbaum's bounds for
    observational studies, 2002, section 4.3). Guarantees: a p-value, by Fisher's exact test for
    each of the four numbers and the two sides, times eight. Of scores that are equal those of the
    other side count as higher.
    """
    ones, zeros = check_scores(positive, "positive"), check_scores(negative, "negative")
    if ones.size == 0 or zeros.size == 0:
        raise StatisticsError(
            f"the highest scores need records of both kinds, got {ones.size} and {zeros.size}"
        )
    share, found = ones.size / (ones.size + zeros.size), []
    for side, others in ((ones, zeros), (zeros, ones)):
        for size in (min(number, side.size + others.size) for number in _SIZES):
            own = _among_the_highest(size, side, others)
            p_value = excess_p_value(own, side.size, size - own, others.size, odds=odds)
            members = own if side is ones else size - own
            tried = len(_SIZES) * _SIDES
            found.append(TopScores(size, members, size * share, min(1.0, tried * p_value)))
    return min(found, key=lambda one: one.p_value)


def _among_the_highest(size: int, side: FloatArray, others: FloatArray) -> int:
    """How many of the highest scores a side has, if its own come last of equals."""
    scores = np.concatenate([others, side])  # a stable order puts the first of equals first
    return int((np.argsort(-scores, kind="stable")[:size] >= others.size).sum())
