"""Tables of a page as plain rows: texts to show, values to sort by."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tapas.report._page_cells import Cell, epsilon_cell, measure_cell, sortable, target_text
from tapas.report._page_numbers import between, duration, percent
from tapas.report._page_words import strength_words
from tapas.results import (
    MEASURES,
    AuditRecord,
    Finding,
    Findings,
    Measure,
    SummaryFacts,
    Verdict,
    gate_title,
    leak,
    strongest,
)

__all__ = [
    "control_rows",
    "exposed_rows",
    "first_columns",
    "gate_rows",
    "guide_entries",
    "matrix",
    "provenance_rows",
    "question_text",
    "result_cells",
    "result_table",
]

_MOST_EXPOSED = 10
_MOST_COLUMNS = 8
_STATES = {"pass": "good", "fail": "bad", "inconclusive": "open"}
_FACTS = tuple(measure for measure in MEASURES if measure.fact is not None)
_FIRST = tuple(
    measure for measure in _FACTS if measure.name in ("accuracy", "accuracy_gain", "auc")
)


@dataclass(frozen=True)
class Row:
    """Cells of a result with the numbers of its subject, attack and target for the filters."""

    cells: tuple[Cell, ...]
    role: str
    keys: tuple[int, int, int]


@dataclass(frozen=True)
class ResultTable:
    """All results: columns with their explanations, rows, and what can be filtered by.

    What is the same in every row is `about` the whole table, and no column.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    filters: tuple[tuple[str, tuple[str, ...]], ...]
    about: tuple[str, ...]
    num_names: int


def result_table(findings: Findings) -> ResultTable:
    """Return every result, strongest first within each subject."""
    results = sorted(
        findings.all, key=lambda r: (r.own.role != "audited", -leak(r.own)[0], r.own.subject)
    )
    named = {
        "Subject": [r.own.subject for r in results],
        "Attack": [r.own.attack for r in results],
        "Target": [target_text(r) for r in results],
    }
    options = {name: tuple(dict.fromkeys(values)) for name, values in named.items()}
    shown = defined(_FACTS, findings)
    telling = [name for name in named if name == "Attack" or len(options[name]) > 1]
    certified = findings.is_binary and any(r.shared.epsilon is not None for r in results)
    rows = tuple(
        Row(
            (
                *(Cell(named[name][number], kind="text") for name in telling),
                Cell(f"{result.own.trials:,}", sort=str(result.own.trials), kind="count"),
                *_numbers(result, result.own, shown, certified),
            ),
            result.own.role,
            (
                options["Subject"].index(named["Subject"][number]),
                options["Attack"].index(named["Attack"][number]),
                options["Target"].index(named["Target"][number]),
            ),
        )
        for number, result in enumerate(results)
    )
    columns = [*((name, "") for name in telling), ("Trials", "Number of test trials")]
    columns += [(measure.title, measure.note) for measure in shown]
    if certified:
        note = "Epsilon is at least this large, over all results together; higher is worse"
        columns.append(("Certified ε", note))
    about = tuple(options[name][0] for name in named if results and name not in telling)
    return ResultTable(tuple(columns), rows, tuple(options.items()), about, len(telling))


def result_cells(
    findings: Findings, subject: str, target: str
) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Return the columns and rows of every attack on one target."""
    shown = defined(_FACTS, findings)
    rows = [
        (Cell(result.own.attack, kind="text"), *_numbers(result, result.own, shown, True))
        for result in findings.all
        if (result.own.subject, result.own.target) == (subject, target)
    ]
    return ("Attack", *(measure.title for measure in shown), "Certified ε"), rows


def defined(measures: tuple[Measure, ...], findings: Findings) -> list[Measure]:
    """Return the measures that some result has."""
    found = [m for m in measures if any(m.is_defined_for(f.summary) for f in findings.all)]
    return [_entitled(measure, findings) for measure in found]


def _entitled(measure: Measure, findings: Findings) -> Measure:
    """The same, by the word for what is known without the model or release."""
    known = {one.own.known for one in findings.all if measure.is_defined_for(one.summary)}
    if measure.name != "inputs_auc" or len(known) > 1:
        return measure
    return replace(measure, title=f"AUC of {known.pop()} alone")


def guide_entries(findings: Findings) -> list[tuple[str, str]]:
    """Return the measures of the table of results with what they say."""
    return [(measure.title, measure.note) for measure in defined(_FACTS, findings)]


def first_columns(findings: Findings) -> list[str]:
    """Return the names of the measures that short tables show."""
    return [measure.title for measure in defined(_FIRST, findings)]


def exposed_rows(findings: Findings) -> list[tuple[Cell, ...]]:
    """Return the most exposed targets: subject, target, attack, leak and the first measures."""
    shown = defined(_FIRST, findings)
    return [
        (
            Cell(result.own.subject, kind="text"),
            Cell(target_text(result), kind="text"),
            Cell(result.own.attack, kind="text"),
            Cell(strength_words(result.shared), kind="text", sort=sortable(leak(result.shared)[0])),
            *_numbers(result, result.shared, shown),
        )
        for result in findings.exposed[:_MOST_EXPOSED]
    ]


def control_rows(findings: Findings) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return the strongest result of each subject with its role, controls last."""
    found = strongest(findings.all, lambda r: r.own.subject)
    found = sorted(found, key=lambda r: (r.own.role != "audited", -leak(r.shared)[0]))
    shown = defined(_FIRST, findings)
    return [
        (
            result.own.role,
            (
                Cell(result.own.subject, kind="text"),
                Cell("control" if result.own.role != "audited" else "audited", kind="text"),
                Cell(f"{result.own.attack}", note=_target_note(result), kind="text"),
                *_numbers(result, result.shared, shown, findings.is_binary),
            ),
        )
        for result in found
    ]


