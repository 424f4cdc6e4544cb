"""The verdict for machines: JSON and JUnit, from the same decision as everything else."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tapas.results import (
    MEASURES,
    MOST_RECORDS,
    AuditedSubject,
    AuditRecord,
    ClaimOutcome,
    Estimate,
    Finding,
    Findings,
    RecordComparison,
    Verdict,
    as_plain_list,
    constant_scores,
    exposed_people,
    exposed_records,
    gates_words,
    given_away,
    given_away_words,
    holds_together,
    left_out_columns,
    missing_scores,
    risk_histogram,
    shares_told,
    unfit_splits,
    unseen_inputs,
    with_ratio,
)

FORMAT, VERSION = "tapas-verdict", 1
_CLAIM_CASES = {"contradicted": "failure", "open": None, "unseen": "skipped", "untested": "skipped"}
# Control characters that XML cannot hold, however escaped.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def verdict_values(record: AuditRecord, verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain values; null stands for a number that is infinite or not defined."""
    from tapas.report import AuditPage

    findings, sentences = Findings(record), AuditPage(record).words
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": record.title,
        "fingerprint": record.fingerprint,
        "state": verdict.state,
        "exit_code": verdict.exit_code,
        "words": sentences[0],
        "leaks": findings.leaks,
        "sentences": sentences,
        "stopped": record.stopped,
        "claim": None if verdict.claim is None else _claim(verdict.claim),
        "gates": [
            {
                "metric": outcome.gate.metric,
                "at_most": outcome.gate.at_most,
                "fpr": outcome.gate.fpr,
                "confidence": outcome.gate.confidence,
                "above": outcome.gate.above,
                "state": outcome.state,
                "low": _number(outcome.low),
                "high": _number(outcome.high),
                "words": outcome.words,
            }
            for outcome in verdict.outcomes
        ],
        "gates_words": gates_words(findings, verdict),
        "inputs": record.question.get("inputs"),
        "left_out": {
            one.name: dict(zip(("members", "non_members"), one.left_out, strict=True))
            for one in record.audited
        },
        "results": [_facts(finding) for finding in findings.all],
        "people": _people(record),
        "records": _records(record),
        "exposure_map": {
            one.name: _rows(one.exposure.ranked.head(MOST_RECORDS).to_dict("list"))
            for one in record.audited
            if one.exposure is not None
        },
        "exposure_map_told": findings.shown_on_maps,
        "exposure_map_covers": {
            one.name: one.exposure.covers for one in record.audited if one.exposure is not None
        },
        "exposure_map_missing": {one.name: one.unmapped for one in record.audited if one.unmapped},
        "copies": [
            {
                "subject": one.name,
                **one.copies.to_dict(),
                "beyond_chance": one in findings.copied,
            }
            for one in record.audited
            if one.copies
        ],
        "left_out_columns": [
            {"subject": name, **one.to_dict(), "beyond_chance": (name, one) in given_away(findings)}
            for name, one in left_out_columns(findings)
        ],
        "leaves": [
            {"subject": one.name, **one.leaves.to_dict()} for one in record.audited if one.leaves
        ],
        "shares": [told.to_dict() for told in shares_told(record.audited)],
        "performance": {one.name: _performance(one) for one in record.audited},
        "holds_together": holds_together(findings, verdict),
        "cautions": [
            *constant_scores(record),
            *missing_scores(record),
            *unfit_splits(record),
            *unseen_inputs(record),
            *given_away_words(findings),
        ],
        "crashes": [
            {"subject": subject.name, "attack": crash.attack, "message": crash.message}
            for subject in record.subjects
            for crash in subject.crashes
        ],
        "failed_trials": {subject.name: len(subject.failures) for subject in record.subjects},
    }


def _people(record: AuditRecord) -> list[dict[str, Any]]:
    """The most exposed people of generators; `people.csv` has all of them."""
    return [
        {
            "subject": one.subject,
            "attack": one.attack,
            "mean_auc": _estimate(one.mean),
            "people": len(one.table),
            "exposed_beyond_doubt": one.num_exposed,
            "at_least": [
                {"people": count, f"{what}_above": level}
                | ({"conditions": one.conditions} if what == "epsilon" else {})
                for count, what, level in one.statements
            ],
            "most_exposed": _rows(one.table.head(MOST_RECORDS).to_dict("list")),
            "subgroups": _rows(one.parts.to_dict("list")),
            "rare_columns": [column.to_dict() for column in one.rare_columns],
        }
        for one in exposed_people(record)
    ]


def _records(record: AuditRecord) -> list[dict[str, Any]]:
    """The most exposed records of models and files; `exposure.csv` has all of them."""
    return [
        {
            "subject": one.subject,
            "attack": one.attack,
            "read_reversed": one.read_reversed,
            "most_exposed": _rows(one.table.head(MOST_RECORDS).to_dict("list")),
            "most_exposed_of_class": _rows(one.per_class.to_dict("list")),
            "privacy_risk": risk_histogram(one.table["privacy_risk"], one.table["member"]),
            "slices": _rows(one.slices.to_dict("list")),
        }
        for one in exposed_records(Findings(record))
    ]


