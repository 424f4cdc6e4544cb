"""Which statements about an audit hold together, and how the error is shared between them."""

from tapas.results._findings import CONFIDENCE, Findings
from tapas.results._gates import Verdict
from tapas.results._rounding import rounded_up
from tapas.stats import look_share

__all__ = ["holds_together", "look_words"]


def holds_together(findings: Findings, verdict: Verdict) -> list[str]:
    """Return one sentence for each family of statements; the words of pages and JSON.

    The sharing itself is done by `tapas.stats.shared_confidence`, between attacks, targets and
    looks, and by `tapas.stats.certificate` between ways of bounding one epsilon.
    """
    number = len(findings.audited)
    if not number:
        return []
    copies = sum(subject.copies is not None for subject in findings.record.audited)
    level = _percent(CONFIDENCE)
    each = f"{number} audited results (attacks times targets)"
    every = "the one audited result" if number == 1 else f"all {each}"
    made = f"each is made at {_percent(findings.shared_confidence)}"
    said = [
        f"For each measure, the intervals of {every}, and the words about the strongest, "
        f"hold together with {level} confidence: {made}."
        + (" So does whether records were copied." if copies else "")
    ]
    if findings.certificate is not None:
        said.append(
            f"The certified epsilon and the verdict on a claimed one hold over {every} with "
            f"{level} confidence. Each bound shares its part of the error between a threshold and "
            f"guesses about the most extreme scores, or comparisons of pairs."
        )
    if findings.ways > 1:
        highest = any(finding.own.surest for finding in findings.audited)
        certified = [] if findings.certificate is None else ["the certificate"]
        of_people = ["the mean over people", "the p-values of people"] if findings.people else []
        ways = [*certified, *(["the highest scores"] if highest else []), *of_people]
        said.append(
            f"Whether a leak is found at all can be shown by the intervals, or by "
            f"{' or by '.join(ways)}: for that verdict each is made at "
            f"{_percent(findings.verdict_confidence)}, so that it holds with {level} confidence."
        )
    if verdict.outcomes:
        levels = ", ".join(sorted({_percent(one.gate.confidence) for one in verdict.outcomes}))
        said.append(
            f"Each gate holds over {every} with its own confidence ({levels}); several gates "
            f"share nothing with each other."
        )
    if findings.people:
        said.append(
            f"Counts of people by AUC hold together with {level} confidence, those by epsilon too, "
            f"and so do the p-values of all people and attacks (Holm)."
        )
    said += look_words(findings)
    if findings.record.contradicted:
        said.append(
            "The bound that may contradict the claim whenever trials end has a part of the error "
            "of its own; what else is said has the rest."
        )
    said.append(
        f"In the table of every attack each interval holds on its own with {level} confidence, "
        f"those of controls among them."
    )
    return said


def look_words(findings: Findings) -> list[str]:
    """What part of the error this look spends, where trials were looked at more than once."""
    share = findings.error_share
    if share >= 1:
        return []
    # Later looks add up to twice the second.
    together = 1 - (1 - CONFIDENCE) * (look_share(1) + 2 * look_share(2))
    return [
        f"Trials are looked at more than once: this look spends {rounded_up(100 * share)}% of "
        f"the error, so that all looks hold together with {_percent(together)} confidence."
    ]


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.6g}%"
