"""Tables of a page as plain rows: texts to show, values to sort by."""

import json
from dataclasses import dataclass

from tapas.report._page_cells import (
    MANY_VALUES,
    Cell,
    accuracy_cell,
    area_cell,
    epsilon_cell,
    estimate_cell,
    sortable,
    target_text,
)
from tapas.report._page_numbers import between, duration, percent
from tapas.report._page_reading import Reading, Result, leak, strongest
from tapas.report._page_words import strength_words
from tapas.results import AuditRecord

__all__ = [
    "control_rows",
    "control_words",
    "exposed_rows",
    "gate_rows",
    "matrix",
    "provenance_rows",
    "question_text",
    "result_table",
]

_MOST_EXPOSED = 10
_MOST_COLUMNS = 8
_STATES = {"pass": "good", "fail": "bad", "inconclusive": "open"}
_METRICS = {
    "accuracy": "Accuracy",
    "advantage": "Advantage",
    "auc": "AUC",
    "epsilon": "Epsilon",
}


@dataclass(frozen=True)
class Row:
    """Cells of a result with the numbers of its subject, attack and target for the filters."""

    cells: tuple[Cell, ...]
    role: str
    keys: tuple[int, int, int]


@dataclass(frozen=True)
class ResultTable:
    """All results: columns with their explanations, rows, and what can be filtered by."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    filters: tuple[tuple[str, tuple[str, ...]], ...]


def result_table(reading: Reading) -> ResultTable:
    """Return every result, strongest first within each subject."""
    results = sorted(
        reading.results, key=lambda r: (r.own.role != "audited", -leak(r.own)[0], r.own.subject)
    )
    named = {
        "Subject": [r.own.subject for r in results],
        "Attack": [r.own.attack for r in results],
        "Target": [target_text(r) for r in results],
    }
    options = {name: tuple(dict.fromkeys(values)) for name, values in named.items()}
    rows = tuple(
        Row(
            (
                *(Cell(values[number], kind="text") for values in named.values()),
                *_numbers(result, reading.binary),
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
    measures = [
        ("Trials", "Number of test trials"),
        ("Accuracy", "Share of trials guessed right; higher is worse for privacy"),
    ]
    if reading.binary:
        measures += [
            ("AUC", "Area under the ROC curve; 0.5 is guessing, 1 a complete leak"),
            ("Advantage", "True minus false positive rate; 0 is guessing, 1 a complete leak"),
            ("TPR at 1% FPR", "Share of secrets found with 1% false alarms; 1% is guessing"),
            ("Certified ε", "Epsilon is at least this large; higher is worse for privacy"),
        ]
    names = tuple((name, "") for name in named)
    return ResultTable((*names, *measures), rows, tuple(options.items()))


def exposed_rows(reading: Reading) -> list[tuple[Cell, ...]]:
    """Return the most exposed targets: subject, target, attack, leak, accuracy, AUC."""
    return [
        (
            Cell(result.own.subject, kind="text"),
            Cell(target_text(result), kind="text"),
            Cell(result.own.attack, kind="text"),
            Cell(strength_words(result.shared), kind="text", sort=sortable(leak(result.shared)[0])),
            accuracy_cell(result, result.shared.accuracy),
            *([area_cell(result.shared.auc, MANY_VALUES)] if reading.binary else []),
        )
        for result in reading.exposed[:_MOST_EXPOSED]
    ]


def control_rows(reading: Reading) -> list[tuple[str, tuple[Cell, ...]]]:
    """Return the strongest result of each subject with its role, controls last."""
    found = strongest(reading.results, lambda r: r.own.subject)
    found = sorted(found, key=lambda r: (r.own.role != "audited", -leak(r.shared)[0]))
    return [
        (
            result.own.role,
            (
                Cell(result.own.subject, kind="text"),
                Cell("control" if result.own.role != "audited" else "audited", kind="text"),
                Cell(f"{result.own.attack}", note=_target_note(result), kind="text"),
                accuracy_cell(result, result.shared.accuracy),
                *(
                    [area_cell(result.shared.auc, MANY_VALUES), epsilon_cell(result, shared=True)]
                    if reading.binary
                    else []
                ),
            ),
        )
        for result in found
    ]


def control_words(reading: Reading) -> str:
    """Return what the controls say about the audited results."""
    if not reading.controls:
        return (
            "No controls were run. A control known to leak shows whether these attacks can find a "
            "leak at all, and one that cannot leak shows what they report where there is none."
        )
    top = max(leak(result.shared)[0] for result in reading.controls)
    if top <= 0:
        return (
            "No attack succeeded against any control. If one of them is known to leak, these "
            "attacks or this number of trials cannot show a leak, and a low result means nothing."
        )
    return (
        "Controls show where the scale begins and ends: a control known to leak should stand far "
        "above guessing, one that cannot leak should not. Read the audited results between them."
    )


def gate_rows(reading: Reading) -> list[dict[str, str]]:
    """Return each gate: what is limited, its limit, what was found, and its state."""
    rows = []
    for outcome in reading.verdict.outcomes:
        gate = outcome.gate
        name = _METRICS.get(gate.metric, f"TPR at FPR {gate.fpr:g}")
        rows.append(
            {
                "name": name,
                "limit": f"at most {gate.at_most:g}",
                "words": outcome.words,
                "confidence": percent(gate.confidence, 0 if gate.confidence * 100 % 1 == 0 else 1),
                "state": outcome.state,
                "tone": _STATES[outcome.state],
            }
        )
    return rows


def matrix(
    reading: Reading, lines: str
) -> tuple[tuple[str, ...], list[tuple[str, list[Cell | None]]]] | None:
    """Return the strongest result for each subject (or target) and attack; None if one line."""
    results = reading.results if lines == "subject" else reading.audited
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
    for subject in record.subjects:
        played = ", ".join(f"{count:,} {phase}" for phase, count in subject.trials.items())
        rows.append((f"Trials of {subject.name}", played or "none"))
    for name, value in record.provenance.items():
        if name == "seconds" and isinstance(value, (int, float)):
            rows.append(("Time taken", duration(float(value))))
        else:
            rows.append(
                (
                    str(name).capitalize() if name in ("finished", "platform") else str(name),
                    value if isinstance(value, str) else json.dumps(value, default=str),
                )
            )
    return rows


def question_text(record: AuditRecord) -> str:
    """Return the question as indented text."""
    return json.dumps(record.question, indent=2, ensure_ascii=False, default=str)


def _numbers(result: Result, binary: bool) -> tuple[Cell, ...]:
    facts = result.own
    cells = [
        Cell(f"{facts.trials:,}", sort=str(facts.trials), kind="count"),
        accuracy_cell(result, facts.accuracy),
    ]
    if not binary:
        return tuple(cells)
    why = "too few trials" if result.binary else MANY_VALUES
    return (
        *cells,
        area_cell(facts.auc, why),
        estimate_cell(facts.advantage, why),
        estimate_cell(facts.tpr_at_low_fpr, why, share=True),
        epsilon_cell(result),
    )


def _matrix_cell(result: Result) -> Cell:
    facts = result.own
    value, interval = (
        between(facts.auc) if facts.auc is not None else between(facts.accuracy, share=True)
    )
    low, _ = leak(result.shared)
    shade = next(str(n) for n, top in enumerate((0, 0.2, 0.5, 0.8, 2)) if low <= top)
    return Cell(value, interval, title=f"target {target_text(result)}", kind=f"shade{shade}")


def _target_note(result: Result) -> str:
    return f"target {target_text(result)}" if result.target else "all records"
