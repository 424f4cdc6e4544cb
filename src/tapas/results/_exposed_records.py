"""Whose records an audit of one release or model exposes most."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tapas.results._audited_subject import SUBGROUP, VALUE, AuditedSubject
from tapas.results._exposure import exposure_table, slice_metrics
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
    """The records that were judged, by the strongest attack on one subject.

    Intervals allow for having picked that attack out of all audited results.

    Attributes
    ----------
    subject, attack : str
    table : DataFrame
        `exposure_table` of all records with their rank, most exposed first. Where those that the
        attacker learnt from were judged too, by what the others teach, ``told`` says which they
        are: each half has its own scores, so that both are ranked by the share of others that
        score as high in the same half, then by that of all its records.
    slices : DataFrame
        `slice_metrics` over the records that were judged at first, by class, by whether the model
        is right and by the subgroups that were asked for; the intervals of a measure hold together
        with 95 % confidence.
    ranks_members_last : bool
        Whether members have the lower scores for certain, so that the exposed stand at the end.
    """

    subject: str
    attack: str
    table: pd.DataFrame
    slices: pd.DataFrame
    ranks_members_last: bool = False

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
        mine = (f for f in ordered if f.own.subject == subject.name)
        scored = [s for s in map(_scored_records, mine) if s is not None]
        last = {str(f.summary.attack) for f in ordered if _ranks_last(f, subject)}
        half = _of_other_half(subject)
        if half is not None:
            attack = half.attack
            scored.sort(key=lambda summary: summary.attack != attack)
        if subject.records and scored and len(scored[0]) == _number(subject):
            shown = bool(findings.record.question.get("show_values"))
            # The attack was picked out of all audited results.
            one = _exposed(subject, scored[0], shown, findings.shared_confidence)
            found.append(replace(one, ranks_members_last=one.attack in last))
    return found


def _ranks_last(finding: Finding, subject: AuditedSubject) -> bool:
    area = finding.shared.auc
    return finding.own.subject == subject.name and area is not None and area.high < 0.5


def _number(subject: AuditedSubject) -> int:
    return len(next(iter((subject.records or {}).values()), ()))


def _scored_records(finding: Finding) -> BinaryLabelInferenceAttackSummary | None:
    """The summary of a finding that has a score for each record of a release."""
    summary = finding.summary
    if not finding.covers_records or not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None
    scored = summary.scores is not None and not np.isnan(summary.scores).any()
    return summary if scored else None


def _exposed(
    subject: AuditedSubject,
    summary: BinaryLabelInferenceAttackSummary,
    show_values: bool,
    confidence: float,
) -> ExposedRecords:
    about = pd.DataFrame(dict(subject.records or {}))
    wanted = [name for name in about if name in _SLICED_BY or name.startswith(SUBGROUP)]
    columns = [name for name in wanted if _tells_parts(name, about[name])]
    level = shared_confidence(confidence, 1 + sum(about[name].nunique() for name in columns))
    # The subgroup of a record is a value of it.
    hidden = [] if show_values else [name for name in about if name.startswith(SUBGROUP)]
    table = _with_other_half(subject, summary, about.drop(columns=hidden), confidence)
    table.insert(0, "rank", range(1, len(table) + 1))
    return ExposedRecords(
        subject=subject.name,
        attack=str(summary.attack),
        table=table,
        slices=slice_metrics(summary, about[columns], confidence=level),
    )


def _of_other_half(subject: AuditedSubject) -> BinaryLabelInferenceAttackSummary | None:
    """What an attack says of the records that it would have learnt from."""
    found = () if subject.other_half is None else subject.other_half.summaries
    scored = [one for one in found if isinstance(one, BinaryLabelInferenceAttackSummary)]
    return scored[0] if scored and scored[0].scores is not None else None


def _with_other_half(
    subject: AuditedSubject,
    summary: BinaryLabelInferenceAttackSummary,
    about: pd.DataFrame,
    confidence: float,
) -> pd.DataFrame:
    """The exposure of the judged, and of those that the attacker learnt from where it is known."""
    others, half = _of_other_half(subject), subject.other_half
    if others is None or half is None:
        return exposure_table(summary, about, confidence=confidence)
    told = pd.DataFrame(dict(half.records or {}))
    level = shared_confidence(confidence, 2)
    halves = [
        exposure_table(
            one, columns.reindex(columns=about.columns).assign(told=known), confidence=level
        )
        for one, columns, known in ((summary, about, False), (others, told, True))
    ]
    halves[1]["record"] += len(summary)
    reached = [one["score"].rank(ascending=False, method="max") / len(one) for one in halves]
    table = pd.concat(halves, ignore_index=True)
    shares = np.concatenate(reached)
    order = np.lexsort((table["told"], shares, table["false_positive_rate"]))
    return table.iloc[order].reset_index(drop=True)


def _tells_parts(name: str, column: pd.Series) -> bool:
    fewest = 2 if name in _SLICED_BY else 1
    return fewest <= column.nunique() <= _MOST_SLICES