def gate_rows(verdict: Verdict) -> list[dict[str, str]]:
    """Return each gate: what is limited, its limit, what was found, and its state."""
    return [
        {
            "name": gate_title(outcome.gate),
            "limit": f"at most {outcome.gate.at_most:g}",
            "words": outcome.words,
            "confidence": _level(outcome.gate.confidence),
            "state": outcome.state,
            "tone": _STATES[outcome.state],
        }
        for outcome in verdict.outcomes
    ]


def _level(confidence: float) -> str:
    return percent(confidence, 0 if confidence * 100 % 1 == 0 else 1)


def matrix(
    findings: Findings, lines: str
) -> tuple[tuple[str, ...], list[tuple[str, list[Cell | None]]]] | None:
    """Return the strongest result for each subject (or target) and attack; None if one line."""
    results = findings.all if lines == "subject" else findings.audited
    name = (lambda r: r.own.subject) if lines == "subject" else target_text
    attacks = tuple(dict.fromkeys(r.own.attack for r in results))[:_MOST_COLUMNS]
    names = tuple(dict.fromkeys(name(r) for r in results))
    if len(names) < 2:
        return None
    found = {
        (name(r), r.own.attack): r for r in strongest(results, lambda r: (name(r), r.own.attack))
    }
    table = []
    for line in names:
        cells = [found.get((line, attack)) for attack in attacks]
        table.append((line, [None if c is None else _matrix_cell(c) for c in cells]))
    return attacks, table


def provenance_rows(record: AuditRecord) -> list[tuple[str, str]]:
    """Return how the record was made, as names and texts."""
    rows = [("Fingerprint of the question", record.fingerprint), ("Seed", str(record.seed))]
    if not record.has_digest:
        rows.append(("Digest of the record", "none: whether it was changed cannot be told"))
    for subject in record.subjects:
        played = ", ".join(f"{count:,} {phase}" for phase, count in subject.trials.items())
        rows.append((f"Trials of {subject.name}", played or "none"))
    for name, value in record.provenance.items():
        if name == "seconds" and isinstance(value, (int, float)):
            rows.append(("Time taken", duration(float(value))))
        elif name == "evidence" and isinstance(value, list):
            rows += [row for one in value for row in _evidence_rows(one, record.provenance)]
        else:
            rows.append(
                (
                    str(name).capitalize() if name in ("finished", "platform") else str(name),
                    value if isinstance(value, str) else json.dumps(value, default=str),
                )
            )
    return rows


def _evidence_rows(
    evidence: Mapping[str, Any], versions: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Digests of the trials of a subject; versions where they are not those of the record."""
    digests = (f"{phase} {digest[:16]}" for phase, digest in evidence["digests"].items())
    yield f"Digests of the trials of {evidence['subject']}", ", ".join(digests)
    made = evidence["made_with"]
    if any(versions.get(name) != v for one in made for name, v in one.items() if name != "trials"):
        words = [", ".join(f"{name} {value}" for name, value in one.items()) for one in made]
        yield f"Trials of {evidence['subject']} were made with", "; ".join(words)


def question_text(record: AuditRecord) -> str:
    """Return the question as indented text."""
    return json.dumps(record.question, indent=2, ensure_ascii=False, default=str)


def _numbers(
    result: Finding, facts: SummaryFacts, measures: list[Measure], with_epsilon: bool = False
) -> tuple[Cell, ...]:
    cells = [measure_cell(measure, result, facts) for measure in measures]
    if with_epsilon:
        cells.append(epsilon_cell(result.shared.epsilon, result.shared.no_epsilon))
    return tuple(cells)


def _matrix_cell(result: Finding) -> Cell:
    facts = result.own
    value, interval = (
        between(facts.auc) if facts.auc is not None else between(facts.accuracy, share=True)
    )
    low, _ = leak(result.shared)
    shade = next(str(n) for n, top in enumerate((0, 0.2, 0.5, 0.8, 2)) if low <= top)
    return Cell(value, interval, title=f"target {target_text(result)}", kind=f"shade{shade}")


def _target_note(result: Finding) -> str:
    return f"target {target_text(result)}" if result.target else "all records"
