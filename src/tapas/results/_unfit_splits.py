"""Members and others of different distributions: nothing about the model can be read off them."""

import math

import numpy as np

from tapas.results._audit_record import AuditRecord
from tapas.results._facts import NEGLIGIBLE, STRONG, SummaryFacts, facts_within, judged_summaries
from tapas.results._rounding import rounded
from tapas.stats import auc_interval

__all__ = [
    "UNFIT_SPLIT",
    "caution_of_judging",
    "facts_of_unfit_splits",
    "unfit_splits",
    "unfit_words",
    "unseen_inputs",
]

UNFIT_SPLIT = "members and non-members do not come from one distribution"
_CONFIDENCE = 0.95


def unfit_splits(record: AuditRecord) -> list[str]:
    """A warning for each audited subject whose members can be told without it."""
    return [f"{one.subject}: {unfit_words(one)}" for one in facts_of_unfit_splits(record)]


def unseen_inputs(record: AuditRecord) -> list[str]:
    """A warning for each audited subject of whose records nothing but the class is known."""
    return [
        f"{subject.name}: the inputs of the records are not there to compare: whether members and "
        f"non-members come from one distribution is for you to see to, and where they do not, "
        f"scores tell them apart whomever the model was trained on"
        for subject in record.audited
        if not subject.inputs_are_known
    ]


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
    alone = math.nan if facts.inputs_auc is None else facts.inputs_auc.value
    return (
        f"{UNFIT_SPLIT} ({facts.alone}, without the {facts.what}, reach an AUC of "
        f"{rounded(alone)}), so that neither a leak of the {facts.what} nor its absence can be "
        f"shown. Compare with records drawn at random from the same source"
    )


def caution_of_judging(members: np.ndarray, inputs_alone: np.ndarray | None) -> str:
    """Why rates read off such members and others hold for no further records; empty if they do."""
    if inputs_alone is None:
        return ""
    area = auc_interval(inputs_alone[members], inputs_alone[~members], confidence=STRONG)
    if area.low <= 0.5 or area.value <= 0.5 + NEGLIGIBLE:
        return ""
    return (
        f"{UNFIT_SPLIT} (the inputs alone, without the model, reach an AUC of "
        f"{rounded(area.value)}), so that no rate and no probability holds for other records: many "
        f"more non-members may be taken for members. Give members and non-members that were drawn "
        f"at random from the same source as the records asked about"
    )
