"""The page of an audit: one HTML file for people who decide about a release."""

from pathlib import Path

from tapas.report._base import Report
from tapas.report._page_figures import comparison_figures, curve_figures
from tapas.report._page_numbers import moment
from tapas.report._page_reading import Reading
from tapas.report._page_render import render, write_page
from tapas.report._page_tables import (
    control_rows,
    control_words,
    exposed_rows,
    gate_rows,
    matrix,
    provenance_rows,
    question_text,
    result_table,
)
from tapas.report._page_words import banner, limits, sentences, tiles
from tapas.results import AuditRecord

__all__ = ["AuditPage"]

_MOST_LISTED = 50


class AuditPage(Report):
    """One self-contained HTML page about an audit: the verdict in words, then the evidence.

    The page opens offline, loads nothing, and can be read without JavaScript; strings
    from data and configuration are escaped. Equal records give equal pages.

    Parameters
    ----------
    record
        What the audit left behind.
    """

    def __init__(self, record: AuditRecord) -> None:
        self.record = record
        self._reading = Reading(record)

    @property
    def words(self) -> list[str]:
        """The verdict as sentences, the first being the shortest answer."""
        first = banner(self._reading)
        return [f"{first.word}: {first.text}", *sentences(self._reading)]

    def html(self) -> str:
        """Return the page as text."""
        reading, record = self._reading, self.record
        return render(
            "audit.html.j2",
            record=record,
            reading=reading,
            banner=banner(reading),
            sentences=sentences(reading),
            tiles=tiles(reading),
            gates=gate_rows(reading),
            exposed=exposed_rows(reading),
            single_records=any(result.target for result in reading.exposed),
            table=result_table(reading),
            controls=control_rows(reading),
            control_words=control_words(reading),
            curves=curve_figures(reading),
            comparisons=comparison_figures(reading),
            matrices=[
                (name, found)
                for name in ("subject", "target")
                if (found := matrix(reading, name)) is not None
            ],
            limits=limits(reading),
            provenance=provenance_rows(record),
            question=question_text(record),
            finished=moment(record.provenance.get("finished")),
            most_listed=_MOST_LISTED,
        )

    def publish(self, filepath: str | Path) -> list[Path]:
        """Write ``report.html`` into the folder `filepath` and return the files written."""
        return [write_page(filepath, "report.html", self.html())]
