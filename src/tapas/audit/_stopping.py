"""Stop playing when enough is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapas._validate import check_count, check_probability
from tapas.results import Claim, Dependence, LabelInferenceAttackSummary
from tapas.stats import SequentialEpsilon, shared_confidence


@dataclass(frozen=True)
class StopEarly:
    """When to stop playing test trials: a bound that holds at every look decides.

    Attributes
    ----------
    claim : Claim, optional
        Stop as soon as this claim is contradicted.
    width : float, optional
        Stop as soon as an interval for epsilon is at most this wide.
    every : int
        Number of trials between two looks.
    confidence : float
    """

    claim: Claim | None = None
    width: float | None = None
    every: int = 50
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_count(self.every, "every", minimum=2)
        check_probability(self.confidence, "confidence", open_interval=True)

    def reason(self, summaries: Sequence[LabelInferenceAttackSummary]) -> str | None:
        """Why to stop now, or None. Attacks and targets share the error between them."""
        confidence = shared_confidence(self.confidence, max(1, len(summaries)))
        for summary in summaries:
            bound = self._bound(summary, confidence)
            if bound is None:
                continue
            name = getattr(summary, "attack", "an attack")
            if bound.contradicted and self.claim is not None:
                return (
                    f"{name} contradicted the claimed epsilon {self.claim.epsilon:g} after "
                    f"{len(summary)} trials"
                )
            if self.width is not None and bound.should_stop:
                return (
                    f"the interval for epsilon of {name} is at most {self.width:g} wide after "
                    f"{len(summary)} trials"
                )
        return None

    def _bound(
        self, summary: LabelInferenceAttackSummary, confidence: float
    ) -> SequentialEpsilon | None:
        """A bound that holds at every look; None where trials depend on each other otherwise."""
        bound = SequentialEpsilon(
            claim=None if self.claim is None else self.claim.epsilon,
            delta=0.0 if self.claim is None else self.claim.delta,
            confidence=confidence,
            width=self.width,
            relation=summary.relation,
        )
        correct = np.asarray(summary.labels) == np.asarray(summary.predictions)
        if summary.dependence == Dependence.INDEPENDENT:
            return bound.update(correct)
        if summary.dependence != Dependence.PAIRS:
            return None
        # Pairs come one after the other; an unfinished last one waits.
        whole = 2 * (len(correct) // 2)
        return bound.update_pair(correct[0:whole:2], correct[1:whole:2])
