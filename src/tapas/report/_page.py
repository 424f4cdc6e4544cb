"""The page of an audit: one HTML file for people who decide about a release."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tapas.report._base import Report
from tapas.report._page_advice import actions, why
from tapas.report._page_attacker import attacker_words
from tapas.report._page_banner import banner, verdict_words
from tapas.report._page_commands import as_yaml, mapped_targets
from tapas.report._page_controls import control_words, safe_control_words
from tapas.report._page_copies import COPIES_COLUMNS, copies_csv, copies_rows
from tapas.report._page_csv import results_csv, slices_csv
from tapas.report._page_figures import comparison_figures, curve_figures
from tapas.report._page_inputs import input_rows, inputs_sentences, left_out_words
from tapas.report._page_learning import learning_figures
from tapas.report._page_leaves import LEAVES_COLUMNS, leaves_tables
from tapas.report._page_limits import limits
from tapas.report._page_nearness import NEARNESS_COLUMNS, nearness_rows
from tapas.report._page_numbers import moment
from tapas.report._page_people import (
    map_csv,
    map_figures,
    map_tables,
    people_csv,
    people_figures,
    people_tables,
    told_on_maps,
)
from tapas.report._page_performance import performance_csv, performance_tables
from tapas.report._page_records import records_csv, records_tables
from tapas.report._page_render import render, write_page
from tapas.report._page_shares import shares_tables
from tapas.report._page_tables import (
    control_rows,
    exposed_rows,
    first_columns,
    gate_rows,
    guide_entries,
    matrix,
    provenance_rows,
    question_text,
    result_table,
)
from tapas.report._page_tiles import tiles
from tapas.report._page_words import picked_words, sentences, strength_measure
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    ExposedRecords,
    Findings,
    People,
    SharesTold,
    constant_scores,
    decide,
    exposed_people,
    exposed_records,
    gates_words,
    holds_together,
    look_words,
    loosened_limits,
    missing_scores,
    read_history,
    shares_told,
)

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
    history
        Earlier verdicts of the same folder, as `read_history` gives them; those of the folder
        that the page is published in by default.
    """

    def __init__(
        self, record: AuditRecord, history: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        self.record = record
        self.history = None if history is None else tuple(dict(entry) for entry in history)
        self._verdict = decide(record)
        self._findings = Findings(record)

    @cached_property
    def _exposed(self) -> list[ExposedRecords]:
        return exposed_records(self._findings)

    @cached_property
    def _people(self) -> list[People]:
        return exposed_people(self.record)

    @property
    def _mapped(self) -> list[AuditedSubject]:
        return [subject for subject in self.record.audited if subject.exposure is not None]

    @property
    def words(self) -> list[str]:
        """The verdict as sentences, the first being the shortest answer."""
        first = banner(self._findings, self._verdict)
        shares = [one.words() for one in self._shares]
        about = [*shares, *self._people_words, *self._map_words, *self._learning_words]
        said = [*self._verdict_words, *about, *look_words(self._findings)]
        return [f"{first.word}: {first.text}", *said, *self._cautions]

    @property
    def _verdict_words(self) -> list[str]:
        more = (why(self._findings), safe_control_words(self._findings))
        return [*sentences(self._findings), *(sentence for sentence in more if sentence)]

    @cached_property
    def _shares(self) -> list[SharesTold]:
        return shares_told(self.record.audited)

    @property
    def _people_words(self) -> list[str]:
        return [one.words() for one in self._people]

    @property
    def _map_words(self) -> list[str]:
        missing = [
            f"There is no exposure map of {one.name}: {one.unmapped}."
            for one in self.record.audited
            if one.unmapped
        ]
        maps = [one.exposure.words(one.name) for one in self._mapped if one.exposure]
        return [*maps, *told_on_maps(self._findings), *missing]

    @property
    def _learning_words(self) -> list[str]:
        return [
            max(subject.learning, key=lambda curve: curve.auc[-1].value).words(subject.name)
            for subject in self.record.audited
            if subject.learning
        ]

    @property
    def _cautions(self) -> list[str]:
        found = [*constant_scores(self.record), *missing_scores(self.record)]
        cautions = [f"Warning: {caution}" for caution in found]
        loosened = loosened_limits(self.record, self.history or ())
        return [*cautions, *inputs_sentences(self.record), *loosened]

    def html(self) -> str:
        """Return the page as text."""
        findings, record = self._findings, self.record
        unfit = {one.own.subject for one in findings.all if one.own.split_is_unfit}
        return render(
            "audit.html.j2",
            record=record,
            findings=findings,
            banner=banner(findings, self._verdict),
            sentences=[
                *self._verdict_words,
                *(one.words() for one in self._shares if one.answer is not None),
                *(one.words().partition(". ")[0] + "." for one in self._people),
                *told_on_maps(self._findings),
                *self._cautions,
            ],
            people_words=self._people_words,
            map_words=self._map_words,
            learning_words=self._learning_words,
            inputs=input_rows(record),
            attacker=[*attacker_words(record), *left_out_words(record)],
            actions=actions(findings, self._exposed, self._people),
            history=[(entry, verdict_words(entry)) for entry in self.history or ()],
            num_targets=len({result.target for result in findings.exposed}),
            tiles=tiles(findings),
            picked=picked_words(findings),
            strongest_by=findings.best and strength_measure(findings.best.shared),
            gates=gate_rows(self._verdict),
            gates_words=gates_words(findings, self._verdict),
            first_columns=first_columns(findings),
            guide=guide_entries(findings),
            exposed=exposed_rows(findings),
            single_records=any(result.target for result in findings.exposed),
            table=result_table(findings),
            records=records_tables(self._exposed, unfit),
            people=people_figures(self._people),
            people_tables=people_tables(self._people),
            performance=performance_tables(record.audited, unfit),
            leaves=leaves_tables(record.audited),
            leaves_columns=LEAVES_COLUMNS,
            shares=shares_tables(self._shares),
            maps=list(zip(map_figures(self._mapped), map_tables(self._mapped), strict=True)),
            map_targets=f"targets: {as_yaml(mapped_targets(record))}",
            learning=learning_figures(self.record.audited),
            nearness=nearness_rows(self.record.audited),
            nearness_columns=NEARNESS_COLUMNS,
            copies=copies_rows(self.record.audited),
            copies_columns=COPIES_COLUMNS,
            controls=control_rows(findings),
            control_words=control_words(findings),
            curves=curve_figures(findings),
            comparisons=comparison_figures(findings),
            matrices=[
                (name, found)
                for name in ("subject", "target")
                if (found := matrix(findings, name)) is not None
            ],
            limits=limits(findings),
            together=holds_together(findings, self._verdict),
            provenance=provenance_rows(record),
            question=question_text(record),
            finished=moment(record.provenance.get("finished")),
            most_listed=_MOST_LISTED,
        )

    def publish(self, filepath: str | Path) -> list[Path]:
        """Write ``report.html`` into the folder `filepath` and return the files written.

        Where the audit tells records apart, ``exposure.csv`` lists them, most exposed first; where
        it judges several people, ``people.csv`` does, and where it has a map of the private table,
        ``exposure-map.csv`` lists every record of that. ``copies.csv`` lists the private records
        that a released file holds word for word. ``performance.csv`` has the accuracy of a
        model on what it was trained on and on the rest. ``results.csv`` has every attack on every
        target, ``slices.csv`` the strongest by class and subgroup.
        """
        page = self if self.history is not None else AuditPage(self.record, read_history(filepath))
        files = [write_page(filepath, "report.html", page.html())]
        if self._findings.all:
            files.append(write_page(filepath, "results.csv", results_csv(self.record)))
        if slices := slices_csv(self._exposed, self._people):
            files.append(write_page(filepath, "slices.csv", slices))
        if self._exposed:
            files.append(write_page(filepath, "exposure.csv", records_csv(self._exposed)))
        if any(subject.copies and subject.copies.listed for subject in self.record.audited):
            files.append(write_page(filepath, "copies.csv", copies_csv(self.record.audited)))
        if self._people:
            files.append(write_page(filepath, "people.csv", people_csv(self._people)))
        if any(subject.performance for subject in self.record.audited):
            csv = performance_csv(self.record.audited)
            files.append(write_page(filepath, "performance.csv", csv))
        if self._mapped:
            files.append(write_page(filepath, "exposure-map.csv", map_csv(self._mapped)))
        return files
