"""The default certificate: two ways of bounding epsilon that share the error."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tapas._validate import check_probability
from tapas.errors import StatisticsError
from tapas.stats._bands import roc_counts
from tapas.stats._bound import EpsilonBound
from tapas.stats._clopper_pearson import ratios_from_limits
from tapas.stats._counts import check_level
from tapas.stats._epsilon import epsilon_lower_bound
from tapas.stats._gaussian import check_gaussian_delta
from tapas.stats._intervals import upper_limit_table
from tapas.stats._pair_comparison import matched_wins, pair_epsilon, pair_gaussian_epsilon
from tapas.stats._selection import ThresholdChoice, certify, select_threshold, validation_masks
from tapas.stats._trials import Summaries, Trials, as_trials

__all__ = ["Certificate", "certificate"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Of the error, for what the validation part prefers. Simulated audits: less costs the preferred
# way more than it gives the other.
MAIN_SHARE = 0.9
# Half a count more of either error: without it empty cells promise too much.
_ADDED = 0.5
# Fewer trials of a world than these say too little to choose between the two ways.
_FEW = 50
# Of a standard deviation, taken off the promise of an event: the best of many keeps less.
_CAUTION = 0.8
_FEWEST_IN_TAIL = 5


@dataclass(frozen=True)
class Certificate:
    """A bound, and the choice that it rests on.

    Parameters
    ----------
    bound
        The larger of the two; its method says which.
    choice
        Attack, threshold and direction, chosen on trials that the bound did not see.
    turned
        Whether scores are read the other way round: the attack ranks members last.
    pair_share
        Which part of the error the comparison of pairs had.
    """

    bound: EpsilonBound
    choice: ThresholdChoice
    turned: bool
    pair_share: float


@dataclass(frozen=True)
class _Plan:
    promise: float
    threshold: float
    direction: str
    turned: bool
    pair_share: float


def certificate(
    summaries: Summaries,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
    validation_split: float = 0.1,
    family: str | None = None,
    relation: str | None = None,
) -> Certificate:
    """Return the default bound on epsilon from one summary or the most promising of several.

    A tenth of the trials chooses the attack, a threshold, whether high or low scores tell
    members, and which of two ways has most of the error. On the rest the error is shared between
    Buehler's bound at that threshold (Clopper-Pearson's where trials are paired) and the
    comparison of pairs, one of each world: a member scores above a non-member with probability
    at most ``1 - (1 - delta)^2 / (1 + e^epsilon)``. The larger counts.

    Parameters
    ----------
    summaries, validation_split, delta
        As in `select_threshold`.
    family
        ``"gaussian"`` where the claim is Gaussian differential privacy: both ways are then read
        so, which shows more and holds for such mechanisms only.

    Notes
    -----
    Assumes: independent trials, groups with at most one trial per world, or records decided by
    coins (then `one_run_epsilon` bounds); others are refused. Guarantees: exceeds the true
    epsilon with probability at most ``1 - confidence``, whatever was chosen.

    References
    ----------
    Buehler (1957); Hoeffding's disjoint pairs (1963); Dong, Roth and Su (2022) for Gaussian
    trade-off curves.
    """
    check_level(confidence, delta)
    share = check_probability(validation_split, "validation_split", open_interval=True)
    trials = as_trials(summaries)
    for one in trials:
        one.dependence.refuse()
    if family == "gaussian":
        check_gaussian_delta(delta)
    elif family is not None:
        raise StatisticsError(f"family must be 'gaussian' or None, got {family!r}")
    if any(one.decided_by_coins for one in trials):
        choice = select_threshold(summaries, validation_split=share, delta=delta)
        bound = certify(choice, summaries, confidence=confidence, delta=delta, relation=relation)
        return Certificate(bound, choice, False, 0.0)
    alpha = 1 - confidence
    masks = validation_masks(trials, share)
    plans = [_plan(one, mask, alpha, delta) for one, mask in zip(trials, masks, strict=True)]
    index = int(np.argmax([plan.promise for plan in plans]))
    plan, remaining = plans[index], ~masks[index]
    remaining.flags.writeable = False
    choice = ThresholdChoice(index, plan.threshold, plan.direction, remaining, plan.promise)
    rest = trials[index].only(remaining)
    compared = rest
    if family == "gaussian" and len(trials) == 1:
        # Nothing is left to choose: Gaussian scores are compared best, and all of them.
        plan, compared = replace(plan, turned=False, pair_share=MAIN_SHARE), trials[index]
    bound = _larger(rest, compared, plan, confidence, delta, family)
    named = relation if relation is not None else rest.relation
    return Certificate(
        replace(bound, confidence=confidence, relation=named), choice, plan.turned, plan.pair_share
    )


def _larger(
    rest: Trials,
    compared: Trials,
    plan: _Plan,
    confidence: float,
    delta: float,
    family: str | None,
) -> EpsilonBound:
    level = rest.level(confidence)
    read = _turned(rest) if plan.turned else rest
    threshold = -plan.threshold if plan.turned else plan.threshold
    event = read.scores >= threshold
    one = epsilon_lower_bound(
        int(np.sum(event & read.labels)),
        int(np.sum(read.labels)),
        int(np.sum(event & ~read.labels)),
        int(np.sum(~read.labels)),
        confidence=1 - (1 - level) * (1 - plan.pair_share),
        delta=delta,
        method=_threshold_method(read, family),
        family=family,
    )
    wins, pairs = matched_wins(_turned(compared) if plan.turned else compared)
    of_pairs = pair_gaussian_epsilon if family == "gaussian" else pair_epsilon
    error = (1 - level) * plan.pair_share
    value = of_pairs(wins, pairs, error, delta)
    ceiling = max(float(one.ceiling), of_pairs(pairs, pairs, error, delta))
    if value <= float(one):
        return replace(one, ceiling=ceiling)
    method = "gaussian pair comparison" if family == "gaussian" else "pair comparison"
    return replace(one, value=value, ceiling=ceiling, method=method)


def _threshold_method(rest: Trials, family: str | None) -> str:
    if family == "gaussian":
        return "gaussian"
    return "clopper-pearson" if rest.paired else "buehler"


def _turned(trials: Trials) -> Trials:
    return replace(trials, scores=-trials.scores)


def _plan(trials: Trials, seen: NDArray[np.bool_], alpha: float, delta: float) -> _Plan:
    """What the validation part of one attack promises for the rest."""
    known, rest = trials.only(seen), trials.only(~seen)
    left = int(rest.labels.sum()), int((~rest.labels).sum())
    sizes = int(known.labels.sum()), int((~known.labels).sum())
    if min(*left, *sizes) == 0:
        return _Plan(-np.inf, np.inf, "direct", False, 1 - MAIN_SHARE)
    area = _area(known)
    pairs = min(left)
    won = (max(area, 1 - area) * min(sizes) + 0.5) / (min(sizes) + 1)
    by_pairs = pair_epsilon(won * pairs, pairs, alpha, delta)
    both = [_promised_event(way, left, alpha, delta) for way in (known, _turned(known))]
    turned = both[1][0] > both[0][0]
    promise, threshold, direction = both[int(turned)]
    few_values = np.unique(known.scores).size <= sum(sizes) / 2
    prefers_pairs = not few_values and (min(sizes) < _FEW or promise <= by_pairs)
    if prefers_pairs and turned != (area < 0.5):
        turned = area < 0.5
        promise, threshold, direction = both[int(turned)]
    return _Plan(
        max(promise, by_pairs) if by_pairs > 0 else promise,
        -threshold if turned else threshold,
        direction,
        turned,
        MAIN_SHARE if prefers_pairs else 1 - MAIN_SHARE,
    )


def _area(known: Trials) -> float:
    _, tp, fp = roc_counts(known.scores[known.labels], known.scores[~known.labels])
    tpr, fpr = np.append(0.0, tp / tp[-1]), np.append(0.0, fp / fp[-1])
    return float(np.trapezoid(tpr, fpr))


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
    known: Trials, left: tuple[int, int], alpha: float, delta: float
) -> tuple[float, float, str]:
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
    return float(directions[way, place]), threshold, ("direct", "inverse")[way]
