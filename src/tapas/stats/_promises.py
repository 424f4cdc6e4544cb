"""What the first trials of an attack promise for the rest: thresholds, tails, directions."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tapas.stats._bands import roc_counts
from tapas.stats._clopper_pearson import ratios_from_limits
from tapas.stats._intervals import lower_limit, upper_limit, upper_limit_table
from tapas.stats._pair_comparison import matched_scores, pair_epsilon
from tapas.stats._pair_gaps import gaps_of
from tapas.stats._trials import Trials
from tapas.stats._two_tails import SHARES, tails_of

__all__ = ["CHANCE", "FEW", "Plan", "plan_for"]

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
# What the gaps of pairs must promise beyond the other ways, and by how much less they may show of
# decisions: both promises are the best of several, though not as much so.
_GAPS_MORE = 0.1
_GAPS_LESS = 0.03
# That decisions of the first pairs are read the wrong way round.
CHANCE = 0.1
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
    by_gaps
        Whether, of pairs, how far apart their scores are does.
    is_blind
        Whether too few trials were seen to choose: all but the event is then as it always is.
    """

    promise: float
    threshold: float
    direction: str
    turned: bool
    by_event: bool
    is_blind: bool
    by_gaps: bool = False


class _Event(NamedTuple):
    promise: float
    threshold: float
    direction: str
    fpr: float
    fnr: float


def plan_for(known: Trials, rest: Trials, alpha: float, delta: float) -> Plan:
    """What the `known` trials of one attack promise for the `rest`."""
    left = int(rest.labels.sum()), int((~rest.labels).sum())
    sizes = int(known.labels.sum()), int((~known.labels).sum())
    if min(*left, *sizes) == 0:
        return Plan(-np.inf, np.inf, "direct", False, known.paired, True)
    ways = [known, replace(known, scores=-known.scores)]
    curves = [roc_counts(way.scores[way.labels], way.scores[~way.labels]) for way in ways]
    events = [
        _promised_event(way, curve, left, alpha, delta)
        for way, curve in zip(ways, curves, strict=True)
    ]
    few = min(sizes) < FEW
    if known.paired:
        compared = [_promised_pairs(curve, left, alpha, delta) for curve in curves]
        return _plan_for_pairs(known, events, compared, few, left, alpha, delta)
    guesses = [_promised_guesses(way, left) for way in ways]
    by_event = not few and max(events)[0] > max(guesses) + _ADVANTAGE
    if by_event:
        turned = bool(np.argmax([event.promise for event in events]))
    else:
        turned = _is_turned(guesses)
    event = events[turned]
    promise = max(event.promise, guesses[turned])
    return _plan(promise, event, turned, by_event=by_event, is_blind=few)


def _plan_for_pairs(
    known: Trials,
    events: list[_Event],
    compared: list[float],
    few: bool,
    left: tuple[int, int],
    alpha: float,
    delta: float,
) -> Plan:
    """The same where trials are paired: an event, who scores above whom, or by how much."""
    gaps = [
        _promised_gaps(way, left, alpha) for way in (known, replace(known, scores=-known.scores))
    ]
    promised = [event.promise for event in events]
    if 2 * np.unique(known.scores).size <= known.labels.size:
        more = _more_by_gaps(max(events), few, min(left), alpha, delta)
        by_gaps, by_event = more > -_GAPS_LESS, more <= -_GAPS_LESS
    else:
        by_gaps = not few and max(gaps) > max(*promised, *compared) + _GAPS_MORE
        by_event = not few and not by_gaps and max(promised) > max(compared)
    if by_gaps:
        turned = _is_turned(gaps) and _surely_loses(known)
    else:
        turned = _is_turned(promised if by_event else compared)
    promise = max(promised[turned], compared[turned], gaps[turned])
    plan = _plan(promise, events[turned], turned, by_event=by_event, is_blind=few)
    return replace(plan, by_gaps=by_gaps)


def _is_turned(promised: list[float]) -> bool:
    """Attacks mean high scores to tell members: only what promises something says otherwise."""
    direct, turned = promised
    return turned > max(direct, 0.0)


def _surely_loses(known: Trials) -> bool:
    """Whether the member's score is the lower one too often for chance, of few pairs too."""
    member, other = matched_scores(known)
    lost, unlike = int(np.sum(member < other)), int(np.sum(member != other))
    return bool(lower_limit(lost, unlike, CHANCE) > 0.5)


def _plan(promise: float, event: _Event, turned: bool, *, by_event: bool, is_blind: bool) -> Plan:
    return Plan(
        promise=promise,
        threshold=-event.threshold if turned else event.threshold,
        direction=event.direction,
        turned=turned,
        by_event=by_event,
        is_blind=is_blind,
    )


def _promised_guesses(known: Trials, left: tuple[int, int]) -> float:
    """What guesses in both tails promise."""
    counted = [tails_of(known, {share: 1.0}).rings[0] for share in SHARES]
    guessed = np.array([ring.top + ring.bottom for ring in counted])
    rate = (np.array([ring.right for ring in counted]) + 1) / (guessed + 2)
    information = rate * (1 - rate) * guessed
    growth = sum(left) / known.labels.size
    noise = _QUANTILE / np.sqrt(information * growth) + _CAUTION / np.sqrt(information)
    return float(np.max(np.log(rate / (1 - rate)) - noise))


def _promised_gaps(known: Trials, left: tuple[int, int], alpha: float) -> float:
    """What pairs promise by how far apart their scores are."""
    seen = gaps_of(known)
    if not seen.sizes:
        return -np.inf
    wins, sizes = np.cumsum(seen.wins), np.cumsum(seen.sizes)
    likely = np.rint(sizes * min(left) / seen.pairs)
    won = likely * (wins + _ADDED) / (sizes + 2 * _ADDED)
    return float(np.max(_half_odds(won, likely, alpha * np.array(seen.levels))))


def _more_by_gaps(event: _Event, few: bool, pairs: int, alpha: float, delta: float) -> float:
    """How much more pairs would show of decisions with these rates than the rates alone."""
    rates = np.array([event.fpr, event.fnr])
    if few:
        # The event is the best of several, and so few trials cannot tell one error from the other.
        rates[:] = rates.mean()
    fpr, fnr = upper_limit(np.rint(pairs * rates), pairs, alpha / 2)
    alone = ratios_from_limits(fpr, fnr, delta)[event.direction == "inverse"]
    won, lost = pairs * (1 - rates).prod(), pairs * rates.prod()
    return float(_half_odds(won, won + lost, alpha) - alone)


def _half_odds(won: ArrayLike, pairs: ArrayLike, alpha: ArrayLike) -> FloatArray:
    low = lower_limit(won, pairs, alpha)
    with np.errstate(divide="ignore"):
        found: FloatArray = np.log(low / (1 - low)) / 2
    return found


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
    cautious = directions - _CAUTION * np.stack(spread)
    way, place = np.unravel_index(int(np.argmax(cautious)), directions.shape)
    threshold = float(thresholds[place])
    if place + 1 < thresholds.size and np.isfinite(thresholds[place : place + 2]).all():
        # Half way to the next score: what lies between says nothing against it.
        threshold = float(thresholds[place : place + 2].mean())
    return _Event(
        promise=float(cautious[way, place]),
        threshold=threshold,
        direction=("direct", "inverse")[way],
        fpr=float(fpr[place]),
        fnr=float(fnr[place]),
    )
