"""What the numbers of a page do not say."""

from tapas.report._page_numbers import counted, percent
from tapas.results import (
    LOW_FPR,
    Findings,
    unseen_inputs,
)
from tapas.stats import negatives_needed

__all__ = ["limits"]


def limits(findings: Findings) -> list[str]:
    """Return what the numbers do not say."""
    said = [
        "Only the attacks listed here were tried. A stronger attack may find more; a low result "
        "is not a proof of privacy.",
        "Results hold for the targets that were attacked. Other records may be more exposed, "
        "above all unusual ones if the targets were ordinary.",
        "The attacker was given the knowledge that the question states (see provenance). One who "
        "knows more may do better; one who knows less, worse.",
        "A certified epsilon is a lower bound. It can contradict a claimed guarantee; it can "
        "never confirm one.",
        "Intervals speak of repeating these trials with the same data and settings, not of "
        "other data.",
    ]
    if findings.covers_records:
        said.append(
            "Some trials are records that share a release or model. Their intervals go record by "
            "record: they describe this one release, not what another would show."
        )
    said += [f"{one}." for one in unseen_inputs(findings.record)]
    needed = negatives_needed(LOW_FPR, findings.at_this_look(findings.shared_confidence))
    if any(finding.is_binary and finding.num_negative < needed for finding in findings.audited):
        said.append(
            f"There are too few records to say what share is found at {percent(LOW_FPR)} false "
            f"alarms: below {counted(int(needed), 'trial')} without the secret its interval begins "
            "at 0."
        )
    if not findings.controls:
        said.append(
            "There are no controls. Without a leaky one it is not known whether these attacks "
            "can find anything at all, so a low result may mean a weak attack."
        )
    if any(subject.failures for subject in findings.record.subjects):
        said.append(
            "Trials in which the mechanism failed count as outcomes that the attacker sees: what a "
            "failure is taken for is learnt from the training trials that failed. Attacks that "
            "judge by methods of their own are judged without them, and show nothing for certain."
        )
    return said
