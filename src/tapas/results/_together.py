"""Which statements about an audit hold together, and how the error is shared between them."""

from tapas.results._facts import judged_summaries
from tapas.results._findings import CONFIDENCE, Findings
from tapas.results._gates import Verdict
from tapas.results._given_away import left_out_columns
from tapas.results._rounding import rounded_up
from tapas.results._telling_failures import telling_failures
from tapas.stats import Dependence, look_share

__all__ = ["gates_words", "holds_together", "look_words"]


def holds_together(findings: Findings, verdict: Verdict) -> list[str]:
    """Return one sentence for each family of statements; the words of pages and JSON.

    The sharing itself is done by `tapas.stats.shared_confidence`, between attacks, targets and
    looks, and by `tapas.stats.certificate` between ways of bounding one epsilon.
    """
    if not findings.audited:
        return []
    every = _every(findings)
    said = [
        _intervals(findings, every),
        _certificates(findings, every),
        _ways(findings),
        _failures(findings),
        gates_words(findings, verdict),
        _bands(findings, every),
        _people(findings),
        _records(findings),
        _models(findings),
        _shares(findings),
        _left_out(findings),
        *look_words(findings),
        _looks_of_this_run(findings),
        _alone(findings),
    ]
    return [sentence for sentence in said if sentence]


def look_words(findings: Findings) -> list[str]:
    """What part of the error this look spends, where another was had before."""
    shares = [
        summary.error_share / one.spared
        for one in findings.record.audited
        for summary in judged_summaries(one)
    ]
    share = min(shares, default=1.0)
    if share > 0.999:  # of products of floats
        return []
    # Later looks add up to twice the second.
    together = 1 - (1 - CONFIDENCE) * (look_share(1) + 2 * look_share(2))
    return [
        f"Trials are looked at more than once, with more of them or by other attacks: this look "
        f"spends {rounded_up(100 * share)}% of the error, so that all looks hold together with "
        f"{_percent(together)} confidence."
    ]


def _looks_of_this_run(findings: Findings) -> str:
    spared = min((one.spared for one in findings.record.audited), default=1.0)
    if spared >= 1:
        return ""
    claimed = (
        "The bound that may contradict the claim whenever trials end has a part of the error of "
        "its own. "
    ) * (findings.record.claim is not None)
    return (
        f"This run looked at its trials while they were played, to end them early. {claimed}"
        f"What else is said where they ended has {rounded_up(100 * spared)}% of the error and the "
        f"other looks have the rest: so all that the run says holds together."
    )


def _every(findings: Findings) -> str:
    number = len(findings.audited)
    if number == 1:
        return "the one audited result"
    return f"all {number} audited results (attacks times targets)"


def _intervals(findings: Findings, every: str) -> str:
    return (
        f"For each measure, the intervals of {every}, and the words about the strongest, "
        f"hold together with {_LEVEL} confidence: each is made at "
        f"{_percent(findings.at_this_look(findings.shared_confidence))}."
    )


def _certificates(findings: Findings, every: str) -> str:
    if findings.certificate is None:
        return ""
    said = (
        f"The certified epsilon and the verdict on a claimed one hold over {every} with "
        f"{_LEVEL} confidence."
    )
    if all(finding.own.dependence is Dependence.COINS for finding in findings.audited):
        return f"{said} Each bound counts right guesses and divides its part of the error no more."
    return (
        f"{said} Each bound shares its part of the error between a threshold and "
        f"guesses about the most extreme scores, or comparisons of pairs."
    )


def _ways(findings: Findings) -> str:
    if findings.ways <= 1:
        return ""
    certified = [] if findings.certificate is None else ["the certificate"]
    highest = any(finding.own.surest for finding in findings.audited)
    copies = any(subject.copies is not None for subject in findings.record.audited)
    of_people = ["the mean over people", "the p-values of people"] if findings.people else []
    mapped = any(subject.exposure is not None for subject in findings.record.audited)
    found = (
        certified,
        ["the highest scores"] * highest,
        ["the test of copies"] * copies,
        ["the exposure map"] * mapped,
        of_people,
    )
    ways = [way for some in found for way in some]
    level = _percent(findings.at_this_look(findings.verdict_confidence))
    return (
        f"Whether a leak is found at all can be shown by the intervals, or by "
        f"{' or by '.join(ways)}: these share the error evenly, and for that verdict each interval "
        f"is made at {level}, so that it holds with {_LEVEL} confidence."
    )


