"""The default certificate: ways of bounding epsilon that share the error."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from tapas._validate import check_probability
from tapas.stats._bound import EpsilonBound
from tapas.stats._buehler import buehler_epsilon
from tapas.stats._clopper_pearson import clopper_pearson_epsilon
from tapas.stats._counts import check_level
from tapas.stats._epsilon import epsilon_lower_bound
from tapas.stats._gaussian import check_family, check_gaussian_delta
from tapas.stats._pair_comparison import matched_wins, pair_epsilon, pair_gaussian_epsilon
from tapas.stats._pair_gaps import gap_epsilon, gaps_of
from tapas.stats._promises import Plan, plan_for
from tapas.stats._selection import ThresholdChoice, certify, select_threshold, validation_masks
from tapas.stats._trials import Summaries, Trials, as_trials
from tapas.stats._two_tails import tail_epsilon, tails_of

__all__ = ["LITTLE_SHARE", "MAIN_SHARE", "Certificate", "certificate"]

# Of the error, for what the validation part prefers. Simulated audits: less costs the preferred
# way more than it gives the others.
MAIN_SHARE = 0.9
# For each of the two others where trials are paired.
LITTLE_SHARE = (1 - MAIN_SHARE) / 2
_TAILS = ("two tails", "two tails, turned")


@dataclass(frozen=True)
class Certificate:
    """A bound, and the choice that it rests on.

    Parameters
    ----------
    bound
        The largest of several; its method says which.
    choice
        Attack, threshold and direction, chosen on trials that the threshold's bound did not see.
    turned
        Whether scores are read the other way round: the attack ranks members last.
    shares
        Which part of the error each way had, by its method.
    """

    bound: EpsilonBound
    choice: ThresholdChoice
    turned: bool
    shares: Mapping[str, float]


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
    members, and which way has most of the error. On the rest the error is shared between Buehler's
    bound at the threshold, which finds events that are rare, and guesses about the highest and the
    lowest scores, of which it needs not be known how many to guess. Where so few trials cannot
    choose, these are about all trials, read both ways. Where trials are paired, the ways are
    Clopper-Pearson's bound, the comparison of pairs, one of each world: a member scores above
    a non-member with probability at most ``1 - (1 - delta)^2 / (1 + e^epsilon)``; and their gaps:
    of two scores that are given the higher one is the member's with odds of at most
    ``e^(2 epsilon)``, which is more than any comparison where scores are decisions.

    Parameters
    ----------
    summaries, validation_split, delta
        As in `select_threshold`.
    family
        ``"gaussian"`` where the claim is Gaussian differential privacy: threshold and pairs are
        then read so, which shows more and holds for such mechanisms only.

    Notes
    -----
    Assumes: independent trials, groups with at most one trial per world, or records decided by
    coins (then `one_run_epsilon` bounds); others are refused. Guarantees: exceeds the true
    epsilon with probability at most ``1 - confidence``, whatever was chosen.

    References
    ----------
    Buehler (1957); Fisher (1935) for two tails; Hoeffding's disjoint pairs (1963); Dong, Roth and
    Su (2022) for Gaussian trade-off curves.
    """
    check_level(confidence, delta)
    share = check_probability(validation_split, "validation_split", open_interval=True)
    trials = as_trials(summaries)
    for one in trials:
        one.dependence.refuse()
    if check_family(family) == "gaussian":
        check_gaussian_delta(delta)
    if any(one.decided_by_coins for one in trials):
        choice = select_threshold(summaries, validation_split=share, delta=delta)
        bound = certify(
            choice, summaries, confidence=confidence, delta=delta, family=family, relation=relation
        )
        return Certificate(bound, choice, False, MappingProxyType({bound.method: 1.0}))
    masks = validation_masks(trials, share)
    plans = [
        plan_for(one.only(mask), one.only(~mask), 1 - confidence, delta)
        for one, mask in zip(trials, masks, strict=True)
    ]
    index = int(np.argmax([plan.promise for plan in plans]))
    plan, remaining = plans[index], ~masks[index]
    remaining.flags.writeable = False
    choice = ThresholdChoice(index, plan.threshold, plan.direction, remaining, plan.promise)
    rest = trials[index].only(remaining)
    whole, alpha = trials[index] if len(trials) == 1 else None, 1 - rest.level(confidence)
    ways = _ways(rest, whole, plan, delta, family)
    value, method = _largest(ways, alpha)
    named = relation if relation is not None else rest.relation
    ceiling = _ceiling(rest, whole, plan, alpha, delta, family)
    bound = EpsilonBound(value, confidence, delta, method, ceiling, named)
    shares = MappingProxyType({way.method: way.share for way in ways})
    return Certificate(bound, choice, plan.turned, shares)


class _Way(NamedTuple):
    """A method, its part of the error, and its value for an error.

    A value below the floor need not be exact.
    """

    method: str
    share: float
    bound: Callable[[float, float], float]


def _largest(ways: list[_Way], alpha: float, floor: float = 0.0) -> tuple[float, str]:
    found: list[float] = []
    # The first is the threshold's, which takes longest: the others say what it has to reach.
    for way in reversed(ways):
        found.insert(0, way.bound(alpha * way.share, max(found, default=floor)))
    best = int(np.argmax(found))
    return found[best], ways[best].method


