"""From a run to a target to a record: the pages that `tapas view` serves beside the report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import numpy as np

from tapas.report._page_cells import Cell, sortable
from tapas.report._page_numbers import percent
from tapas.report._page_render import render
from tapas.report._page_tables import result_cells
from tapas.results import (
    AuditedSubject,
    AuditRecord,
    BinaryLabelInferenceAttackSummary,
    Findings,
    exposed_records,
)

__all__ = ["record_page", "run_page", "target_page"]

MOST_LISTED = 1000  # records of a release, and trials of a target


@dataclass(frozen=True)
class LinkedTable:
    """A table whose rows lead somewhere."""

    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def run_page(record: AuditRecord, name: str, verdict: str = "") -> str:
    """Return the page of a run: its verdict, every target, and the records of releases.

    The verdict is given: deciding about a thousand targets again would take longer than one waits.
    """
    tables = [_targets(record), *_records(record)]
    return _page(name, verdict, [("All runs", "/")], tables)


def target_page(record: AuditRecord, name: str, subject: str, target: str) -> str | None:
    """Return the page of a target: every attack on it, what is near it, every trial."""
    mine = next((one for one in record.subjects if one.name == subject), None)
    summaries = [] if mine is None else _summaries(mine, target)
    if mine is None or not summaries:
        return None
    alone = replace(record, subjects=(replace(mine, summaries=tuple(summaries)),))
    columns, cells = result_cells(Findings(alone), subject, target)
    attacks = LinkedTable(
        "Attacks",
        "Every attack on this target, with 95% intervals, each on its own.",
        columns,
        tuple(("", row) for row in cells),
    )
    tables = [attacks, *_about(mine.targets, "target", target), _trials(summaries)]
    return _page(f"{subject}, target {target}", "", _way(name), tables)


def record_page(record: AuditRecord, name: str, subject: str, position: int) -> str | None:
    """Return the page of a record of a release or model: what is known, and each attack's score."""
    mine = next((one for one in record.subjects if one.name == subject), None)
    if mine is None or mine.records is None:
        return None
    size = len(next(iter(mine.records.values()), ()))
    if not 0 <= position < size:
        return None
    scored = [one for one in _summaries(mine) if len(one) == size]
    about = {key: values[position] for key, values in mine.records.items()}
    tables = [_pairs(about), _scores(scored, position)]
    return _page(f"{subject}, record {position}", "", _way(name), tables)


def _page(
    title: str, words: str, way: Sequence[tuple[str, str]], tables: Iterable[LinkedTable]
) -> str:
    return render(
        "run.html.j2", title=title, words=words, way=way, tables=[t for t in tables if t.rows]
    )


def _way(name: str) -> list[tuple[str, str]]:
    return [("All runs", "/"), (name, "./"), ("Report", "report.html")]


def _summaries(
    subject: AuditedSubject, target: str | None = None
) -> list[BinaryLabelInferenceAttackSummary]:
    return [
        one
        for one in subject.summaries
        if isinstance(one, BinaryLabelInferenceAttackSummary)
        and target in (None, str(one.target_id))
    ]


def _targets(record: AuditRecord) -> LinkedTable:
    """Every target with the attack of the highest AUC."""
    rows = []
    for subject in record.subjects:
        best: dict[str, tuple[float, str]] = {}
        for one in _summaries(subject):
            area = float(np.nan_to_num(one.auc, nan=0.0))
            target = str(one.target_id)
            best[target] = max(best.get(target, (-1.0, "")), (area, str(one.attack)))
        for target, (area, attack) in sorted(best.items(), key=lambda item: -item[1][0]):
            cells = (
                Cell(target, kind="text"),
                Cell(subject.name, kind="text"),
                Cell(subject.role, kind="text"),
                Cell(attack, kind="text"),
                Cell(f"{area:.3f}", sort=sortable(area)),
            )
            rows.append((_link(subject=subject.name, target=target), cells))
    return LinkedTable(
        "Targets",
        "Every target with the attack of the highest AUC, most exposed first in each subject.",
        ("Target", "Subject", "Role", "Attack", "AUC"),
        tuple(rows),
    )


