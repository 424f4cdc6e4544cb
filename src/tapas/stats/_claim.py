"""Is a claimed epsilon contradicted?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tapas.errors import StatisticsError
from tapas.stats._bands import max_epsilon_lower_bound
from tapas.stats._bound import EpsilonBound
from tapas.stats._clopper_pearson import clopper_pearson_epsilon
from tapas.stats._counts import check_counts, check_level, plain
from tapas.stats._selection import certify, select_threshold
from tapas.stats._trials import as_trials

__all__ = ["ClaimVerdict", "audit_claim", "claim_p_value"]

_STEPS = 50


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
    summaries: Any,
    epsilon: float,
    delta: float = 0.0,
    *,
    confidence: float = 0.95,
    validation_split: float | None = 0.1,
    heuristic: str = "cp",
    method: str = "clopper-pearson",
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
    heuristic, method, family
        As in `select_threshold` and `epsilon_lower_bound`.

    Notes
    -----
    Assumes: independent trials, or groups with at most one trial per world.
    Guarantees: a true claim is contradicted with probability at most
    ``1 - confidence``, however many attacks and thresholds were tried. A claim
    that is not contradicted is not thereby proved.
    """
    check_level(confidence, delta)
    if not epsilon >= 0:
        raise StatisticsError(f"the claimed epsilon must be at least 0, got {epsilon!r}")
    threshold: float | None = None
    direction: str | None = None
    if validation_split is None:
        index, bound = _best_of_bands(summaries, confidence, delta, relation)
    else:
        choice = select_threshold(
            summaries, validation_split=validation_split, heuristic=heuristic, delta=delta
        )
        index, threshold, direction = choice.index, choice.threshold, choice.direction
        bound = certify(
            choice,
            summaries,
            confidence=confidence,
            delta=delta,
            method=method,
            family=family,
            relation=relation,
        )
    gaussian = family == "gaussian" and bound.method == "gaussian"
    contradicted = bool(bound.certifies or gaussian) and float(bound) > epsilon
    return ClaimVerdict(
        contradicted=contradicted,
        epsilon=epsilon,
        delta=delta,
        bound=bound,
        index=index,
        threshold=threshold,
        direction=direction,
        words=_words(contradicted, epsilon, delta, bound),
    )


def _best_of_bands(
    summaries: Any, confidence: float, delta: float, relation: str | None
) -> tuple[int, EpsilonBound]:
    trials = as_trials(summaries)
    each = 1 - (1 - confidence) / len(trials)
    bounds = []
    for summary in trials:
        summary.refuse_pooled()
        bounds.append(
            max_epsilon_lower_bound(
                summary.scores[summary.labels],
                summary.scores[~summary.labels],
                confidence=each,
                delta=delta,
                relation=relation if relation is not None else summary.relation,
            )
        )
    index = int(np.argmax([float(bound) for bound in bounds]))
    best = bounds[index]
    return index, EpsilonBound(
        best.value, confidence, delta, best.method, best.ceiling, best.relation
    )


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


def claim_p_value(
    tp: ArrayLike,
    num_positive: ArrayLike,
    fp: ArrayLike,
    num_negative: ArrayLike,
    epsilon: float,
    *,
    delta: float = 0.0,
) -> Any:
    """Return the smallest alpha at which E1 contradicts the claimed epsilon.

    One p-value per target or attack, for `holm`.

    Notes
    -----
    Assumes: what E1 assumes (`epsilon_lower_bound`). Guarantees: under a true
    claim the value is at most alpha with probability at most alpha.
    """
    check_level(0.5, delta)
    hits, positives = check_counts(tp, num_positive, ("tp", "num_positive"))
    alarms, negatives = check_counts(fp, num_negative, ("fp", "num_negative"))
    shape = np.broadcast_shapes(hits.shape, positives.shape, alarms.shape, negatives.shape)
    low, high = np.full(shape, -700.0), np.zeros(shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        alpha = np.exp(middle)
        above = clopper_pearson_epsilon(hits, positives, alarms, negatives, alpha, delta) > epsilon
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return plain(np.exp(high))
