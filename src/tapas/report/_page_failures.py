"""What is said where the failures of a mechanism tell a secret."""

from tapas._validate import listing
from tapas.report._page_numbers import counted
from tapas.results import (
    Findings,
    TellingFailures,
    telling_failures,
    told_by_failures_alone,
)

__all__ = ["FAIL_ALIKE", "failures_sentences"]

FAIL_ALIKE = (
    "Let the mechanism fail alike whoever is in the data, or not at all: find in its failures "
    "what it fails over, and handle that for everybody."
)


def failures_sentences(findings: Findings) -> list[str]:
    """Whose secret the failures of each mechanism tell, and by which counts."""
    return [*_judged_so(findings), *_beyond_chance(findings)]


def _judged_so(findings: Findings) -> list[str]:
    """Where attacks have nothing to learn from, so that failures are judged as an attack."""
    said = []
    for subject in findings.record.audited:
        alone = told_by_failures_alone(findings)
        told = [one.own.target for one in alone if one.own.subject == subject.name]
        if told:
            runs = len(subject.failures) + sum(subject.trials.values())
            said.append(
                f"“{subject.name}” failed in {len(subject.failures):,} of {runs:,} runs, and its "
                f"failures hang together with the secret of {counted(len(told), 'target')} "
                f"({listing(told)}): in training all other runs had one secret, from which no "
                "attack learns. There the failures themselves are judged as an attack."
            )
    return said


def _beyond_chance(findings: Findings) -> list[str]:
    """The same beside attacks that learn from the other runs."""
    so = {(one.own.subject, one.own.target) for one in told_by_failures_alone(findings)}
    told = [one for one in telling_failures(findings) if (one.subject, one.target) not in so]
    by_subject: dict[str, list[TellingFailures]] = {}
    for one in told:
        by_subject.setdefault(one.subject, []).append(one)
    return [_counts(findings, mine[0], len(mine) - 1) for mine in by_subject.values()]


def _counts(findings: Findings, one: TellingFailures, more: int) -> str:
    what, others = f"with target {one.target} in the {findings.used} data", "without it"
    if not one.is_membership:
        about = f"“{one.attribute}” of target {one.target}" if one.attribute else one.target
        what = f"with one value of {about}"
        others = "with the other" if one.num_values == 2 else "with the others"
    told = "the one from the other" if one.num_values <= 2 else "the one from the others"
    also = f" So it is with {counted(more, 'more target')}." * (more > 0)
    return (
        f"“{one.subject}” failed in {one.failed:,} of {one.trials:,} trials {what}, and in "
        f"{one.others_failed:,} of {one.others:,} {others}: that alone tells {told}.{also}"
    )
