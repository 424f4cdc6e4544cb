"""Stop playing when enough is known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tapas._validate import check_count, check_probability
from tapas.audit._subject_run import SubjectRun
from tapas.results import CONFIDENCE, Claim, Dependence, LabelInferenceAttackSummary
from tapas.stats import SequentialEpsilon, shared_confidence

BoolArray = NDArray[np.bool_]

# Share of the error for an attack that is wrong too often to be guessing.
_TURNED = 0.1
# Share of what is left for looks before the last, where only a contradicted claim ends trials.
_BEFORE_THE_LAST = 0.05


@dataclass(frozen=True)
class Stop:
    """Why trials ended, whether that contradicts a claim, and how many were judged until then."""

    words: str
    contradicts: Claim | None = None
    judged: int | None = None


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
    share : float
        What part of the error contradicting the claim early may spend. Of the rest the last look
        has nearly all, or each as much where a `width` may end the trials.
    """

    claim: Claim | None = None
    width: float | None = None
    every: int = 50
    confidence: float = 0.95
    share: float = 0.5

    def __post_init__(self) -> None:
        check_count(self.every, "every", minimum=2)
        check_probability(self.confidence, "confidence", open_interval=True)
        check_probability(self.share, "share", open_interval=True)

    @classmethod
    def on_contradiction(cls, claim: Claim) -> "StopEarly":
        """What audits of a claim do by default: it costs a tenth of the error."""
        return cls(claim, share=0.1)

    @property
    def never(self) -> bool:
        """Whether all trials are played whatever they show."""
        return self.claim is None and self.width is None

    def reason(self, summaries: Sequence[LabelInferenceAttackSummary]) -> str | None:
        """Why to stop now in words, or None, in a run that is the first."""
        stop = self.end(summaries)
        return None if stop is None else stop.words

    def share_of_look(self, seen: int, num_trials: int) -> float:
        """What part of the error a look at results may spend, after so many of the trials."""
        looks = max(1, math.ceil(num_trials / self.every))
        left = 1.0 if self.claim is None else 1 - self.share
        if self.width is not None:
            return left / looks
        if looks == 1 or self.never:
            return left
        if seen >= num_trials:
            return (1 - _BEFORE_THE_LAST) * left
        return _BEFORE_THE_LAST * left / (looks - 1)

    def end(
        self, summaries: Sequence[LabelInferenceAttackSummary], share: float = 1.0
    ) -> Stop | None:
        """Why to stop now, or None.

        Attacks and targets share the error between them, of which earlier runs leave a `share`.
        """
        number = max(1, len(summaries))
        level = shared_confidence(
            self.confidence, number, share * (1.0 if self.claim is None else self.share)
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


def tested_until(
    run: SubjectRun, stopping: StopEarly
) -> tuple[list[LabelInferenceAttackSummary], Stop | None]:
    """Summaries of the test trials up to the look that ended them, and why it did."""
    judged, summaries = 0, []
    while judged < run.num_test:
        judged = min(judged + stopping.every, run.num_test)
        summaries = run.test(judged)
        stop = stopping.end(summaries, run.look_share())
        if stop is not None:
            run.num_test = judged  # what was played ahead was not asked for
            return summaries, replace(stop, judged=judged)
    return summaries, None


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
