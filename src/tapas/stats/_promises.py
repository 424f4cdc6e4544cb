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
from tapas.stats._two_tails import SHARES, tails_of

__all__ = ["FEW", "Plan", "plan_for"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# Thresholds, and how many of each world reach them.
_Curve = tuple[FloatArray, IntArray, IntArray]

# Half a count more of either error: without it empty cells promise too much.
_ADDED = 0.5
# Fewer trials of a world than these say too little to choose between ways.
FEW = 50
# Of a standard deviation, taken off the promise of an event: the best of many keeps less.
_CAUTION = 0.8
# What an event must promise beyond guesses in both tails, which were chosen of fewer.
_ADVANTAGE = 0.55
_FEWEST_IN_TAIL = 5
# Standard deviations between what guesses show and what is certain, the best of several shares.
_QUANTILE = 2.0


@dataclass(frozen=True)
class Plan:
    """What is asked of the trials that are left.

    Attributes
    ----------
    promise
        Heuristic value; no confidence attaches to it.
    threshold, direction, turned
        The event, and whether scores are read the other way round.
    by_event
        Whether the event promises most.
    is_blind
        Whether too few trials were seen to choose: all but the event is then as it always is.
    """

    promise: float
    threshold: float
    direction: str
    turned: bool
    by_event: bool
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
        return Plan(-np.inf, np.inf, "direct", False, known.paired, True)
    ways = [known, replace(known, scores=-known.scores)]
    curves = [roc_counts(way.scores[way.labels], way.scores[~way.labels]) for way in ways]
    read = list(zip(ways, curves, strict=True))
    events = [_promised_event(way, curve, left, alpha, delta) for way, curve in read]
    others = [_promised_else(way, curve, left, alpha, delta) for way, curve in read]
    few = min(sizes) < FEW
    if known.paired and np.unique(known.scores).size <= sum(sizes) / 2:
        by_event = True
    else:
        needed = max(others) + (0.0 if known.paired else _ADVANTAGE)
        by_event = not few and max(events)[0] > needed
    if by_event or known.paired:
        turned = bool(np.argmax([event.promise for event in events] if by_event else others))
    else:
        # Attacks mean high scores to tell members: only what promises something says otherwise.
        turned = others[1] > max(others[0], 0.0)
    event = events[turned]
    return Plan(
        promise=max(event.promise, others[turned]),
        threshold=-event.threshold if turned else event.threshold,
        direction=event.direction,
        turned=turned,
        by_event=by_event,
        is_blind=few,
    )


def _promised_else(
    known: Trials, curve: _Curve, left: tuple[int, int], alpha: float, delta: float
) -> float:
    """What guesses in both tails promise, or the comparison of pairs."""
    if known.paired:
        return _promised_pairs(curve, left, alpha, delta)
    counted = [tails_of(known, {share: 1.0}).rings[0] for share in SHARES]
    guessed = np.array([ring.top + ring.bottom for ring in counted])
    rate = (np.array([ring.right for ring in counted]) + 1) / (guessed + 2)
    information = rate * (1 - rate) * guessed
    growth = sum(left) / known.labels.size
    noise = _QUANTILE / np.sqrt(information * growth) + _CAUTION / np.sqrt(information)
    return float(np.max(np.log(rate / (1 - rate)) - noise))


def _promised_pairs(curve: _Curve, left: tuple[int, int], alpha: float, delta: float) -> float:
    _, tp, fp = curve
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


def _promised_event(
    known: Trials, curve: _Curve, left: tuple[int, int], alpha: float, delta: float
) -> _Event:
    """The event that promises most on the trials that are left, if the rates stay as they are."""
    positive, negative = known.scores[known.labels], known.scores[~known.labels]
    thresholds, tp, fp = curve
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
