"""Stop playing when enough is known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tapas._validate import check_count, check_probability
from tapas.results import CONFIDENCE, Claim, Dependence, LabelInferenceAttackSummary
from tapas.stats import SequentialEpsilon, shared_confidence

BoolArray = NDArray[np.bool_]

# Share of the error for an attack that is wrong too often to be guessing.
_TURNED = 0.1
# Share of the error for contradicting a claim as trials end; the rest is for what is said of them.
_OF_THE_CLAIM = 0.5


@dataclass(frozen=True)
class Stop:
    """Why trials ended, and whether that contradicts a claim."""

    words: str
    contradicts: Claim | None = None


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
        """Why to stop now in words, or None, in a run that is the first."""
        stop = self.end(summaries)
        return None if stop is None else stop.words

    def share_of_looks(self, num_trials: int) -> float:
        """What part of the error each look at results may spend, where there are so many trials."""
        left = 1.0 if self.claim is None else 1 - _OF_THE_CLAIM
        return left / max(1, math.ceil(num_trials / self.every))

    def end(
        self, summaries: Sequence[LabelInferenceAttackSummary], share: float = 1.0
    ) -> Stop | None:
        """Why to stop now, or None.

        Attacks and targets share the error between them, of which earlier runs leave a `share`.
        """
        number = max(1, len(summaries))
        level = shared_confidence(
            self.confidence, number, share * (1.0 if self.claim is None else _OF_THE_CLAIM)
        )
        for summary in summaries:
            pairs = _matched(summary)
            if pairs is None:
                continue
            told, turned = (
                self._bound(summary, shared_confidence(level, 1, part)).update_pair(*right)
                for part, right in ((1 - _TURNED, pairs), (_TURNED, tuple(~one for one in pairs)))
            )
            if self.claim is not None and (told.contradicted or turned.contradicted):
                words = (
                    f"{summary.attack} contradicted the claimed epsilon {self.claim.epsilon:g} "
                    f"after {len(summary)} trials, with {100 * self.confidence:g}% confidence"
                )
                return Stop(words, self.claim if self.confidence >= CONFIDENCE else None)
            if self.width is not None and told.should_stop:
                return Stop(
                    f"the interval for epsilon of {summary.attack} is at most {self.width:g} wide "
                    f"after {len(summary)} trials"
                )
        return None

    def _bound(self, summary: LabelInferenceAttackSummary, confidence: float) -> SequentialEpsilon:
        return SequentialEpsilon(
            claim=None if self.claim is None else self.claim.epsilon,
            delta=0.0 if self.claim is None else self.claim.delta,
            confidence=confidence,
            width=self.width,
            relation=summary.relation,
        )


def _matched(summary: LabelInferenceAttackSummary) -> tuple[BoolArray, BoolArray] | None:
    """Whether the guess was right, in pairs of one trial of each world; None where none can be.

    The i-th trial of one world goes with the i-th of the other, a last one without a partner waits:
    so nothing need be known of how often each secret is drawn.
    """
    by_pair = summary.dependence == Dependence.PAIRS
    if not (by_pair or summary.dependence == Dependence.INDEPENDENT):
        return None
    if summary.secret_kind != "binary":
        return None
    right = summary.labels == summary.predictions
    worlds = [np.flatnonzero(summary.labels == world) for world in (1, 0)]
    if by_pair and summary.groups is not None:
        numbers, counts = np.unique(summary.groups, return_counts=True)
        complete = np.isin(summary.groups, numbers[counts == 2])
        worlds = [world[complete[world]] for world in worlds]
    whole = min(map(len, worlds))
    return right[worlds[0][:whole]], right[worlds[1][:whole]]