def _failures(findings: Findings) -> str:
    if not telling_failures(findings):
        return ""
    return (
        f"That failures tell a secret is said over all targets with "
        f"{_percent(findings.confidence_of_a_way)} confidence, beside all else."
    )


def gates_words(findings: Findings, verdict: Verdict) -> str:
    """How often gates decide wrongly, each and any of several; empty where none does by chance."""
    errors = [
        1 - one.gate.confidence for one in verdict.outcomes if one.gate.metric != "dropped_columns"
    ]
    if not errors or not findings.audited:
        return ""
    each = " or ".join(f"{_percent(error)}" for error in sorted(set(errors)))
    over = f" over {_every(findings)}" * (len(findings.audited) > 1)
    said = f"passes or fails wrongly in at most {each} of audits{over}"
    if len(errors) == 1:
        return f"The gate {said}."
    return (
        f"Each gate by itself {said}; as gates share no error with each other, any of these "
        f"{len(errors)} may do so in up to {_percent(min(1.0, sum(errors)))}."
    )


def _bands(findings: Findings, every: str) -> str:
    if all(finding.own.dependence.band_refusal for finding in findings.audited):
        return ""
    return f"Bands around ROC curves hold together over {every} with {_LEVEL} confidence."


def _people(findings: Findings) -> str:
    if not findings.people:
        return ""
    divided = any(len(one.parts) for one in findings.people)
    parts = ", and those over subgroups of people" if divided else ""
    return (
        f"Counts of people by AUC hold together with {_LEVEL} confidence, those by epsilon too, "
        f"and so do the p-values of all people and attacks (Holm). The mean AUC over people "
        f"allows for having picked the attack{parts}."
    )


def _records(findings: Findings) -> str:
    told_apart = any(subject.records for subject in findings.record.audited)
    if not (told_apart and findings.covers_records):
        return ""
    return (
        f"Of single records, the shares of others that score as high hold together with {_LEVEL} "
        f"confidence, the privacy risks too, and so do the intervals of each measure over all "
        f"slices, whichever attack is the strongest; these families share nothing with each other."
    )


def _models(findings: Findings) -> str:
    if not any(subject.performance for subject in findings.record.audited):
        return ""
    return (
        f"Accuracies of a model, gaps and ratios hold together with {_LEVEL} confidence over all "
        f"records, classes and subgroups."
    )


def _shares(findings: Findings) -> str:
    if not any(one.shares and one.shares.answers for one in findings.record.audited):
        return ""
    return (
        f"How often each attack is right about the share that it takes the model in question to "
        f"have holds together for all attacks, with {_LEVEL} confidence."
    )


def _left_out(findings: Findings) -> str:
    number = len(left_out_columns(findings))
    if not number:
        return ""
    error = _percent(1 - CONFIDENCE)
    said = f"That the left-out column gives people away has an error of {error} of its own"
    if number > 1:
        said = (
            f"Which of the {number} left-out columns give people away has an error of {error} of "
            f"its own, shared between them"
        )
    return (
        f"{said}: no other statement spends a part of it, and whether a leak is found does not "
        f"depend on it."
    )


def _alone(findings: Findings) -> str:
    audited = findings.record.audited
    more = [
        *(["the exposure map"] if any(one.exposure is not None for one in audited) else []),
        *(["learning curves"] if any(one.learning for one in audited) else []),
    ]
    said = (
        f"In the table of every attack each interval holds on its own with {_LEVEL} confidence, "
        f"those of controls among them."
    )
    if more:
        said += (
            f" So does each of {' and of '.join(more)}, which do not allow for earlier looks or "
            f"for having been picked."
        )
    return said


def _percent(confidence: float) -> str:
    return f"{100 * confidence:.6g}%"


_LEVEL = _percent(CONFIDENCE)