def _ceiling(
    rest: Trials, whole: Trials | None, plan: Plan, alpha: float, delta: float, family: str | None
) -> float:
    """The most that a perfect attack on these trials gets, whichever way it is taken to promise.

    So it is one number for all attacks.
    """
    perfect = replace(rest, scores=rest.labels.astype(float))
    all_of_it = None if whole is None else replace(whole, scores=whole.labels.astype(float))
    most = 0.0
    main = [(False, False)] + [(True, False)] * (rest.paired or not plan.is_blind)
    for by_event, by_gaps in [*main, (False, True)] if rest.paired else main:
        told = replace(plan, threshold=1.0, turned=False, by_event=by_event, by_gaps=by_gaps)
        ways = _ways(perfect, all_of_it, told, delta, family)
        most = max(most, _largest(ways, alpha, most)[0])
    return most


def _ways(
    rest: Trials, whole: Trials | None, plan: Plan, delta: float, family: str | None
) -> list[_Way]:
    """What is computed, of the trials that are left or, where nothing was chosen, of all."""
    left = 1 - MAIN_SHARE
    event, main = (MAIN_SHARE, left) if plan.by_event else (left, MAIN_SHARE)
    at_threshold = partial(_event_bound, _read(rest, plan.turned), plan, delta, family)
    if family == "gaussian":
        # Nothing is left to choose: Gaussian scores are compared best, and all of them.
        compared = _read(rest, plan.turned) if whole is None else whole
        event, main = (event, main) if whole is None else (left, MAIN_SHARE)
        pairs = partial(_pair_bound, compared, delta, pair_gaussian_epsilon)
        return [
            _Way("gaussian", event, at_threshold),
            _Way("gaussian pair comparison", main, pairs),
        ]
    if rest.paired:
        return _ways_of_pairs(_read(rest, plan.turned), plan, delta, at_threshold)
    if plan.by_event:
        tails = partial(_tail_bound, _read(rest, plan.turned), delta)
        return [_Way("buehler", event, at_threshold), _Way(_TAILS[plan.turned], main, tails)]
    read, turned = rest, plan.turned
    if whole is not None and plan.is_blind:
        read, turned = whole, False
    both = [partial(_tail_bound, _read(read, way), delta) for way in (turned, not turned)]
    return [
        _Way("buehler", left / 2, at_threshold),
        _Way(_TAILS[turned], main, both[0]),
        _Way(_TAILS[not turned], left / 2, both[1]),
    ]


def _ways_of_pairs(
    read: Trials, plan: Plan, delta: float, at_threshold: Callable[[float, float], float]
) -> list[_Way]:
    by_wins = not (plan.by_event or plan.by_gaps)
    of_wins, of_gaps = partial(_pair_bound, read, delta, pair_epsilon), partial(_gaps, read, delta)
    return [
        _Way("clopper-pearson", MAIN_SHARE if plan.by_event else LITTLE_SHARE, at_threshold),
        _Way("pair comparison", MAIN_SHARE if by_wins else LITTLE_SHARE, of_wins),
        _Way("pair gaps", MAIN_SHARE if plan.by_gaps else LITTLE_SHARE, of_gaps),
    ]


def _read(trials: Trials, turned: bool) -> Trials:
    return replace(trials, scores=-trials.scores) if turned else trials


def _event_bound(
    read: Trials,
    plan: Plan,
    delta: float,
    family: str | None,
    error: float,
    floor: float,
) -> float:
    event = read.scores >= (-plan.threshold if plan.turned else plan.threshold)
    tp, positives = int(np.sum(event & read.labels)), int(np.sum(read.labels))
    fp, negatives = int(np.sum(event & ~read.labels)), int(np.sum(~read.labels))
    alpha = 1 - (1 - error)  # as from a confidence
    if family is None and read.paired:
        return _exact_bound(tp, positives, fp, negatives, alpha, delta)
    if family is None:
        return buehler_epsilon(tp, positives, fp, negatives, alpha, delta, floor)
    found = epsilon_lower_bound(
        tp,
        positives,
        fp,
        negatives,
        confidence=1 - error,
        delta=delta,
        method=family,
        family=family,
    )
    return float(found)


@lru_cache(maxsize=4096)
def _exact_bound(
    tp: int, num_positive: int, fp: int, num_negative: int, alpha: float, delta: float
) -> float:
    """Clopper-Pearson's bound; targets of one audit mostly have the same few counts."""
    return float(clopper_pearson_epsilon(tp, num_positive, fp, num_negative, alpha, delta))


def _tail_bound(read: Trials, delta: float, error: float, floor: float) -> float:
    return tail_epsilon(tails_of(read), error, delta)


def _gaps(read: Trials, delta: float, error: float, floor: float) -> float:
    return gap_epsilon(gaps_of(read), error, delta)


def _pair_bound(
    read: Trials,
    delta: float,
    of_pairs: Callable[[int, int, float, float], float],
    error: float,
    floor: float,
) -> float:
    return of_pairs(*matched_wins(read), error, delta)
