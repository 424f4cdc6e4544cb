"""Whose records an audit of one release or model exposes most."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tapas.results._exposure import exposure_table, slice_metrics
from tapas.results._findings import CONFIDENCE, Finding, Findings
from tapas.results._label_inference import BinaryLabelInferenceAttackSummary

__all__ = ["ExposedRecords", "exposed_records"]

_SLICED_BY = ("class", "correct")
_MOST_SLICES = 12


@dataclass(frozen=True, eq=False)
class ExposedRecords:
    """The records that were judged, by the strongest attack on one subject.

    Attributes
    ----------
    subject, attack : str
    table : DataFrame
        `exposure_table` of all records, most exposed first.
    slices : DataFrame
        `slice_metrics` over all records, by class and by whether the model is right; each interval
        has 95 % confidence on its own.
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
            found += [_exposed(subject.name, judged, about)] if len(about) == len(judged) else []
    return found


def _scored_records(finding: Finding) -> BinaryLabelInferenceAttackSummary | None:
    """The summary of a finding that has a score for each record of a release."""
    summary = finding.summary
    if not finding.covers_records or not isinstance(summary, BinaryLabelInferenceAttackSummary):
        return None
    scored = summary.scores is not None and not np.isnan(summary.scores).any()
    return summary if scored else None


def _exposed(
    subject: str, summary: BinaryLabelInferenceAttackSummary, about: pd.DataFrame
) -> ExposedRecords:
    columns = [name for name in _SLICED_BY if name in about and _is_short(about[name])]
    return ExposedRecords(
        subject=subject,
        attack=str(summary.attack),
        table=exposure_table(summary, about),
        slices=slice_metrics(summary, about[columns], confidence=CONFIDENCE),
    )


def _is_short(column: pd.Series) -> bool:
    return column.nunique() <= _MOST_SLICES
