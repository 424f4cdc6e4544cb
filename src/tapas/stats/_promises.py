"""What the first trials of an attack promise for the rest: thresholds, tails, directions."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapas.stats._bands import roc_counts
from tapas.stats._clopper_pearson import ratios_from_limits
from tapas.stats._intervals import upper_limit_table
from tapas.stats._pair_comparison import pair_epsilon
from tapas.stats._trials import Trials
from tapas.stats._two_tails import tail_counts

__all__ = ["MAIN_SHARE", "Plan", "plan_for"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Of the error, for what the validation part prefers. Simulated audits: less costs the preferred
# way more than it gives the other.
MAIN_SHARE = 0.9
# Half a count more of either error: without it empty cells promise too much.
_ADDED = 0.5
# Fewer trials of a world than these say too little to choose between ways.
_FEW = 50
# Of a standard deviation, taken off the promise of an event: the best of many keeps less.
_CAUTION = 0.8
# What an event must promise beyond guesses in both tails, which were chosen of fewer.
_ADVANTAGE = 0.4
_FEWEST_IN_TAIL = 5
# Shares of the trials that may be guessed, and the one that is where little is known. Simulated
# audits: Laplace noise wants many, Gaussian noise few.
_GUESSED = (1.0, 0.75, 0.6, 0.45, 0.33, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03)
_USUALLY_GUESSED = 0.6
_QUANTILE = 1.7


@dataclass(frozen=True)
class Plan:
    """What is asked of the trials that are left.

    Attributes
    ----------
    promise
        Heuristic value; no confidence attaches to it.
    threshold, direction, turned
        The event, and whether scores are read the other way round.
    guessed
        Share of the trials whose scores are extreme enough to be guessed.
    event_share
        Part of the error for the event.
    is_blind
        Whether too few trials were seen to choose: all but the event is then as it always is.
    """

    promise: float
    threshold: float
    direction: str
    turned: bool
    guessed: float
    event_share: float
    is_blind: bool


class _Event(NamedTuple):
    promise: float
    threshold: float
    direction: str


def plan_for(known: Trials, rest: Trials, alpha: float, delta: float) -> Plan:
    """What the `known` trials of one attack promise for the `rest`."""
    left = int(rest.labels.sum()), int((~rest.labels).sum())
    sizes = int(known.labels.sum()), int((~known.labels).sum())
    if min(*left, *sizes) == 0:
        share = MAIN_SHARE if known.paired else 1 - MAIN_SHARE
        return Plan(-np.inf, np.inf, "direct", False, _USUALLY_GUESSED, share, True)
    ways = [known, replace(known, scores=-known.scores)]
    events = [_promised_event(way, left, alpha, delta) for way in ways]
    others = [_promised_else(way, left, alpha, delta) for way in ways]
    few = min(sizes) < _FEW
    if known.paired and np.unique(known.scores).size <= sum(sizes) / 2:
        by_event = True
    else:
        needed = max(others)[0] + (0.0 if known.paired else _ADVANTAGE)
        by_event = not few and max(events)[0] > needed
    turned = bool(np.argmax([found[0] for found in (events if by_event else others)]))
    event = events[turned]
    return Plan(
        promise=max(event.promise, others[turned][0]),
        threshold=-event.threshold if turned else event.threshold,
        direction=event.direction,
        turned=turned,
        guessed=_USUALLY_GUESSED if few else others[turned][1],
        event_share=MAIN_SHARE if by_event else 1 - MAIN_SHARE,
        is_blind=few,
    )


def _promised_else(
    known: Trials, left: tuple[int, int], alpha: float, delta: float
) -> tuple[float, float]:
    """What guesses in both tails promise, or the comparison of pairs, and how many are guessed."""
    if known.paired:
        return _promised_pairs(known, left, alpha, delta), _USUALLY_GUESSED
    counted = [tail_counts(known, share) for share in (_USUALLY_GUESSED, *_GUESSED)]
    guessed = np.array([one.top + one.bottom for one in counted])
    rate = (np.array([one.right for one in counted]) + 1) / (guessed + 2)
    information = rate * (1 - rate) * guessed
    growth = sum(left) / known.labels.size
    value = np.log(rate / (1 - rate)) - _QUANTILE / np.sqrt(information * growth)
    variance = 1 / information
    # What is nested in the usual share differs from it by the rest of its noise only.
    chosen = int(np.argmax((value - np.sqrt(np.abs(variance - variance[0])))[1:]))
    promise = value[1 + chosen] - _CAUTION * np.sqrt(variance[1 + chosen])
    return float(promise), _GUESSED[chosen]


def _promised_pairs(known: Trials, left: tuple[int, int], alpha: float, delta: float) -> float:
    _, tp, fp = roc_counts(known.scores[known.labels], known.scores[~known.labels])
    tpr, fpr = np.append(0.0, tp / tp[-1]), np.append(0.0, fp / fp[-1])
    area, size = float(np.trapezoid(tpr, fpr)), min(tp[-1], fp[-1])
    won = (area * size + 0.5) / (size + 1)
    return pair_epsilon(won * min(left), min(left), alpha, delta)


def _tail(scores: FloatArray, above: IntArray, thresholds: FloatArray) -> FloatArray:
    """Return how often a score reaches each threshold, also where hardly any was seen to.

    Beyond the top tenth of the scores the tail is taken for exponential: so an empty cell far
    from all scores promises more than one just above them.
    """
    seen = np.minimum(1.0, (above + _ADDED) / (scores.size + _ADDED))
    most = max(_FEWEST_IN_TAIL, scores.size // 10)
    if scores.size <= most:
        return seen
    top = np.sort(scores)[: -most - 2 : -1]
    if not np.isfinite(top).all() or top[0] == top[-1]:
        return seen
    excess = float(np.mean(top[:-1] - top[-1]))
    beyond = most / scores.size * np.exp(-np.maximum(thresholds - top[-1], 0.0) / excess)
    return np.where(above < most, np.minimum(beyond, seen), seen)


def _promised_event(known: Trials, left: tuple[int, int], alpha: float, delta: float) -> _Event:
    """The event that promises most on the trials that are left, if the rates stay as they are."""
    positive, negative = known.scores[known.labels], known.scores[~known.labels]
    thresholds, tp, fp = roc_counts(positive, negative)
    misses = positive.size - tp
    fpr, fnr = _tail(negative, fp, thresholds), _tail(-positive, misses, -thresholds)
    fpr_high = upper_limit_table(left[1], alpha / 2)[np.rint(fpr * left[1]).astype(np.int64)]
    fnr_high = upper_limit_table(left[0], alpha / 2)[np.rint(fnr * left[0]).astype(np.int64)]
    directions = np.stack(ratios_from_limits(fpr_high, fnr_high, delta))
    told, silent = (tp, fp), (negative.size - fp, misses)
    spread = [np.sqrt(sum(1 / (count + _ADDED) for count in counts)) for counts in (told, silent)]
    directions -= _CAUTION * np.stack(spread)
    way, place = np.unravel_index(int(np.argmax(directions)), directions.shape)
    threshold = float(thresholds[place])
    if place + 1 < thresholds.size and np.isfinite(thresholds[place : place + 2]).all():
        # Half way to the next score: what lies between says nothing against it.
        threshold = float(thresholds[place : place + 2].mean())
    return _Event(float(directions[way, place]), threshold, ("direct", "inverse")[way])
