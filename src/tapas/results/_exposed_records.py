"""Whose records an audit of one release or model exposes most."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.results._audit_record import SUBGROUP, VALUE
from tapas.results._exposure import exposure_table, slice_metrics
from tapas.results._findings import CONFIDENCE, Finding, Findings
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary
from tapas.stats import shared_confidence

__all__ = ["MOST_RECORDS", "SUBGROUP", "VALUE", "ExposedRecords", "exposed_records"]

MOST_RECORDS = 20
_SLICED_BY = ("class", "correct")
_MOST_SLICES = 12


@dataclass(frozen=True, eq=False)
class ExposedRecords:
    """The records that were judged, by the strongest attack on one subject.

    Attributes
    ----------
    subject, attack : str
    table : DataFrame
        `exposure_table` of all records with their rank, most exposed first.
    slices : DataFrame
        `slice_metrics` over all records, by class, by whether the model is right and by the
        subgroups that were asked for; the intervals of a measure hold together with 95 %
        confidence.
    """

    subject: str
    attack: str
    table: pd.DataFrame
    slices: pd.DataFrame


def exposed_records(findings: Findings) -> list[ExposedRecords]:
    """Return the exposed records of every audited subject that tells its records apart."""
    ordered = sorted(findings.audited, key=lambda finding: finding.strength, reverse=True)
    found = []
    for subject in findings.record.audited:
        mine = (f for f in ordered if f.own.subject == subject.name)
        judged = next((s for s in map(_scored_records, mine) if s is not None), None)
        if subject.records and judged is not None:
            about = pd.DataFrame(dict(subject.records))
            if len(about) == len(judged):
                shown = bool(findings.record.question.get("show_values"))
                found.append(_exposed(subject.name, judged, about, shown))
    return found


def _scored_records(finding: Finding) -> BinaryLabelInferenceAttackSummary | None:
    """The summary of a finding that has a score for each record of a release."""
    summary = finding.summary
    if not finding.covers_records or not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None
    scored = summary.scores is not None and not np.isnan(summary.scores).any()
    return summary if scored else None


def _exposed(
    subject: str,
    summary: BinaryLabelInferenceAttackSummary,
    about: pd.DataFrame,
    show_values: bool,
) -> ExposedRecords:
    wanted = [name for name in about if name in _SLICED_BY or name.startswith(SUBGROUP)]
    columns = [name for name in wanted if _is_short(about[name])]
    level = shared_confidence(CONFIDENCE, 1 + sum(about[name].nunique() for name in columns))
    # The subgroup of a record is a value of it.
    hidden = [] if show_values else [name for name in about if name.startswith(SUBGROUP)]
    table = exposure_table(summary, about.drop(columns=hidden))
    table.insert(0, "rank", range(1, len(table) + 1))
    return ExposedRecords(
        subject=subject,
        attack=str(summary.attack),
        table=table,
        slices=slice_metrics(summary, about[columns], confidence=level),
    )


def _is_short(column: pd.Series) -> bool:
    return column.nunique() <= _MOST_SLICES
