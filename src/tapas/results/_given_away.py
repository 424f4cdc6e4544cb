"""Columns that were left out of the attacks, and whose private values a release holds."""

from tapas.results._findings import CONFIDENCE, Findings
from tapas.results._left_out_columns import LeftOutColumn
from tapas.stats import shared_confidence

__all__ = ["given_away", "given_away_words", "left_out_columns"]


def left_out_columns(findings: Findings) -> list[tuple[str, LeftOutColumn]]:
    """Return every left-out column that was looked up, with the name of its release."""
    audited = findings.record.audited
    return [(one.name, column) for one in audited for column in one.left_out_columns]


def given_away(findings: Findings) -> list[tuple[str, LeftOutColumn]]:
    """Return those whose private values stand there more often than chance explains.

    That has an error of its own, shared between the columns: no other statement spends of it.
    """
    every = left_out_columns(findings)
    level = shared_confidence(CONFIDENCE, max(1, len(every)), findings.error_share)
    return [(name, column) for name, column in every if column.p_value <= 1 - level]


def given_away_words(findings: Findings) -> list[str]:
    """Return a sentence about each of them; releases are named where there are several."""
    several = sum(subject.copies is not None for subject in findings.record.audited) > 1
    found = given_away(findings)
    return [f"{name}: {one.words}" if several else one.words for name, one in found]
