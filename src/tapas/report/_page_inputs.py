"""What an audit was given: files, sizes, what was left out, and what the attacker knew."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tapas._validate import listing
from tapas.report._page_numbers import counted
from tapas.results import AuditRecord, Findings, drawn_values_words, dropped_columns
from tapas.stats import Dependence

__all__ = ["InputRow", "attacker_words", "input_rows", "inputs_sentences", "left_out_words"]

FEW_RECORDS = 100
_ROLES = {
    "data.sample": "built-in sample",
    "data.holdout": "records that were not used",
    "release.file": "released table",
    "release.reference": "further records that were not used",
}
_KINDS = {
    "category": "categories",
    "ordered": "ordered categories",
    "integer": "whole numbers",
    "real": "numbers",
    "date": "dates",
    "datetime": "times",
    "string": "free text",
}
_MECHANISM = {
    "black-box": "can run the generator on data of their own",
    "no-box": "cannot run the generator",
    "white-box": "sees the fitted generator as well",
}
READ_PARAMETERS = {"TreeMIA", "WhiteBoxPropertyClassifier"}  # the attacks that do


@dataclass(frozen=True)
class InputRow:
    """One table that was read, in words."""

    role: str
    file: str
    sha256: str
    rows: str
    columns: str
    dropped: str
    read: str


def input_rows(record: AuditRecord) -> list[InputRow]:
    """Return every table of the audit."""
    roles = {**_ROLES, "data.table": f"{Findings(record).used} table"}
    named = "named in data.drop" if record.provenance.get("audit_file") else "left out by --drop"
    return [
        InputRow(
            role="what the model said" if "scores" in table else roles.get(key, key),
            file=str(table.get("file", "")),
            sha256=str(table.get("sha256", "–")),
            rows=f"{int(table.get('rows', 0)):,}",
            columns=_columns(table.get("columns", {})),
            dropped="; ".join(
                f"{name}: {named if 'data.drop' in why else why}"
                for name, why in table.get("dropped", {}).items()
            )
            or "nothing",
            read="; ".join(table.get("read", ())) or "plainly",
        )
        for key, table in _inputs(record).items()
    ]


def inputs_sentences(record: AuditRecord) -> list[str]:
    """Return what must stand beside the verdict: what was not audited, and how small it was."""
    said = _scores_read(record)
    dropped = dropped_columns(record)
    if dropped:
        said.append(f"Not audited, because left out: {listing(dropped, show='“{}”'.format)}.")
    rows = _rows(record)
    simulated = _simulated(record)
    if rows is not None and simulated is not None and simulated < rows:
        said.append(
            f"Private datasets of {simulated:,} records were simulated; the table has {rows:,}."
        )
    if rows is not None and rows < FEW_RECORDS:
        said.append(
            f"The table has {rows:,} records only: with so few, each of them weighs more than it "
            "would in a larger one."
        )
    return said


def left_out_words(record: AuditRecord) -> list[str]:
    """Return which records could not be compared, and why."""
    repeated = "" if record.question.get("release") else ", or because they repeat others of theirs"
    counts = dict.fromkeys(one.left_out for one in record.audited if any(one.left_out))
    return [
        f"Left out of the comparison: {counted(members, 'member')} and "
        f"{counted(others, 'non-member')}, because their values occur on both sides, so that "
        "nobody could say to which they belong, or, repeated on the larger side, to make up for "
        f"that{repeated}."
        for members, others in counts
    ]


def _scores_read(record: AuditRecord) -> list[str]:
    """As what scores that were written down were read, and which column is what."""
    read = _inputs(record).get("data.table", {}).get("scores") or {}
    columns = [f"“{name}” {what}" for name, what in read.get("columns", {}).items()]
    if not columns:
        return []
    said = listing(columns, show=str).replace("” ", "” is ", 1)
    return [f"Scores were read as {read['read_as']}: {said}."]


def _seen(model: Mapping[str, Any]) -> str:
    """Which part of its answers a model shows."""
    access, shown = str(model.get("access", "scores")), model.get("shown") or {}
    if access == "labels" or not shown:
        return access
    top, decimals = shown.get("top"), shown.get("decimals")
    words = "scores" if top is None else f"{counted(int(top), 'largest score')} for each record"
    return words if decimals is None else f"{words}, to {counted(int(decimals), 'decimal')}"


def attacker_words(record: AuditRecord) -> list[str]:
    """Return what the attacker knew and could do."""
    question = record.question
    if question.get("release"):
        return [
            "The attacker sees the released table, and records of the population.",
            _known(question["release"]),
            *_guessed((question.get("goal") or {}).get("attribute")),
        ]
    if question.get("predictions"):
        return [
            "The attacker sees what the model said of each record and its true class, and nothing "
            "else of the records.",
            _known(question["predictions"]),
        ]
    if question.get("model"):
        model, asks = question["model"], "The attacker may ask the model and sees its "
        asks += f"{_seen(model)}, and "
        if (question.get("goal") or {}).get("property"):
            number = int((question.get("trials") or {}).get("train", 0))
            return [f"{asks}trains {number:,} such models on other records, with each share."]
        shadows = model.get("shadows")
        if shadows is None:  # as audit files have it by default
            shadows = 16 if model.get("use") or model.get("trainer") else 0
        trained = f"trains {shadows} models of the same kind" if shadows else "trains no models"
        return [f"{asks}{trained} to compare with.", *_unread(question), _known(model)]
    if question.get("generator"):
        said = _about_generator(question.get("knowledge", {}))
        return [*said, *_pairs(record), *drawn_values_words(question)]
    if question.get("imported"):
        return ["The attacker sees releases that somebody else made."]
    return ["This audit was put together in Python: the question, below, says what was known."]


def _unread(question: Mapping[str, Any]) -> list[str]:
    """Where parameters are in sight, and no attack looks at them."""
    names = {str(attack.get("use")) for attack in question.get("attacks") or ()}
    ones_own = any(":" in name for name in names)
    shown = question["model"].get("access") == "parameters"
    if not shown or not names or ones_own or names & READ_PARAMETERS:
        return []
    return [
        "None of these attacks reads the parameters of this kind of model: what is found is what "
        "its scores tell."
    ]


def _guessed(attribute: Mapping[str, Any] | None) -> list[str]:
    if not attribute:
        return []
    return [
        f"What counts is whether “{attribute['column']}” is guessed right from the release and the "
        "other columns. What is guessed right about records that were not used, anybody could "
        "guess: it is the false positive rate, and the advantage is the excess over it."
    ]


def _pairs(record: AuditRecord) -> list[str]:
    """Why trials that are played in pairs count as independent."""
    question = record.question
    asked = (question.get("goal") or {}).get("membership") or {}
    exact = (question.get("knowledge") or {}).get("data") == "exact"
    found = {finding.own.dependence for finding in Findings(record).audited}
    independent = found == {Dependence.INDEPENDENT}
    if not (exact and asked.get("pairs") and independent):
        return []
    return [
        "Trials come in pairs, with the target and without. The private data is otherwise the same "
        "in all of them, so that the two of a pair share nothing that is drawn: they are "
        "independent, and count so."
    ]


def _about_generator(knowledge: Mapping[str, Any]) -> list[str]:
    exact = knowledge.get("data") == "exact"
    held = (
        "all private records but the secret one"
        if exact
        else f"{100 * float(knowledge.get('split', 0.5)):g}% of the table, which the private "
        "datasets are not drawn from"
    )
    if knowledge.get("data") == "identifiers":
        held += ", knows all columns of the private records but the sensitive one"
    said = [
        f"The attacker holds {held}, and {_MECHANISM[knowledge.get('mechanism', 'black-box')]}."
    ]
    if knowledge.get("records") is not None:
        said.append(f"Each private dataset has {int(knowledge['records']):,} records.")
    return said


def _known(part: Mapping[str, Any]) -> str:
    share = 100 * float(part.get("known_share", 0.5))
    return f"The attacker knows of {share:g}% of the records whether they were used."


def _inputs(record: AuditRecord) -> Mapping[str, Mapping[str, Any]]:
    found = record.question.get("inputs")
    return found if isinstance(found, dict) else {}


def _rows(record: AuditRecord) -> int | None:
    for key in ("data.table", "data.sample"):
        if key in _inputs(record):
            return int(_inputs(record)[key].get("rows", 0))
    return None


def _simulated(record: AuditRecord) -> int | None:
    knowledge = record.question.get("knowledge")
    if not record.question.get("generator") or not isinstance(knowledge, dict):
        return None
    return None if knowledge.get("records") is None else int(knowledge["records"])


def _columns(kinds: Mapping[str, int]) -> str:
    total = sum(kinds.values())
    parts = ", ".join(f"{_KINDS.get(kind, kind)}: {number}" for kind, number in kinds.items())
    return f"{total} ({parts})"
