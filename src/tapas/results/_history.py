"""Every verdict of a run folder, in the order they were given: lines are added, never replaced."""

import hashlib
import json
import math
from os import PathLike
from pathlib import Path
from typing import Any

from tapas._files import write_text
from tapas._spec import digest_of
from tapas.errors import StoreError
from tapas.results._audit_record import AuditRecord
from tapas.results._findings import Findings
from tapas.results._gates import decide, gate_title
from tapas.results._given_away import given_away
from tapas.results._limits import Gate

__all__ = ["append_verdict", "loosened_limits", "read_history", "repair_history"]

HISTORY_FILE = "history.jsonl"
LARGEST_HISTORY = 1 << 27  # bytes
# Of lines that earlier versions wrote, without a digest of their own.
_EARLIER_KEYS = {"finished", "fingerprint", "state", "words", "limits", "inputs", "before"}


def append_verdict(folder: str | PathLike[str], record: AuditRecord) -> None:
    """Add the verdict of a record with its limits and inputs; each line has the digest of the last.

    A line that is changed or taken out later breaks the chain.
    """
    path = Path(folder) / HISTORY_FILE
    verdict, findings = decide(record), Findings(record)
    inputs = record.question.get("inputs") or {}
    entry = {
        "finished": record.provenance.get("finished"),
        "fingerprint": record.fingerprint,
        "state": verdict.state,
        "words": verdict.words,
        "leaks": findings.leaks,
        "given_away": [one.name for _, one in given_away(findings)],
        "limits": [
            {
                "name": gate_title(outcome.gate),
                "above": _above(outcome.gate),
                "at_most": outcome.gate.at_most,
                "confidence": outcome.gate.confidence,
                "low": outcome.low if math.isfinite(outcome.low) else None,
                "high": outcome.high if math.isfinite(outcome.high) else None,
                "state": outcome.state,
            }
            for outcome in verdict.outcomes
            if outcome.gate in record.gates
        ],
        "inputs": {key: table.get("sha256") for key, table in inputs.items()},
        "before": _digest(_lines(path)[-1:]),
    }
    sealed = {**entry, "digest": digest_of(json.loads(json.dumps(entry)))}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(sealed, ensure_ascii=False) + "\n")


def read_history(folder: str | PathLike[str]) -> tuple[dict[str, Any], ...]:
    """All verdicts of a run folder, first to last; none where there is no history.

    Raises
    ------
    StoreError
        Where a line was changed or taken out.
    """
    path = Path(folder) / HISTORY_FILE
    lines = _lines(path)
    entries = _whole(lines)
    if len(entries) < len(lines):
        raise StoreError(
            f"{path}: line {len(entries) + 1} was changed or one before it is missing: verdicts "
            f"are added to this file and nothing else is done to it. `tapas repair {path.parent}` "
            f"keeps the lines before it, and the file beside"
        )
    return tuple(entries)


def repair_history(folder: str | PathLike[str]) -> int:
    """Keep the verdicts before the first that was changed; how many lines are put aside."""
    path = Path(folder) / HISTORY_FILE
    lines = _lines(path)
    whole = len(_whole(lines))
    if whole < len(lines):
        path.replace(path.with_name("history-damaged.jsonl"))
        write_text(path, "".join(f"{line}\n" for line in lines[:whole]))
    return len(lines) - whole


def _whole(lines: list[str]) -> list[dict[str, Any]]:
    """Entries up to the first line that was changed, or before which one is missing."""
    entries: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line)
            said, before = entry.pop("digest", None), entry.get("before")
        except (ValueError, AttributeError, TypeError, RecursionError):
            break
        undigested = said is None and set(entry) == _EARLIER_KEYS
        if before != _digest(lines[:number][-1:]) or not (undigested or said == digest_of(entry)):
            break
        entries.append(entry)
    return entries


def loosened_limits(record: AuditRecord, history: tuple[dict[str, Any], ...]) -> list[str]:
    """Limits of a record that were lower, or are gone, since a verdict in its folder.

    Of several limits on the same, the lowest counts, now as then.
    """
    now: dict[tuple[str, float | None], float] = {}
    for gate in record.gates:
        name = gate_title(gate)
        # Lines of earlier versions do not say above which AUC people were counted.
        for key in {(name, None), (name, _above(gate))}:
            now[key] = min(gate.at_most, now.get(key, math.inf))
    strictest: dict[tuple[str, float | None], tuple[float, str, str]] = {}
    for entry in history:
        for limit in entry.get("limits", ()):
            key = limit["name"], limit.get("above")
            known = strictest.get(key)
            if known is None or limit["at_most"] <= known[0]:
                strictest[key] = (limit["at_most"], str(entry.get("finished")), limit["state"])
    said = []
    for (name, above), (limit, when, state) in strictest.items():
        what = name if above is None else f"{name} (AUC above {above:g})"
        found = now.get((name, above))
        if found is None:
            said.append(f"The limit of {limit:g} on {what}, set on {when} ({state}), is gone.")
        elif found > limit:
            said.append(
                f"The limit on {what} is {found:g} now and was {limit:g} on {when} ({state})."
            )
    return said


def _above(gate: Gate) -> float | None:
    """Above which AUC people are counted; of other limits their name says all."""
    return gate.above if gate.metric == "exposed_people" else None


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    if path.stat().st_size > LARGEST_HISTORY:
        raise StoreError(f"{path} is too large for a history: remove it")
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line for line in text.split("\n") if line.strip()]


def _digest(last: list[str]) -> str:
    return hashlib.sha256(last[0].encode()).hexdigest() if last else ""