def _records(record: AuditRecord) -> list[LinkedTable]:
    if not any(subject.records for subject in record.audited):
        return []
    tables = []
    for one in exposed_records(Findings(record)):
        shown = one.table.head(MOST_LISTED)
        named = [name for name in ("id", "source", "row") if name in shown]
        rows = tuple(
            (
                _link(subject=one.subject, record=line["record"]),
                (
                    Cell(str(line["rank"]), sort=str(line["rank"]), kind="count"),
                    *(Cell(str(line[name]), kind="text") for name in named),
                    Cell(f"{line['score']:.4g}", sort=sortable(float(line["score"]))),
                    Cell(percent(line["false_positive_rate"], 2)),
                ),
            )
            for line in shown.to_dict("records")
        )
        end, others = ("lowest", "low") if one.read_reversed else ("highest", "high")
        caption = f"The {len(shown):,} {end} scores of {len(one.table):,} records, {one.attack}."
        columns = ("Rank", *named, "Score", f"Others as {others}")
        tables.append(LinkedTable(f"Records of {one.subject}", caption, columns, rows))
    return tables


def _about(
    columns: Mapping[str, Sequence[object]] | None, key: str, value: str
) -> list[LinkedTable]:
    """What the record of an audit holds about one target."""
    names = [str(name) for name in (columns or {}).get(key, ())]
    if columns is None or value not in names:
        return []
    place = names.index(value)
    found = {name: cells[place] for name, cells in columns.items() if name != key}
    return [_pairs({name: cell for name, cell in found.items() if cell is not None})]


def _pairs(about: Mapping[str, object]) -> LinkedTable:
    rows = tuple(
        ("", (Cell(name.replace("_", " "), kind="text"), Cell(_said(value), kind="text")))
        for name, value in about.items()
    )
    return LinkedTable("What is known", "From the record of the audit.", ("What", "Value"), rows)


def _said(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "–" if value is None else str(value)


def _trials(summaries: Sequence[BinaryLabelInferenceAttackSummary]) -> LinkedTable:
    """Every test trial: whether the target was in, and what each attack said."""
    same = [one for one in summaries if np.array_equal(one.labels, summaries[0].labels)]
    rows = tuple(
        (
            "",
            (
                Cell(str(trial), sort=str(trial), kind="count"),
                Cell("in" if summaries[0].labels[trial] else "out", kind="text"),
                *(_guess(one, trial) for one in same),
            ),
        )
        for trial in range(min(len(summaries[0]), MOST_LISTED))
    )
    return LinkedTable(
        "Trials",
        "Whether the target was in, each attack's score, and whether its guess was right.",
        ("Trial", "Secret", *(str(one.attack) for one in same)),
        rows,
    )


def _guess(summary: BinaryLabelInferenceAttackSummary, trial: int) -> Cell:
    right = bool(summary.predictions[trial]) == bool(summary.labels[trial])
    note = "right" if right else "wrong"
    if summary.scores is None or np.isnan(summary.scores[trial]):
        return Cell("–", note)
    return Cell(f"{summary.scores[trial]:.4g}", note, sortable(float(summary.scores[trial])))


def _scores(summaries: Sequence[BinaryLabelInferenceAttackSummary], position: int) -> LinkedTable:
    rows = []
    for one in summaries:
        if one.scores is None or np.isnan(one.scores).any():
            continue
        score, others = one.scores[position], one.scores[~one.labels.astype(bool)]
        rank = int((one.scores > score).sum()) + 1
        as_high = percent(float((others >= score).mean()), 2) if len(others) else "–"
        cells = (
            Cell(str(one.attack), kind="text"),
            Cell(f"{score:.4g}", sort=sortable(float(score))),
            Cell(f"{rank:,} of {len(one):,}", sort=str(rank)),
            Cell(as_high),
            Cell("member" if one.predictions[position] else "no member", kind="text"),
        )
        rows.append(("", cells))
    return LinkedTable(
        "Attacks",
        "What every attack said of this record; “others as high” is the share of non-members.",
        ("Attack", "Score", "Rank", "Others as high", "Guess"),
        tuple(rows),
    )


def _link(**query: object) -> str:
    return f"?{urlencode({name: str(value) for name, value in query.items()})}"
