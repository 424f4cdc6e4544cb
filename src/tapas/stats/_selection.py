"""Choose attack, threshold and direction on one part of the trials, certify on the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tapas._validate import check_choice, check_probability
from tapas.errors import StatisticsError
from tapas.stats._bands import roc_counts
from tapas.stats._bound import EpsilonBound
from tapas.stats._clopper_pearson import ratios_from_limits
from tapas.stats._counts import check_level
from tapas.stats._epsilon import epsilon_lower_bound
from tapas.stats._intervals import lower_limit, upper_limit, upper_limit_table
from tapas.stats._one_run import one_run_epsilon, one_run_gaussian_epsilon
from tapas.stats._trials import Summaries, Trials, as_trials

__all__ = ["ThresholdChoice", "attack_epsilon_high", "certify", "select_threshold"]

FloatArray = NDArray[np.float64]

# A compromise found by simulated audits: 50 % chases extreme thresholds on Laplace noise, 99 %
# avoids them where they pay (Gaussian noise). Validity does not depend on it.
_SELECTION_ALPHA = 0.1
_FEWEST_EVENTS = 10
# Of the largest advantage. Simulated audits: higher costs rare events much, lower weak ones little.
_TELLING_SHARE = 0.5
_DIRECTIONS = ("direct", "inverse")


@dataclass(frozen=True)
class ThresholdChoice:
    """What the validation part chose, and which trials it did not see.

    Parameters
    ----------
    index
        Which summary (attack) was chosen.
    threshold
        The event is ``score >= threshold``.
    direction
        ``"direct"`` where the event itself tells (TPR/FPR), ``"inverse"`` where
        its complement ``score < threshold`` does (TNR/FNR).
    remaining
        True for the trials of the chosen summary left for certification.
    estimate
        Heuristic value of the choice; no confidence attaches to it.
    """

    index: int
    threshold: float
    direction: str
    remaining: NDArray[np.bool_] = field(repr=False)
    estimate: float


def select_threshold(
    summaries: Summaries,
    *,
    validation_split: float = 0.1,
    heuristic: str = "cp",
    delta: float = 0.0,
) -> ThresholdChoice:
    """Choose the attack, threshold and direction that promise the largest epsilon.

    Parameters
    ----------
    summaries
        One summary or several, with arrays `labels` (0 or 1), `predictions`,
        `scores` (None: the predictions serve) and, where trials depend on each
        other, `groups` (equal numbers mark dependent trials) or a stated
        `dependence` (`Dependence`). Where that is "coins" the decisions are
        taken as given; a single such summary spends no trial.
    validation_split
        Share of the trials, counted from the first, that may be looked at.
        Groups are never divided. If those trials all lie in one world, the
        first of each world are taken instead.
    heuristic
        ``"cp"``: E1 at 90 % confidence; ``"ratio"``: log ratio of the rates
        with half a count added, among events seen at least ten times if any were.
    delta
        The delta of the pair that will be bounded.

    Notes
    -----
    Assumes: summaries list the same trials in the same order, or independent
    ones. Guarantees: the choice depends on the trials outside `remaining` only,
    so any bound computed on `remaining` keeps its confidence. Trials from which
    no epsilon can be certified are refused.
    """
    share = check_probability(validation_split, "validation_split", open_interval=True)
    check_choice(heuristic, "heuristic", ("cp", "ratio"))
    check_level(0.5, delta)
    trials = as_trials(summaries)
    for summary in trials:
        summary.dependence.refuse()
    seen = validation_masks(trials, share)
    best: ThresholdChoice | None = None
    for index, (summary, mask) in enumerate(zip(trials, seen, strict=True)):
        estimate, threshold, direction = _best_event(summary.only(mask), heuristic, delta)
        if best is None or estimate > best.estimate:
            best = ThresholdChoice(index, threshold, direction, ~mask, estimate)
    if best is None:
        raise StatisticsError("no summaries to select from; pass at least one")
    best.remaining.flags.writeable = False
    return best


def certify(
    choice: ThresholdChoice,
    summaries: Summaries,
    *,
    confidence: float = 0.95,
    delta: float = 0.0,
    method: str = "clopper-pearson",
    family: str | None = None,
    relation: str | None = None,
) -> EpsilonBound:
    """Return the epsilon bound of a choice on the trials it did not see.

    Notes
    -----
    Assumes: what `epsilon_lower_bound` assumes, of the remaining trials; where
    records were decided by coins, what `one_run_epsilon` does (`one_run_gaussian_epsilon`
    with ``family="gaussian"``), and that bound is given whatever the `method`.
    Guarantees: its confidence, whatever was looked at to choose. Trials that
    share a group *and* a world, or a release, are not independent: they are
    refused, as are E2 and E3 on trials paired across the worlds.
    """
    summary = as_trials(summaries)[choice.index].only(choice.remaining)
    summary.dependence.refuse()
    counts = _Counts.of(summary, choice.threshold)
    relation = relation if relation is not None else summary.relation
    level = summary.level(confidence)
    if summary.decided_by_coins:
        trials = counts.num_trials
        of_guesses = one_run_gaussian_epsilon if family == "gaussian" else one_run_epsilon
        bound = of_guesses(
            trials, trials, counts.num_right, confidence=level, delta=delta, relation=relation
        )
        return replace(bound, confidence=confidence)
    bound = epsilon_lower_bound(
        *counts,
        confidence=level,
        delta=delta,
        method=method,
        family=family,
        paired=summary.paired,
        relation=relation,
    )
    return replace(bound, confidence=confidence)


def attack_epsilon_high(
    choice: ThresholdChoice, summaries: Summaries, bound: EpsilonBound
) -> float:
    """Return the upper end of the epsilon that the chosen attack shows, to go with its bound.

    Notes
    -----
    Assumes: what `certify` assumes. Guarantees: at the confidence of `bound`, a
    larger epsilon would not be shown by this attack at this threshold, in either
    direction. It says nothing of other attacks, so nothing of the mechanism. Never
    below the bound.
    """
    summary = as_trials(summaries)[choice.index].only(choice.remaining)
    counts = _Counts.of(summary, choice.threshold)
    alpha = 1 - summary.level(bound.confidence)
    if summary.decided_by_coins:
        hit = upper_limit([counts.num_right], counts.num_trials, alpha)
        miss = 1 - hit
    else:
        tp, num_positive, fp, num_negative = counts
        tn, fn = num_negative - fp, num_positive - tp
        hit = upper_limit([tp, tn], [num_positive, num_negative], alpha / 2)
        miss = lower_limit([fp, fn], [num_negative, num_positive], alpha / 2)
    with np.errstate(divide="ignore"):
        ratios = np.log(np.maximum(hit - bound.delta, 0.0)) - np.log(miss)
    return max(float(bound), float(ratios.max()))


class _Counts(NamedTuple):
    """What an event did in the two worlds, in the order of `epsilon_lower_bound`."""

    tp: int
    num_positive: int
    fp: int
    num_negative: int

    @classmethod
    def of(cls, summary: Trials, threshold: float) -> "_Counts":
        event, member = summary.scores >= threshold, summary.labels
        return cls(
            int(np.sum(event & member)),
            int(np.sum(member)),
            int(np.sum(event & ~member)),
            int(np.sum(~member)),
        )

    @property
    def num_trials(self) -> int:
        return self.num_positive + self.num_negative

    @property
    def num_right(self) -> int:
        return self.tp + self.num_negative - self.fp


def validation_masks(trials: Sequence[Trials], share: float) -> list[NDArray[np.bool_]]:
    """Return for each summary the trials that selection may see: the same number of units in all.

    Taking the same leading units everywhere keeps a trial that certifies one
    attack out of the selection through another. Decisions on coins are given: one
    summary of them leaves nothing to choose.
    """
    if len(trials) == 1 and trials[0].decided_by_coins:
        return [np.zeros(trials[0].labels.size, dtype=bool)]
    smallest = min(summary.num_units for summary in trials)
    if smallest < 2:
        raise StatisticsError(
            "selection needs at least two independent trials (or pairs), one to choose and one "
            f"to certify, got {smallest}; run more trials"
        )
    count = min(max(1, int(share * smallest)), smallest - 1)
    leading = [summary.units < count for summary in trials]
    if all(_both_worlds(s.labels[m]) for s, m in zip(trials, leading, strict=True)):
        return leading
    ones = min(int(summary.unit_world.sum()) for summary in trials)
    zeros = min(int((~summary.unit_world).sum()) for summary in trials)
    if min(ones, zeros) < 2:
        return leading
    each = max(1, int(share * zeros)), max(1, int(share * ones))
    return [_leading_of_each_world(summary, each) for summary in trials]


def _both_worlds(labels: NDArray[np.bool_]) -> bool:
    return bool(labels.any() and not labels.all())


def _leading_of_each_world(summary: Trials, each: tuple[int, int]) -> NDArray[np.bool_]:
    world = summary.unit_world
    taken = np.where(world, np.cumsum(world) <= each[1], np.cumsum(~world) <= each[0])
    return taken[summary.units]


def _best_event(summary: Trials, heuristic: str, delta: float) -> tuple[float, float, str]:
    if summary.decided_by_coins:
        counts = _Counts.of(summary, 1.0)
        wrong = counts.num_trials - counts.num_right
        return float(np.log((counts.num_right + 0.5) / (wrong + 0.5))), 1.0, _DIRECTIONS[0]
    positive = summary.scores[summary.labels]
    negative = summary.scores[~summary.labels]
    thresholds, tp, fp = roc_counts(positive, negative)
    if heuristic == "cp":
        fpr = upper_limit_table(negative.size, _SELECTION_ALPHA / 2)[fp]
        fnr = upper_limit_table(positive.size, _SELECTION_ALPHA / 2)[positive.size - tp]
    else:
        fpr = (fp + 0.5) / (negative.size + 1)
        fnr = (positive.size - tp + 0.5) / (positive.size + 1)
    directions = np.stack(ratios_from_limits(fpr, fnr, delta))
    if heuristic == "ratio":
        seen = np.stack([tp + fp, summary.scores.size - tp - fp])
        often = seen >= min(_FEWEST_EVENTS, int(seen.max()))
        directions = np.where(often, directions, -np.inf)
    if heuristic == "cp" and directions.max() <= 0:
        return _most_telling_event(thresholds, directions, tp, fp, positive.size, negative.size)
    way, place = np.unravel_index(int(np.argmax(directions)), directions.shape)
    return float(directions[way, place]), float(thresholds[place]), _DIRECTIONS[way]


def _most_telling_event(
    thresholds: FloatArray,
    directions: FloatArray,
    tp: NDArray[np.int64],
    fp: NDArray[np.int64],
    num_positive: int,
    num_negative: int,
) -> tuple[float, float, str]:
    """Where too few trials promise a bound: the best among events of large advantage.

    An event that always or never happens has a bound just below 0, which would
    beat every event that tells something. The estimate stays at most 0, so an
    attack that does promise a bound comes first.
    """
    advantage = tp / max(1, num_positive) - fp / max(1, num_negative)
    telling = advantage >= _TELLING_SHARE * advantage.max()
    bounds = np.where(telling, directions, -np.inf)
    way, place = np.unravel_index(int(np.argmax(bounds)), bounds.shape)
    return float(advantage[place]) - 1, float(thresholds[place]), _DIRECTIONS[way]
