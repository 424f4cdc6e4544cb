"""What would decide a limit on the share that is found at few false alarms."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tapas.results._facts import SummaryFacts
from tapas.results._label_inference import LabelInferenceAttackSummary

__all__ = ["at_few_false_alarms"]

FAR = 10_000  # judged records, or four times as many as there are


def at_few_false_alarms(
    facts: SummaryFacts, is_decided: Callable[[SummaryFacts], bool]
) -> str | None:
    """Return what would decide it, in words; None where nothing is known of further trials."""
    if _answers_yes_or_no(facts.summary):
        return (
            f"{facts.attack} answers yes or no only, so that at so few false alarms it finds "
            "nobody, or everybody that it says yes to, and which is open; leave it out of the "
            "attacks, or limit auc or advantage instead"
        )
    if not facts.dependence.is_by_record:
        return None
    here = len(facts.summary)
    most = max(4, FAR // here)
    several = np.unique(np.round(np.geomspace(2, most, 10)).astype(int))
    times = next((int(n) for n in several if is_decided(_repeated(facts, int(n)))), None)
    if times is None:
        return f"so near the limit {most * here:,} judged records would not decide either"
    return (
        f"with such scores about {times * here:,} judged records would decide it, where there are "
        f"{here:,}; records that the attacker knows are not judged"
    )


def _answers_yes_or_no(summary: LabelInferenceAttackSummary) -> bool:
    scores = summary.scores
    return scores is None or (scores.ndim == 1 and len(np.unique(scores)) <= 2)


def _repeated(facts: SummaryFacts, times: int) -> SummaryFacts:
    """What would be found if each score came up so many times."""
    rows = np.tile(np.arange(len(facts.summary)), times)
    return replace(facts, summary=facts.summary.drawn(rows), _known={})
