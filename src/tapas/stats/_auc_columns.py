"""Standard errors of the areas under many ROC curves at once, over groups of trials."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from tapas._ranks import midranks, rankings
from tapas.stats._counts import check_level

__all__ = [
    "column_auc_errors",
    "column_auc_limits",
    "mean_auc_influences",
    "rank_sum_p_values",
]

_HALVINGS = 30


class MeanAuc(NamedTuple):
    """A mean AUC over columns, what each group of trials adds to it, and degrees of freedom."""

    mean: float
    parts: NDArray[np.float64]
    degrees: int


def rank_sum_p_values(
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    groups: NDArray[np.int_] | None = None,
) -> NDArray[np.float64]:
    """Return for each column the chance to see positives rank so high or low if nothing tells.

    Parameters
    ----------
    scores, positive
        (trials, columns).
    groups, optional
        Trials of one group may depend on each other.

    Notes
    -----
    Assumes: independent groups. Guarantees: about uniform where nothing tells and trials are
    independent, by the normal approximation with corrections for ties and for continuity; of
    groups the larger of that spread and DeLong's over groups counts. 1 where all scores are
    equal, or there are trials of one class only.

    References
    ----------
    Mann and Whitney (1947).
    """
    inside, trials = positive.sum(axis=0), len(positive)
    outside = trials - inside
    ranks, ties = np.empty(inside.shape), np.empty(inside.shape)
    for ranking in rankings(scores):
        ranks[ranking.columns] = (ranking.ranks * ranking.arranged(positive)).sum(axis=1)
        equals = ranking.last - ranking.first + 1
        ties[ranking.columns] = (equals**2 - 1).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(inside * outside / 12 * (trials + 1 - ties / (trials * (trials - 1))))
        wins = ranks - inside * (inside + 1) / 2
        off = np.maximum(np.abs(wins - inside * outside / 2) - 0.5, 0)
        found = 2 * scipy.special.ndtr(-off / spread)
        if groups is not None and len(np.unique(groups)) < trials:
            found = np.maximum(found, _by_groups(off, scores, positive, groups))
    return np.where((spread > 0) & ~np.isnan(found), found, 1.0)


def _by_groups(
    off: NDArray[np.float64],
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    groups: NDArray[np.int_],
) -> NDArray[np.float64]:
    """Chances of such wins by how much they vary from group to group (Student's t)."""
    _, inside, outside, offsets = _offsets(scores, positive, groups)
    spread = np.sqrt(_grouped(offsets, positive, groups)) * inside * outside
    found = 2 * scipy.special.stdtr(len(np.unique(groups)) - 1, -off / spread)
    return np.where(np.isnan(found), 0.0, found)


def column_auc_errors(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], groups: NDArray[np.int_]
) -> NDArray[np.float64]:
    """Return the standard error of the AUC of each column of scores.

    Parameters
    ----------
    scores, positive
        (trials, columns); trials of one group may depend on each other.

    Notes
    -----
    Assumes: independent groups. Columns that differ in their numbers of trials only, not in how
    their groups hang together.
    Guarantees: each error is Hanley and McNeil's for independent trials, times one factor for all
    columns that makes their mean square that of DeLong's estimates over groups. One column alone
    says little of how groups hang together; all of them together do. NaN where a column has a
    class only.

    References
    ----------
    Hanley and McNeil (1982); DeLong, DeLong and Clarke-Pearson (1988); Obuchowski (1997).
    """
    area, inside, outside, off = _offsets(scores, positive, groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        usual = hanley_mcneil(area, inside, outside)
        grouped = _grouped(off, positive, groups)
    known = np.isfinite(grouped) & np.isfinite(usual) & (usual > 0)
    factor = grouped[known].mean() / usual[known].mean() if known.any() else 1.0
    return np.sqrt(usual * factor)


def column_auc_limits(
    areas: NDArray[np.float64],
    errors: NDArray[np.float64],
    positives: NDArray[np.int_],
    negatives: NDArray[np.int_],
    *,
    confidence: float = 0.95,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of an interval for each AUC, by itself.

    Parameters
    ----------
    areas, errors
        AUCs with what `column_auc_errors` says of them.
    positives, negatives
        How many trials of either class each has.

    Notes
    -----
    Assumes: what `column_auc_errors` assumes. Guarantees: about `confidence`. The error is taken
    at the end, not at the AUC that was seen: near 1 few trials say little of how much it varies.

    References
    ----------
    Newcombe (2006), method 5, for Hanley and McNeil's error.
    """
    reach = -scipy.special.ndtri(check_level(confidence) / 2)
    factor = errors**2 / hanley_mcneil(areas, positives, negatives)

    def outermost(end: float) -> NDArray[np.float64]:
        inner, outer = areas.astype(float), np.full(areas.shape, end)
        for _ in range(_HALVINGS):
            middle = (inner + outer) / 2
            spread = np.sqrt(factor * hanley_mcneil(middle, positives, negatives))
            within = np.abs(areas - middle) <= reach * spread
            inner, outer = np.where(within, middle, inner), np.where(within, outer, middle)
        return outer

    return outermost(0.0), outermost(1.0)


def hanley_mcneil(
    area: NDArray[np.float64], inside: NDArray[np.int_] | int, outside: NDArray[np.int_] | int
) -> NDArray[np.float64]:
    """Hanley and McNeil's variance; half a pair keeps it from being 0 at the ends."""
    pairs = inside * outside
    area = (area * pairs + 0.5) / (pairs + 1)
    area = np.maximum(area, 1 - area)
    first, second = area / (2 - area), 2 * area**2 / (1 + area)
    more = (inside - 1) * (first - area**2) + (outside - 1) * (second - area**2)
    return (area * (1 - area) + more) / pairs


def mean_auc_influences(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], groups: NDArray[np.int_]
) -> MeanAuc:
    """Return the mean AUC over columns, and what each group of trials adds to or takes from it.

    Notes
    -----
    Assumes: independent groups.
    Guarantees: the sum of squares of the second is the jackknife's variance of the first (exactly,
    where each group is a trial), and the sum of squared differences that of the difference of two
    means over the same trials. It is not too small on average; DeLong's, with all trials in the
    denominators, is by some hundredths at fifty of a class, which counts far out. A class of one
    trial in a column says nothing of how that trial varies: it counts as being as far off as the
    column is from the others, which is not too little on average either; of one column, as far as
    any trial can be. No more degrees of freedom than there are groups but one, or trials of the
    rarer class in all columns together. Columns of one class only are left out.

    References
    ----------
    Efron and Stein (1981), The jackknife estimate of variance.
    """
    usable = positive.any(axis=0) & ~positive.all(axis=0)
    scores, positive = scores[:, usable], positive[:, usable]
    area, inside, outside, off = _offsets(scores, positive, groups)
    belongs = (np.unique(groups)[:, None] == groups).astype(float)
    alone = _off_alone(area)
    own, other = (
        np.where(number == 1, (belongs @ side) * alone, part / np.maximum(number - 1, 1))
        for part, number, side in zip(off, (inside, outside), (positive, ~positive), strict=True)
    )
    each = (own + other).mean(axis=1)
    rarer = int(np.minimum(inside, outside).sum())
    parts = each * np.sqrt((len(each) - 1) / len(each))
    return MeanAuc(float(area.mean()), parts, min(len(each) - 1, rarer))


def _off_alone(area: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the only trial of a class is taken to be off in each column."""
    if len(area) < 2:
        return np.sqrt(area * (1 - area))  # the largest error that a share has
    return (area - area.mean()) * len(area) / (len(area) - 1)


def _offsets(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], groups: NDArray[np.int_]
) -> tuple[NDArray[np.float64], NDArray[np.int_], NDArray[np.int_], list[NDArray[np.float64]]]:
    """Areas, trials of either class, and how far their placements are off in each group."""
    inside, outside = positive.sum(axis=0), (~positive).sum(axis=0)
    ranks = midranks(scores)
    ones = midranks(np.where(positive, scores, np.inf))
    zeros = midranks(np.where(positive, np.inf, scores))
    belongs = (np.unique(groups)[:, None] == groups).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(positive, (ranks - ones) / outside, 0.0)
        below = np.where(positive, 0.0, 1 - (ranks - zeros) / inside)
        area = above.sum(axis=0) / inside
        placed = ((above, positive), (below, ~positive))
        off = [belongs @ values - (belongs @ side) * area for values, side in placed]
    return area, inside, outside, off


def _grouped(
    off: list[NDArray[np.float64]], positive: NDArray[np.bool_], groups: NDArray[np.int_]
) -> NDArray[np.float64]:
    """DeLong's variance, each group of trials taken as one."""
    belongs = np.unique(groups)[:, None] == groups
    sides = (positive, ~positive)
    present = [(belongs.astype(float) @ side > 0).sum(axis=0) for side in sides]
    numbers = [side.sum(axis=0) for side in sides]
    own = [
        count / (count - 1) * (values**2).sum(axis=0) / number**2
        for count, values, number in zip(present, off, numbers, strict=True)
    ]
    total = len(belongs)
    both = total / (total - 1) * (off[0] * off[1]).sum(axis=0) / (numbers[0] * numbers[1])
    return own[0] + own[1] + 2 * both
