"""Members and others of different distributions: nothing about the model can be read off them."""

from tapas.results._audit_record import AuditRecord
from tapas.results._facts import SummaryFacts, facts_within, judged_summaries
from tapas.results._rounding import rounded

__all__ = ["UNFIT_SPLIT", "facts_of_unfit_splits", "unfit_splits", "unfit_words"]

UNFIT_SPLIT = "members and non-members do not come from one distribution"
_CONFIDENCE = 0.95


def unfit_splits(record: AuditRecord) -> list[str]:
    """A warning for each audited subject whose members can be told without it."""
    return [f"{one.subject}: {unfit_words(one)}" for one in facts_of_unfit_splits(record)]


def facts_of_unfit_splits(record: AuditRecord) -> list[SummaryFacts]:
    """The first facts of each audited subject whose split is unfit."""
    found = []
    for subject in record.audited:
        for summary in judged_summaries(subject)[:1]:
            facts = facts_within(record, subject, summary, confidence=_CONFIDENCE)
            found += [facts] if facts.split_is_unfit else []
    return found


def unfit_words(facts: SummaryFacts) -> str:
    """Why such a split shows neither a leak nor that there is none."""
    alone = facts.summary.inputs_auc
    return (
        f"{UNFIT_SPLIT} (the inputs alone, without the model, reach an AUC of {rounded(alone)}), "
        f"so that neither a leak of the model nor its absence can be shown. Compare with records "
        f"drawn at random from the same source"
    )
