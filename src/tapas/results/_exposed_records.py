"""Whose records an audit of one release or model exposes most."""

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from tapas.results._audited_subject import SUBGROUP, VALUE, AuditedSubject
from tapas.results._exposure import exposure_table, slice_metrics
from tapas.results._exposure_order import most_exposed_first
from tapas.results._findings import Finding, Findings
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary
from tapas.stats import shared_confidence

__all__ = ["MOST_RECORDS", "SUBGROUP", "VALUE", "ExposedRecords", "exposed_records"]

MOST_RECORDS = 20
_SLICED_BY = ("class", "correct")
_MOST_SLICES = 12
_PER_CLASS, _MOST_CLASSES = 3, 100


@dataclass(frozen=True, eq=False)
class ExposedRecords:
    """The records that were judged, by the strongest attack on one subject that ranks them.

    Intervals allow for having picked that attack out of all audited results.

    Attributes
    ----------
    subject, attack : str
        The strongest attack; where that has few scores, and one for all that it would list, the
        next that tells records apart, if it shows a leak where the strongest does.
    table : DataFrame
        `exposure_table` of all records with their rank, most exposed first. Where those that the
        attacker learnt from were judged too, by what the others teach, ``told`` says which they
        are: each half has its own scores, so that both are ranked by the share of others that
        score as high in the same half, then by that of all its records.
    slices : DataFrame
        `slice_metrics` of the strongest attack (``attack``) over the records that were judged at
        first, by class, by whether the model is right and by the subgroups that were asked for;
        the intervals of a measure hold together with 95 % confidence.
    read_reversed : bool
        Whether members have the lower scores for certain, so that the lowest come first.
    """

    subject: str
    attack: str
    table: pd.DataFrame
    slices: pd.DataFrame
    read_reversed: bool = False

    @property
    def per_class(self) -> pd.DataFrame:
        """The three most exposed members of each class; empty without classes or above 100."""
        if "class" not in self.table or self.table["class"].nunique() > _MOST_CLASSES:
            return self.table.head(0)
        members = self.table[self.table["member"]]
        return members.groupby("class").head(_PER_CLASS).sort_values(["class", "rank"])


def exposed_records(findings: Findings) -> list[ExposedRecords]:
    """Return the exposed records of every audited subject that tells its records apart."""
    ordered = sorted(
        findings.audited, key=lambda one: (one is findings.best, one.strength), reverse=True
    )
    found = []
    for subject in findings.record.audited:
        mine = [one for one in ordered if _scores_records(one, subject)]
        if mine:
            found.append(_exposed(subject, mine[0], _listed_by(findings, subject, mine), findings))
    return found


def _scores_records(finding: Finding, subject: AuditedSubject) -> bool:
    """Whether it has a score for each record of a release."""
    if finding.own.subject != subject.name or not subject.records or not finding.covers_records:
        return False
    scores = finding.summary.scores if finding.is_binary else None
    number = len(next(iter(subject.records.values())))
    return scores is not None and len(scores) == number and not np.isnan(scores).any()


def _listed_by(findings: Findings, subject: AuditedSubject, mine: list[Finding]) -> Finding:
    """By which of them, the strongest first, the records are listed."""

    def shows_a_leak(finding: Finding) -> bool:
        return finding.strength[0] > 0 or finding is findings.surest

    half = _of_other_half(subject)
    again = [one for one in mine if half is not None and one.summary.attack == half.attack]
    able = [one for one in mine if _ranks(one) and shows_a_leak(one) >= shows_a_leak(mine[0])]
    return (again or able or mine)[0]


def _ranks(finding: Finding) -> bool:
    """Whether it tells records of the list apart, or has many scores and found many alike."""
    scores = np.asarray(finding.summary.scores)
    first = scores[most_exposed_first(scores, _is_reversed(finding))[:MOST_RECORDS]]
    return first[0] != first[-1] or len(np.unique(scores)) > MOST_RECORDS


def _binary(finding: Finding) -> BinaryLabelInferenceAttackSummary:
    return cast(BinaryLabelInferenceAttackSummary, finding.summary)


def _is_reversed(finding: Finding) -> bool:
    """Whether members have the lower scores for certain, so that it is read the other way round."""
    area = finding.shared.auc
    return area is not None and area.high < 0.5


def _exposed(
    subject: AuditedSubject, strongest: Finding, listed: Finding, findings: Findings
) -> ExposedRecords:
    # Both attacks were picked out of all audited results.
    confidence = findings.shared_confidence
    about = pd.DataFrame(dict(subject.records or {}))
    wanted = [name for name in about if name in _SLICED_BY or name.startswith(SUBGROUP)]
    columns = [name for name in wanted if _tells_parts(name, about[name])]
    level = shared_confidence(confidence, 1 + sum(about[name].nunique() for name in columns))
    # The subgroup of a record is a value of it.
    show_values = bool(findings.record.question.get("show_values"))
    hidden = [] if show_values else [name for name in about if name.startswith(SUBGROUP)]
    table = _with_other_half(subject, listed, about.drop(columns=hidden), confidence)
    table.insert(0, "rank", range(1, len(table) + 1))
    slices = slice_metrics(_binary(strongest), about[columns], confidence=level)
    slices.insert(0, "attack", strongest.own.attack)
    return ExposedRecords(subject.name, listed.own.attack, table, slices, _is_reversed(listed))


def _of_other_half(subject: AuditedSubject) -> BinaryLabelInferenceAttackSummary | None:
    """What an attack says of the records that it would have learnt from."""
    found = () if subject.other_half is None else subject.other_half.summaries
    scored = [one for one in found if isinstance(one, BinaryLabelInferenceAttackSummary)]
    return scored[0] if scored and scored[0].scores is not None else None


def _with_other_half(
    subject: AuditedSubject,
    finding: Finding,
    about: pd.DataFrame,
    confidence: float,
) -> pd.DataFrame:
    """The exposure of the judged, and of those that the attacker learnt from where it is known."""
    others, half = _of_other_half(subject), subject.other_half
    summary, turned = _binary(finding), _is_reversed(finding)
    if others is None or half is None:
        return exposure_table(summary, about, confidence=confidence, read_reversed=turned)
    told = pd.DataFrame(dict(half.records or {}))
    level = shared_confidence(confidence, 2)
    halves = [
        exposure_table(
            one,
            columns.reindex(columns=about.columns).assign(told=known),
            confidence=level,
            read_reversed=turned,
        )
        for one, columns, known in ((summary, about, False), (others, told, True))
    ]
    halves[1]["record"] += len(summary)
    reached = [one["score"].rank(ascending=turned, method="max") / len(one) for one in halves]
    table = pd.concat(halves, ignore_index=True)
    shares, places = np.concatenate(reached), np.concatenate([one.index for one in halves])
    order = np.lexsort((table["told"], places, shares, table["false_positive_rate"]))
    return table.iloc[order].reset_index(drop=True)


def _tells_parts(name: str, column: pd.Series) -> bool:
    fewest = 2 if name in _SLICED_BY else 1
    return fewest <= column.nunique() <= _MOST_SLICES
