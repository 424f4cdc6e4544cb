"""Is a claimed epsilon contradicted?"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tapas._validate import check_choice
from tapas.errors import StatisticsError
from tapas.stats._bands import max_epsilon_lower_bound
from tapas.stats._bound import EpsilonBound
from tapas.stats._counts import check_level
from tapas.stats._epsilon import METHODS
from tapas.stats._gaussian import check_family
from tapas.stats._multiplicity import shared_confidence
from tapas.stats._portfolio import certificate
from tapas.stats._selection import ThresholdChoice, certify, select_threshold
from tapas.stats._trials import Summaries, SummaryLike, as_trials

__all__ = ["ClaimVerdict", "audit_claim"]

DEFAULT = "portfolio"


@dataclass(frozen=True)
class ClaimVerdict:
    """The answer to a claim, and what it rests on.

    Parameters
    ----------
    contradicted
        Whether the bound exceeds the claim.
    epsilon, delta
        The claim.
    bound
        The certificate.
    index
        Which summary (attack) it comes from.
    threshold, direction
        The chosen event; None where a band over all thresholds was used.
    words
        The verdict in one sentence.
    """

    contradicted: bool
    epsilon: float
    delta: float
    bound: EpsilonBound
    index: int
    threshold: float | None
    direction: str | None
    words: str


def audit_claim(
    summaries: Summaries,
    epsilon: float,
    delta: float = 0.0,
    *,
    confidence: float = 0.95,
    validation_split: float | None = 0.1,
    across: str = "selection",
    heuristic: str = "cp",
    method: str = DEFAULT,
    family: str | None = None,
    relation: str | None = None,
) -> ClaimVerdict:
    """Say whether attacks contradict the claim that a mechanism is (epsilon, delta)-private.

    Parameters
    ----------
    summaries
        One summary or several, as in `select_threshold`.
    epsilon, delta
        The claim.
    validation_split
        Share of the trials spent on choosing attack, threshold and direction;
        the rest certify. None: no trial is spent, a Berk-Jones band covers all
        thresholds and Bonferroni all attacks (`method` then has no use).
    across
        How several summaries are covered where there is a split: by
        ``"selection"`` of the most promising on the validation part, or by
        ``"bonferroni"``, which certifies each at its own threshold and takes the
        largest bound.
    heuristic, method, family
        ``"portfolio"`` is `certificate`, which chooses for itself; other methods are
        those of `epsilon_lower_bound`, at a threshold that `select_threshold` chooses
        by `heuristic`.

    Notes
    -----
    Assumes: independent trials, groups with at most one trial per world, or
    records decided by coins (then `one_run_epsilon` bounds); others are refused.
    Guarantees: a true claim is contradicted with probability at most
    ``1 - confidence``, however many attacks and thresholds were tried. A claim
    that is not contradicted is not thereby proved.
    """
    check_level(confidence, delta)
    if not epsilon >= 0:
        raise StatisticsError(f"the claimed epsilon must be at least 0, got {epsilon!r}")
    check_choice(across, "across", ("selection", "bonferroni"))
    check_choice(method, "method", (DEFAULT, *METHODS))
    check_family(family)
    options = _Options(confidence, delta, validation_split, heuristic, method, family, relation)
    index, bound, choice = _certificate(_listed(summaries), options, across)
    gaussian = family == "gaussian" and bound.method != "bayes"
    contradicted = bool(bound.certifies or gaussian) and float(bound) > epsilon
    return ClaimVerdict(
        contradicted=contradicted,
        epsilon=epsilon,
        delta=delta,
        bound=bound,
        index=index,
        threshold=None if choice is None else choice.threshold,
        direction=None if choice is None else choice.direction,
        words=_words(contradicted, epsilon, delta, bound),
    )


@dataclass(frozen=True)
class _Options:
    confidence: float
    delta: float
    validation_split: float | None
    heuristic: str
    method: str
    family: str | None
    relation: str | None


_Certificate = tuple[int, EpsilonBound, ThresholdChoice | None]


def _certificate(summaries: list[SummaryLike], options: _Options, across: str) -> _Certificate:
    if options.validation_split is not None and across == "selection":
        return _selected(summaries, options)
    each = replace(options, confidence=shared_confidence(options.confidence, len(summaries)))
    one = _band if options.validation_split is None else _selected
    found = [one([summary], each) for summary in summaries]
    index = int(np.argmax([float(bound) for _, bound, _ in found]))
    _, bound, choice = found[index]
    ceiling = max(float(other.ceiling) for _, other, _ in found)
    return index, replace(bound, confidence=options.confidence, ceiling=ceiling), choice


def _selected(summaries: list[SummaryLike], options: _Options) -> _Certificate:
    share = 0.1 if options.validation_split is None else options.validation_split
    if options.method == DEFAULT:
        found = certificate(
            summaries,
            confidence=options.confidence,
            delta=options.delta,
            validation_split=share,
            family=options.family,
            relation=options.relation,
        )
        return found.choice.index, found.bound, found.choice
    choice = select_threshold(
        summaries, validation_split=share, heuristic=options.heuristic, delta=options.delta
    )
    bound = certify(
        choice,
        summaries,
        confidence=options.confidence,
        delta=options.delta,
        method=options.method,
        family=options.family,
        relation=options.relation,
    )
    return choice.index, bound, choice


def _band(summaries: list[SummaryLike], options: _Options) -> _Certificate:
    (trials,) = as_trials(summaries)
    if trials.decided_by_coins:
        return _selected(summaries, options)
    trials.dependence.refuse()
    bound = max_epsilon_lower_bound(
        trials.scores[trials.labels],
        trials.scores[~trials.labels],
        confidence=trials.level(options.confidence),
        delta=options.delta,
        relation=options.relation if options.relation is not None else trials.relation,
    )
    return 0, replace(bound, confidence=options.confidence), None


def _listed(summaries: Summaries) -> list[SummaryLike]:
    found = list(summaries) if isinstance(summaries, Iterable) else [summaries]
    if not found:
        raise StatisticsError("expected at least one summary, got none")
    return found


def _words(contradicted: bool, epsilon: float, delta: float, bound: EpsilonBound) -> str:
    claim = f"The claim of epsilon {epsilon:g}" + (f" at delta {delta:g}" if delta > 0 else "")
    if contradicted:
        return f"{claim} is contradicted: {bound}."
    if bound.ceiling <= epsilon:
        return (
            f"{claim} could not have been contradicted with so few trials: {bound}. "
            "Run more trials."
        )
    return f"{claim} is not contradicted, which does not prove it: {bound}."