def _performance(subject: AuditedSubject) -> list[dict[str, Any]]:
    if not subject.performance:
        return []
    return _rows(with_ratio(subject.performance).replace(math.inf, math.nan).to_dict("list"))


def _rows(columns: Mapping[str, Sequence[object]] | None) -> list[dict[str, Any]]:
    """Columns as a list of rows; null where a value is missing."""
    cells = {name: as_plain_list(values) for name, values in (columns or {}).items()}
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def make_way(*paths: Path | None) -> None:
    """Remove verdicts of an earlier run, lest they be taken for that of one which fails.

    A place that could not be written in the end is refused now.
    """
    for path in paths:
        if path is not None and path.is_file():
            path.unlink()
    for path in paths:
        if path is not None:
            refuse_unwritable(path)


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that cannot be written, before there is work that would be in vain."""
    was_there = path.exists()
    if was_there and not path.is_file() and not path.is_dir():
        return  # a device, or a pipe that somebody may not read yet
    path.open("ab").close()
    if not was_there:
        path.resolve().unlink()


def write_json(path: Path, record: AuditRecord, verdict: Verdict) -> None:
    """Write the verdict as JSON."""
    text = json.dumps(verdict_values(record, verdict), indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_comparison(path: Path, found: RecordComparison, words: Sequence[str]) -> None:
    """Write what changed between records, and what it cost, as JSON."""
    values = {"format": "tapas-comparison", "version": VERSION, "words": [*words]}
    text = json.dumps(_finite(values | asdict(found)), indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_junit(path: Path, record: AuditRecord, verdict: Verdict) -> None:
    """Write the verdict as JUnit XML: a case per gate and for the claim, an error per crash.

    What the page says first, and of private values, is the output of the whole.
    """
    from tapas.report import AuditPage

    suite = ElementTree.Element("testsuite", name=_clean(record.title))
    cases = [
        _case(
            suite,
            f"{outcome.gate.metric} at most {outcome.gate.at_most:g}",
            {"pass": None, "fail": "failure"}.get(outcome.state, "error"),
            outcome.words,
        )
        for outcome in verdict.outcomes
    ]
    if verdict.claim is not None and verdict.claim.claim is not None:
        name = f"claimed epsilon {verdict.claim.claim.epsilon:g}"
        kind = _CLAIM_CASES[verdict.claim.state]
        cases.append(_case(suite, name, kind, verdict.claim.words, "claim"))
    for subject in record.audited:
        for crash in subject.crashes:
            name = f"{crash.attack} on {crash.target} ({subject.name})"
            cases.append(_case(suite, name, "error", crash.message))
    said = "\n".join([AuditPage(record).words[0], *given_away_words(Findings(record))])
    unsaid = verdict.exit_code and not {"failure", "error"} & set(cases)
    if unsaid:
        cases.append(_case(suite, "audit", "error", verdict.words))
    if cases:
        ElementTree.SubElement(suite, "system-out").text = _clean(said)
    else:
        cases.append(_case(suite, "audit", None, said))
    suite.set("tests", str(len(cases)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(name, str(cases.count(kind)))
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode", xml_declaration=False)
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n', encoding="utf-8")


def _case(
    suite: ElementTree.Element, name: str, kind: str | None, words: str, what: str = "gate"
) -> str | None:
    case = ElementTree.SubElement(suite, "testcase", classname="tapas", name=_clean(name))
    if kind is None:
        ElementTree.SubElement(case, "system-out").text = _clean(words)
    elif kind == "skipped":
        ElementTree.SubElement(case, kind, message=_clean(words))
    else:
        what = "inconclusive" if kind == "error" else what
        ElementTree.SubElement(case, kind, type=what, message=_clean(words))
    return kind


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _facts(finding: Finding) -> dict[str, Any]:
    facts, bound = finding.own, finding.shared.epsilon
    return {
        "subject": facts.subject,
        "role": facts.role,
        "attack": facts.attack,
        "target": facts.target,
        "trials": facts.trials,
        "dependence": str(facts.dependence),
        **{m.fact: _estimate(facts.measured(m.fact)) for m in MEASURES if m.fact},
        "epsilon_over_all": None if bound is None else _number(float(bound)),
        "epsilon_conditions": None if bound is None else bound.conditions,
        "split_is_unfit": facts.split_is_unfit,
        "highest_scores": None if facts.surest is None else facts.surest._asdict(),
    }


def _claim(outcome: ClaimOutcome) -> dict[str, Any]:
    claim, bound = outcome.claim, outcome.bound
    return {
        "epsilon": None if claim is None else _number(claim.epsilon),
        "delta": None if claim is None else claim.delta,
        "family": None if claim is None else claim.family,
        "state": outcome.state,
        "epsilon_at_least": None if bound is None else _number(float(bound)),
        "confidence": None if bound is None else bound.confidence,
        "power": outcome.power,
        "words": outcome.words,
    }


def _estimate(estimate: Estimate | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    return {
        "value": _number(estimate.value),
        "low": _number(estimate.low),
        "high": _number(estimate.high),
    }


def _finite(value: object) -> object:
    """The same without numbers that are infinite or not defined."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return _number(value) if isinstance(value, float) else value


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
