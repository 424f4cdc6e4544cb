"""What became of a claimed guarantee."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tapas import stats
from tapas.results._label_inference import LabelInferenceAttackSummary
from tapas.results._limits import Claim
from tapas.results._rounding import hardly_positive, rounded_down
from tapas.stats import Dependence

__all__ = ["ClaimOutcome", "judge_claim"]

ClaimState = Literal["none", "contradicted", "unseen", "untested", "open"]


@dataclass(frozen=True)
class ClaimOutcome:
    """What attacks say of a claimed (epsilon, delta).

    Attributes
    ----------
    claim : Claim or None
    state : {"none", "contradicted", "unseen", "untested", "open"}
        No claim; more was shown; so few trials could not have shown more; no certificate is
        possible; not contradicted, which proves nothing.
    words : str
    bound : EpsilonBound or None
        The certificate that the state rests on, over all attacks and targets together.
    power : float or None
        Of an open claim, about how likely it would have been contradicted, had the mechanism
        twice the claimed epsilon and the attacks been the best there are. The mechanism is taken
        for one like randomized response, or for a Gaussian one where the claim is read so.
    """

    claim: Claim | None
    state: ClaimState
    words: str
    bound: stats.EpsilonBound | None = None
    power: float | None = None


def judge_claim(
    claim: Claim | None,
    summaries: Sequence[LabelInferenceAttackSummary],
    confidence: float = 0.95,
    stopped: str | None = None,
) -> ClaimOutcome:
    """Say what the summaries that can certify an epsilon say of a claim.

    Parameters
    ----------
    claim, summaries, confidence
        The claim, what was recorded, and how certain it must be.
    stopped : str, optional
        Why trials ended, where that was a bound on this very claim which holds whenever they end
        (`tapas.audit.StopEarly`).

    Notes
    -----
    Assumes: what `tapas.stats.audit_claim` assumes. Guarantees: a true claim is contradicted with
    probability at most ``1 - confidence``, over all the summaries together.
    """
    if claim is None:
        return ClaimOutcome(None, "none", "No privacy guarantee was claimed.")
    name = f"The claimed epsilon of {claim.epsilon:g}"
    name += f" (delta {claim.delta:g})" if claim.delta else ""
    if not summaries:
        words = f"{name} was not tested: no certificate could be made from these trials."
        return ClaimOutcome(claim, "untested", words)
    if claim.family is not None:
        name += f", if the mechanism is {claim.family.capitalize()},"
    bound = stats.audit_claim(
        summaries,
        claim.epsilon,
        claim.delta,
        confidence=confidence,
        across="bonferroni",
        family=claim.family,
    ).bound
    if stopped is not None and not float(bound) > claim.epsilon:
        words = f"{name} is contradicted by the bound that holds whenever trials end: {stopped}."
        return ClaimOutcome(claim, "contradicted", words, bound)
    return _outcome(claim, name, bound, _power(claim, summaries, confidence))


def _power(
    claim: Claim, summaries: Sequence[LabelInferenceAttackSummary], confidence: float
) -> float | None:
    """How likely a contradiction is where epsilon is twice as large as claimed."""
    if claim.epsilon == 0:
        return None
    return max(
        stats.claim_power(
            claim.epsilon,
            len(one) if one.dependence is Dependence.COINS else fewest_of_a_world(one),
            dependence=one.dependence,
            confidence=stats.shared_confidence(confidence, len(summaries), one.error_share),
            delta=claim.delta,
            family=claim.family,
        )
        for one in summaries
    )


def fewest_of_a_world(summary: LabelInferenceAttackSummary) -> int:
    """How many trials the rarer of two secrets has."""
    return min(int((summary.labels == 0).sum()), int((summary.labels == 1).sum()))


def _outcome(
    claim: Claim, name: str, bound: stats.EpsilonBound, power: float | None
) -> ClaimOutcome:
    shown, ceiling = float(bound), float(bound.ceiling)
    if shown > claim.epsilon:
        least = "more" if hardly_positive(shown) else f"at least {rounded_down(shown)}"
        words = f"{name} is contradicted: {least} was shown."
        return ClaimOutcome(claim, "contradicted", words, bound)
    if ceiling <= claim.epsilon:
        words = (
            f"{name} could not have been contradicted: so few trials can show at most "
            f"{rounded_down(ceiling)}. Run more trials."
        )
        return ClaimOutcome(claim, "unseen", words, bound)
    what = rounded_down(shown) if shown > 0 else "no epsilon above 0"
    if hardly_positive(shown):
        what = "an epsilon only just above 0"
    words = (
        f"{name} is not contradicted, which does not prove it: {what} was shown, and a perfect "
        f"attack could have shown {rounded_down(ceiling)}."
    )
    if power is not None:
        like = "a mechanism like randomized response" if claim.family is None else "a Gaussian one"
        words += (
            f" Were epsilon twice as large, by {like}, and the attack the best there is, it would "
            f"have been contradicted with a probability of about {power:.2f}."
        )
    return ClaimOutcome(claim, "open", words, bound, power)
