"""The page that compares audits: what got better, what got worse, and how sure that is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tapas.report._base import Report
from tapas.report._page_banner import Banner, banner
from tapas.report._page_cells import Cell, estimate_cell, target_text
from tapas.report._page_figures import PageFigure, series_figure
from tapas.report._page_numbers import between, bound
from tapas.report._page_render import render, write_page
from tapas.results import (
    AuditRecord,
    Change,
    Cost,
    Estimate,
    Findings,
    RecordComparison,
    compare_records,
    decide,
    rounded,
    rounded_down,
    rounded_up,
)

__all__ = ["ComparisonPage"]

_MOST_LISTED = 60
_TONES = {"better": "good", "worse": "bad", "unclear": "open"}


class ComparisonPage(Report):
    """One self-contained HTML page that compares two or more audits with the first.

    Parameters
    ----------
    records
        What the audits left behind, the one to compare with first.
    names
        Display names; the titles by default.
    """

    def __init__(self, records: Sequence[AuditRecord], names: Sequence[str] | None = None) -> None:
        self.records = list(records)
        self.comparison = compare_records(self.records, names)
        self._findings = [Findings(record) for record in self.records]

    @property
    def words(self) -> list[str]:
        """What got better or worse, as sentences, the first being the shortest answer."""
        first = _banner(self.comparison)
        return [f"{first.word}: {first.text}", *self.comparison.words]

    def html(self) -> str:
        """Return the page as text."""
        found = self.comparison
        changes = found.changes
        return render(
            "comparison.html.j2",
            comparison=found,
            banner=_banner(found),
            sides=[_side(n, r) for n, r in zip(found.names, self._findings, strict=True)],
            rows=[(change.role, _row(change)) for change in changes],
            costs=[_cost(cost) for cost in found.costs],
            several=len(found.names) > 2,
            tones=_TONES,
            figure=self._figure(),
            unmatched=found.unmatched[:_MOST_LISTED],
            questions=found.questions[:_MOST_LISTED],
            records=list(zip(found.names, self.records, strict=True)),
        )

    def publish(self, filepath: str | Path) -> list[Path]:
        """Write ``comparison.html`` into the folder `filepath` and return the files written."""
        return [write_page(filepath, "comparison.html", self.html())]

    def _figure(self) -> PageFigure | None:
        placed = [
            (name, result.own.attack, result)
            for name, findings in zip(self.comparison.names, self._findings, strict=True)
            for result in findings.audited
        ]
        drawn = series_figure(placed, ("record", "attack"), "cmp")
        if drawn is None:
            return None
        caption = (
            "The strongest audited result of each attack in each run, with 95% intervals, each "
            "on its own. Further right is worse for privacy."
        )
        return PageFigure("Runs side by side", (drawn[0],), caption)


def _banner(found: RecordComparison) -> Banner:
    later = found.names[1:]
    worse = sum(found.count(name, "worse") for name in later)
    better = sum(found.count(name, "better") for name in later)
    if not any(change.role == "audited" for change in found.changes):
        return Banner("open", "Nothing in common", "No audited result occurs in both runs.")
    if worse and better:
        return Banner("bad", "Mixed", f"Results that got worse: {worse}; better: {better}.")
    if worse:
        return Banner("bad", "Worse", f"Results that leak more than before: {worse}.")
    if better:
        return Banner("good", "Better", f"Results that leak less than before: {better}.")
    text = "No difference is beyond chance. That does not show that there is none."
    return Banner("open", "No clear change", text)


def _side(name: str, findings: Findings) -> dict[str, Any]:
    best = findings.best
    facts = None if best is None else best.shared
    return {
        "name": name,
        "title": findings.record.title,
        "banner": banner(findings, decide(findings.record)),
        "strongest": "nothing ran" if best is None else best.own.attack,
        "target": "" if best is None else f"target {target_text(best)}",
        "accuracy": ("–", "") if facts is None else between(facts.accuracy, share=True),
        "auc": between(None if facts is None else facts.auc),
        "epsilon": ("–", "")
        if findings.certificate is None
        else (bound(findings.epsilon), f"of at most {rounded_down(findings.ceiling)}"),
        "claim": findings.claim.words,
    }


def _row(change: Change) -> tuple[Cell, ...]:
    share = change.metric in ("accuracy", "copied")
    hint = "above 0: leaks more than before; below 0: leaks less"
    target = change.target or "all records"
    return (
        Cell(change.record, kind="text"),
        Cell(change.subject, kind="text"),
        Cell(change.attack, kind="text"),
        Cell(f"{target}: {change.attribute}" if change.attribute else target, kind="text"),
        estimate_cell(change.before, share=share),
        estimate_cell(change.after, share=share),
        _difference(change.difference, share, hint),
        Cell(change.state, kind="state"),
        Cell(f"{_epsilon(change.epsilon_before)} → {_epsilon(change.epsilon_after)}"),
    )


def _cost(cost: Cost) -> tuple[Cell, ...]:
    return (
        Cell(cost.record, kind="text"),
        Cell(cost.subject, kind="text"),
        Cell(cost.part, kind="text"),
        estimate_cell(cost.before, share=True),
        estimate_cell(cost.after, share=True),
        _difference(cost.difference, True, "below 0: right less often than before"),
    )


def _difference(found: Estimate, share: bool, hint: str) -> Cell:
    scale, digits, unit = (100, 1, " points") if share else (1, 2, "")
    sign = "+" if found.value > 0 else ""
    return Cell(
        f"{sign}{rounded(scale * found.value, digits)}{unit}",
        f"{rounded_down(scale * found.low, digits)} to {rounded_up(scale * found.high, digits)}",
        repr(found.value),
        hint,
    )


def _epsilon(value: float | None) -> str:
    return "–" if value is None else bound(value)
